public import Domain

/// A stored decision or command.
public enum AuditEntry: Equatable, Sendable {
  case decision(Decision)
  case command(Command)

  /// The time of the record, in log time.
  public var at: Timestamp {
    switch self {
    case .decision(let decision): decision.at
    case .command(let command): command.at
    }
  }
}
