/// The place up to which the feed has read one partition.
public struct AuditPosition: Hashable, Sendable {
  /// The topics that the feed reads.
  public enum Topic: String, Sendable { case decisions, commands }

  /// The topic.
  public var topic: Topic
  /// The partition.
  public var partition: Int32
  /// The offset of the next record to read.
  public var next: Int64

  /// Makes a position.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition.
  ///   - next: The offset of the next record to read.
  public init(topic: Topic, partition: Int32, next: Int64) {
    self.topic = topic
    self.partition = partition
    self.next = next
  }
}
