/// One mistake in a policy or profile document, for the person who wrote it.
public struct PolicyProblem: Equatable, Sendable {
  /// The severity of a problem.
  public enum Severity: String, Sendable {
    /// The document is refused.
    case error
    /// The document is accepted, but probably does not mean what its author intended.
    case warning
  }

  /// The severity.
  public var severity: Severity
  /// The name that the document was read under.
  public var file: String
  /// The line, from 1. It always exists in the document.
  public var line: Int
  /// The column, from 1, counted in Unicode scalars.
  public var column: Int
  /// The path of the value, such as `kinds.FlightStatus.budget.perDay`. Empty if the problem concerns the document as a whole.
  public var path: String
  /// The message: what is wrong and what was expected.
  public var message: String

  /// Creates a problem.
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
  /// The problem on one line: `policy.yaml:12:7: error: kinds.FlightStatus.budget.perDai: unknown key; …`
  public var description: String {
    "\(file):\(line):\(column): \(severity.rawValue): \(path.isEmpty ? "" : path + ": ")\(message)"
  }
}

/// The refusal of a document, with everything that is wrong with it.
public struct PolicyError: Error, Equatable, Sendable {
  /// The problems in the order of the document, warnings included.
  public var problems: [PolicyProblem]

  /// Creates an error.
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
  /// The problems, one line each.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
