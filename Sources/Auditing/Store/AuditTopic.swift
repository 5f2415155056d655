/// The topics that a store is filled from.
public enum AuditTopic: String, Hashable, Sendable, CaseIterable {
  case decisions, commands
}
