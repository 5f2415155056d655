public import Domain
import JSON

/// The policy in force, value by value, each with its origin. `rouse policy explain` prints it.
public struct PolicyExplanation: Sendable {
  /// The origin of a value.
  public enum ValueSource: Equatable, Sendable {
    /// The document states the value, at this line.
    case document(file: String, line: Int)
    /// The value comes from the budget profile.
    case profile(name: String, provenance: BudgetProfile.Provenance)
    /// The built-in default; the document has no value.
    case builtIn
    /// The value follows from another value of the document, at this line.
    case follows(from: String, file: String, line: Int)
  }

  /// One value with its origin.
  public struct Line: Equatable, Sendable {
    /// The path in the spelling of the document: `kinds.FlightStatus.budget.perDay`.
    public var path: String
    /// The value in force.
    public var value: FieldValue
    /// The origin of the value.
    public var origin: ValueSource
  }

  /// The values of the top level, then those of each kind, sorted by the kind's name.
  public let lines: [Line]

  /// Explains a document.
  /// - Parameters:
  ///   - document: the policy.
  ///   - kind: the kind to explain; nil: the whole document. There are no lines if the document has no such kind.
  public init(_ document: PolicyDocument, kind: Identifier? = nil) {
    let prefix = kind.map { StrictReader.path("kinds", $0) + "." } ?? ""
    lines = PolicyValues(document.policy, rules: .byIndex).items.filter { $0.path.utf8.starts(with: prefix.utf8) }.map {
      Line(path: $0.path, value: $0.value, origin: Self.origin(of: $0.path, in: document))
    }
  }

  private static func origin(of path: String, in document: PolicyDocument) -> ValueSource {
    func line(_ path: String) -> Int? { document.positions[path]?.line }
    if let line = line(path) { return .document(file: document.file, line: line) }
    if path.hasPrefix("limits.") { return limitOrigin(path, document.profile) }
    guard path.hasPrefix("kinds") else { return .builtIn }
    if path.hasSuffix(".budget.minInterval") {
      let flag = String(path.dropLast("minInterval".count)) + "timeSensitive"
      let isProfile = document.policy.kinds.contains {
        Identifier(path) == "\(StrictReader.path("kinds", $0.name)).budget.minInterval"
          && $0.budget.minInterval == document.policy.profile.instanceReloads.minInterval
      }
      if let line = line(flag), !isProfile { return .follows(from: "timeSensitive", file: document.file, line: line) }
      return inherited("limits.instanceReloads.minInterval", in: document)
    }
    if path.hasSuffix(".budget.perDay") { return inherited("limits.instanceReloads.limit", in: document) }
    return .builtIn
  }

  /// Returns the origin of a limit of all kinds: the document's `limits`, or else the profile.
  private static func inherited(_ path: String, in document: PolicyDocument) -> ValueSource {
    if let line = document.positions[path]?.line { return .follows(from: path, file: document.file, line: line) }
    return limitOrigin(path, document.profile)
  }

  private static func limitOrigin(_ path: String, _ profile: BudgetProfile) -> ValueSource {
    let rate = PolicyKeys.rates.first { path.hasPrefix("limits.\($0.name).") }?.place
    let factor = path == "limits.frequentPushesFactor" ? profile.activityPushes.provenance : nil
    let provenance = factor ?? rate.map { profile[keyPath: $0].provenance } ?? profile.instanceReloads.provenance
    return .profile(name: profile.name, provenance: provenance)
  }

  /// The explanation as text, one line for each value: `path = value   # origin`.
  public var text: PrintableText {
    let shown = lines.map { line in
      (left: "\(line.path) = \(PolicyText.of(line.value))" as PrintableText, origin: Self.words(line.origin))
    }
    // Values longer than 80 characters do not widen the column, because they would push every origin out of sight.
    let width = shown.map { $0.left.count }.filter { $0 <= 80 }.max() ?? 0
    return shown.map { line -> PrintableText in
      "\(line.left)\(PrintableText.spaces(width - line.left.count))  # \(line.origin)\n"
    }.joined()
  }

  /// The explanation as JSON, one object for each line: `path`, `value`, `origin` and the members that belong to the origin.
  public var jsonLines: String {
    lines.map { line in
      var json = JSONWriter()
      json.beginObject()
      json.member("path", line.path)
      json.key("value")
      json.value(line.value)
      Self.write(line.origin, to: &json)
      json.endObject()
      return json.text + "\n"
    }.joined()
  }

  /// Returns the origin of a value in words.
  package static func words(_ origin: ValueSource) -> String {
    switch origin {
    case .document(let file, let line): "\(file):\(line)"
    case .profile(let name, let provenance):
      "profile \(name), confidence \(provenance.confidence): \(provenance.source)"
    case .builtIn: "built in"
    case .follows(let from, let file, let line): "from \(from), \(file):\(line)"
    }
  }

  private static func write(_ origin: ValueSource, to json: inout JSONWriter) {
    func member(_ key: StaticString, _ text: String) {
      json.member(key, text)
    }
    func place(_ file: String, _ line: Int) {
      member("file", file)
      json.member("line", line)
    }
    switch origin {
    case .document(let file, let line):
      member("origin", "document")
      place(file, line)
    case .profile(let name, let provenance):
      member("origin", "profile")
      member("profile", name)
      member("confidence", provenance.confidence)
      member("source", provenance.source)
    case .builtIn: member("origin", "builtIn")
    case .follows(let from, let file, let line):
      member("origin", "follows")
      member("from", from)
      place(file, line)
    }
  }
}

extension JSONWriter {
  /// Writes a JSON scalar.
  mutating func value(_ value: FieldValue) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .number(let number), .inexact(let number): self.number(number)
    case .integer(let integer): raw(integer.description)
    case .string(let text): string(text)
    }
  }
}
