public import Domain

/// A stored decision or command.
public enum AuditEntry: Equatable, Sendable {
  case decision(Decision)
  case command(Command)

  public var at: Timestamp {
    switch self {
    case .decision(let decision): decision.at
    case .command(let command): command.at
    }
  }
}
