/// The things that the holder of a key may do.
public enum KeyRole: String, Sendable, CaseIterable {
  /// May publish events.
  case publisher
  /// May register devices, and send their signals, but not what became of a command.
  case registrar
  /// May send what became of a command, and which tokens APNs refused.
  case sender
  /// May ask questions.
  case auditor
  /// May ask questions, change policies and replay dead letters.
  case `operator`

  /// Whether a key of the role can be bound to apps.
  public var isBoundToApps: Bool { self == .registrar || self == .sender }
}
