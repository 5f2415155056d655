/// The progress of storing one topic partition.
public struct TopicPosition: Hashable, Sendable {
  /// The topic.
  public var topic: AuditTopic
  /// The partition of the topic.
  public var partition: Int32
  /// The first offset that is not stored yet. Resume reading there.
  public var next: Int64

  /// - Parameter next: the first offset that is not stored yet.
  public init(topic: AuditTopic, partition: Int32, next: Int64) {
    self.topic = topic
    self.partition = partition
    self.next = next
  }
}
