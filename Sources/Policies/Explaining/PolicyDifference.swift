public import Domain
import JSON

/// The changes from one policy to another, in the values that are in force. `rouse policy diff` prints them. Comments, the
/// order of kinds and the spelling of values do not count; a rule is identified by its event type.
public struct PolicyDifference: Equatable, Sendable {
  /// One value that differs.
  public struct Change: Equatable, Sendable {
    /// The path of the value. It names rules by their event type.
    public var path: String
    /// The value before; nil if there was none.
    public var old: FieldValue?
    /// The value now; nil if it was removed.
    public var new: FieldValue?
  }

  /// The changes in the order of the old policy, with new values at the end.
  public let changes: [Change]

  /// Compares two policies.
  public init(from old: Policy, to new: Policy) {
    let before = PolicyValues(old, rules: .byEventType).items
    let after = PolicyValues(new, rules: .byEventType).items
    let beforeByPath = Dictionary(before.map { (Identifier($0.path), $0.value) }) { first, _ in first }
    let afterByPath = Dictionary(after.map { (Identifier($0.path), $0.value) }) { first, _ in first }
    changes =
      before.filter { afterByPath[Identifier($0.path)] != $0.value }
      .map { Change(path: $0.path, old: $0.value, new: afterByPath[Identifier($0.path)]) }
      + after.filter { beforeByPath[Identifier($0.path)] == nil }.map { Change(path: $0.path, old: nil, new: $0.value) }
  }

  /// Whether nothing differs.
  public var isEmpty: Bool { changes.isEmpty }

  /// The changes as text, one line each: `path: old → new`, `path: + new`, `path: - old`.
  public var text: PrintableText {
    changes.map { change -> PrintableText in
      switch (change.old, change.new) {
      case (let old?, let new?): "\(change.path): \(PolicyText.of(old)) → \(PolicyText.of(new))\n"
      case (nil, let new?): "\(change.path): + \(PolicyText.of(new))\n"
      case (let old?, nil): "\(change.path): - \(PolicyText.of(old))\n"
      case (nil, nil): ""
      }
    }.joined()
  }

  /// The changes as JSON, one object for each line: `path`, `old` and `new`, null if there is none.
  public var jsonLines: String {
    changes.map { change in
      var json = JSONWriter()
      json.beginObject()
      json.member("path", change.path)
      json.key("old")
      json.value(change.old ?? .null)
      json.key("new")
      json.value(change.new ?? .null)
      json.endObject()
      return json.text + "\n"
    }.joined()
  }
}
