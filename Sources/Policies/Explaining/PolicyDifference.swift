public import Domain

/// What a new policy changes, in effective values: what `rouse policy diff` prints. Comments, order of kinds and
/// spelling count for nothing; a rule is known by its event type.
public struct PolicyDifference: Equatable, Sendable {
  public struct Change: Equatable, Sendable {
    public var path: String
    /// Nil: not there before.
    public var old: FieldValue?
    /// Nil: not there any more.
    public var new: FieldValue?
  }

  /// In the order of the old policy, what is new at the end.
  public let changes: [Change]

  public init(from old: Policy, to new: Policy) {
    let before = PolicyValues(old, rules: .byEventType).items
    let after = PolicyValues(new, rules: .byEventType).items
    let beforeByPath = Dictionary(before.map { ($0.path, $0.value) }) { first, _ in first }
    let afterByPath = Dictionary(after.map { ($0.path, $0.value) }) { first, _ in first }
    changes =
      before.filter { afterByPath[$0.path] != $0.value }
      .map { Change(path: $0.path, old: $0.value, new: afterByPath[$0.path]) }
      + after.filter { beforeByPath[$0.path] == nil }.map { Change(path: $0.path, old: nil, new: $0.value) }
  }

  public var isEmpty: Bool { changes.isEmpty }

  /// One line per change: `path: old → new`, `path: + new`, `path: - old`.
  public var text: String {
    changes.map { change in
      switch (change.old, change.new) {
      case (let old?, let new?): "\(change.path): \(PolicyText.of(old)) → \(PolicyText.of(new))\n"
      case (nil, let new?): "\(change.path): + \(PolicyText.of(new))\n"
      case (let old?, nil): "\(change.path): - \(PolicyText.of(old))\n"
      case (nil, nil): ""
      }
    }.joined()
  }

  /// One JSON object per line: `path`, `old`, `new` (null where there is none).
  public var jsonLines: String {
    changes.map { change in
      let old = PolicyText.json(change.old ?? .null)
      let new = PolicyText.json(change.new ?? .null)
      return "{\"path\":\(PolicyText.json(change.path)),\"old\":\(old),\"new\":\(new)}\n"
    }.joined()
  }
}
