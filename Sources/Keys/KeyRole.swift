/// The things that the holder of a key may do.
public enum KeyRole: String, Sendable, CaseIterable {
  /// May publish events.
  case publisher
  /// May register devices, and send their signals.
  case registrar
  /// May ask questions.
  case auditor
  /// May ask questions, change policies and replay dead letters.
  case `operator`
}
