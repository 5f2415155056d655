/// One partition of one topic.
public struct KafkaTopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  /// Makes the name of a partition, which need not exist.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - partition: The partition's number, from 0.
  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// `topic[partition]`.
  public var description: String { "\(topic)[\(partition)]" }

  /// Orders partitions by topic, then by number.
  public static func < (left: KafkaTopicPartition, right: KafkaTopicPartition) -> Bool {
    (left.topic, left.partition) < (right.topic, right.partition)
  }
}
