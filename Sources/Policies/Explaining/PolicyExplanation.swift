public import Domain

/// The effective policy, value by value, each with where it comes from: what `rouse policy explain` prints.
public struct PolicyExplanation: Sendable {
  /// Where a value comes from.
  public enum Origin: Equatable, Sendable {
    /// Written in the document, at this line.
    case document(file: String, line: Int)
    /// From the budget profile.
    case profile(name: String, provenance: BudgetProfile.Provenance)
    /// Not given: what this version does then.
    case builtIn
    /// Follows from another value of the document, at this line.
    case follows(from: String, file: String, line: Int)
  }

  public struct Line: Equatable, Sendable {
    /// In the spelling of the document: `kinds.FlightStatus.budget.perDay`.
    public var path: String
    public var value: FieldValue
    public var origin: Origin
  }

  /// Top level first, then kind by kind, by name.
  public let lines: [Line]

  /// Explains a whole document, or one kind of it (no lines where it has no such kind).
  public init(_ document: PolicyDocument, kind: String? = nil) {
    let prefix = kind.map { StrictReader.path("kinds", $0) + "." } ?? ""
    lines = PolicyValues(document.policy, rules: .byIndex).items.filter { $0.path.utf8.starts(with: prefix.utf8) }.map {
      Line(path: $0.path, value: $0.value, origin: Self.origin(of: $0.path, in: document))
    }
  }

  private static func origin(of path: String, in document: PolicyDocument) -> Origin {
    func line(_ path: String) -> Int? { document.positions[path]?.line }
    if let line = line(path) { return .document(file: document.file, line: line) }
    if path.hasPrefix("limits.") { return limitOrigin(path, document.profile) }
    guard path.hasPrefix("kinds") else { return .builtIn }
    if path.hasSuffix(".budget.minInterval") {
      let flag = String(path.dropLast("minInterval".count)) + "timeSensitive"
      let isProfile = document.policy.kinds.contains {
        path == StrictReader.path("kinds", $0.name) + ".budget.minInterval"
          && $0.budget.minInterval == document.policy.profile.instanceReloads.minInterval
      }
      if let line = line(flag), !isProfile { return .follows(from: "timeSensitive", file: document.file, line: line) }
      return inherited("limits.instanceReloads.minInterval", in: document)
    }
    if path.hasSuffix(".budget.perDay") { return inherited("limits.instanceReloads.limit", in: document) }
    return .builtIn
  }

  /// A limit of all kinds: from the document's `limits`, or else from the profile.
  private static func inherited(_ path: String, in document: PolicyDocument) -> Origin {
    if let line = document.positions[path]?.line { return .follows(from: path, file: document.file, line: line) }
    return limitOrigin(path, document.profile)
  }

  private static func limitOrigin(_ path: String, _ profile: BudgetProfile) -> Origin {
    let rate = BudgetProfile.rates.first { path.hasPrefix("limits.\($0.name).") }?.path
    let factor = path == "limits.frequentPushesFactor" ? profile.activityPushes.provenance : nil
    let provenance = factor ?? rate.map { profile[keyPath: $0].provenance } ?? profile.instanceReloads.provenance
    return .profile(name: profile.name, provenance: provenance)
  }

  /// One line per value: `path = value   # origin`.
  public var text: String {
    let shown = lines.map { (left: "\($0.path) = \(PolicyText.of($0.value))", origin: Self.words($0.origin)) }
    // Long values would push every origin out of sight.
    let width = shown.map { $0.left.count }.filter { $0 <= 80 }.max() ?? 0
    return shown.map { line in
      line.left + String(repeating: " ", count: max(0, width - line.left.count)) + "  # \(line.origin)\n"
    }.joined()
  }

  /// One JSON object per line: `path`, `value`, `origin` and what the origin has.
  public var jsonLines: String {
    lines.map { line in
      "{\"path\":\(PolicyText.json(line.path)),\"value\":\(PolicyText.json(line.value)),\(Self.json(line.origin))}\n"
    }.joined()
  }

  private static func words(_ origin: Origin) -> String {
    switch origin {
    case .document(let file, let line): "\(file):\(line)"
    case .profile(let name, let provenance):
      "profile \(name), confidence \(provenance.confidence): \(provenance.source)"
    case .builtIn: "built in"
    case .follows(let from, let file, let line): "from \(from), \(file):\(line)"
    }
  }

  private static func json(_ origin: Origin) -> String {
    switch origin {
    case .document(let file, let line): "\"origin\":\"document\",\"file\":\(PolicyText.json(file)),\"line\":\(line)"
    case .profile(let name, let provenance):
      "\"origin\":\"profile\",\"profile\":\(PolicyText.json(name)),\"confidence\":\(PolicyText.json(provenance.confidence)),"
        + "\"source\":\(PolicyText.json(provenance.source))"
    case .builtIn: "\"origin\":\"builtIn\""
    case .follows(let from, let file, let line):
      "\"origin\":\"follows\",\"from\":\(PolicyText.json(from)),\"file\":\(PolicyText.json(file)),\"line\":\(line)"
    }
  }
}
