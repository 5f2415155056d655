/// The topics that an audit store is filled from.
public enum AuditTopic: String, Hashable, Sendable, CaseIterable {
  case decisions, commands
}

/// The place up to which one partition of a topic has been stored.
public struct AuditPosition: Hashable, Sendable {
  /// The topic.
  public var topic: AuditTopic
  /// The partition of the topic.
  public var partition: Int32
  /// The first offset that is not stored yet: the next one to read.
  public var next: Int64

  /// Creates a position.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition of the topic.
  ///   - next: The first offset that is not stored yet.
  public init(topic: AuditTopic, partition: Int32, next: Int64) {
    self.topic = topic
    self.partition = partition
    self.next = next
  }
}
