/// One mistake in a policy document, for the person who wrote it.
public struct PolicyProblem: Equatable, Sendable {
  public enum Severity: String, Sendable { case error, warning }

  public var severity: Severity
  /// The name the document was read under.
  public var file: String
  /// From 1; always a place in the document.
  public var line: Int
  /// From 1, counted in Unicode scalars.
  public var column: Int
  /// `kinds.FlightStatus.budget.perDay`; empty where the problem is the document as a whole.
  public var path: String
  public var message: String

  public init(severity: Severity, file: String, line: Int, column: Int, path: String, message: String) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.path = path
    self.message = message
  }
}

extension PolicyProblem: CustomStringConvertible {
  /// `policy.yaml:12:7: error: kinds.FlightStatus.budget.perDai: unknown key; …`
  public var description: String {
    "\(file):\(line):\(column): \(severity.rawValue): \(path.isEmpty ? "" : path + ": ")\(message)"
  }
}

/// A document that is no policy: every problem found, by position, warnings included.
public struct PolicyError: Error, Equatable, Sendable {
  public var problems: [PolicyProblem]
  public init(problems: [PolicyProblem]) { self.problems = problems }

  init(_ refusal: YAMLTree.Refusal, file: String) {
    problems = [
      PolicyProblem(
        severity: .error, file: file, line: refusal.position.line, column: refusal.position.column, path: "",
        message: refusal.message)
    ]
  }
}

extension PolicyError: CustomStringConvertible {
  /// One line per problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
