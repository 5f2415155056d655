/// One partition of one topic.
public struct KafkaTopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  /// Names a partition.
  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// `topic[partition]`.
  public var description: String { "\(topic)[\(partition)]" }

  public static func < (left: KafkaTopicPartition, right: KafkaTopicPartition) -> Bool {
    (left.topic, left.partition) < (right.topic, right.partition)
  }
}

/// Where in a partition to begin to read.
public enum KafkaOffset: Sendable, Hashable {
  /// The message at this offset, from 0.
  case at(Int64)
  /// The oldest message that is still there.
  case beginning
  /// After the newest message.
  case end
  /// The group's committed offset; where there is none, as `auto.offset.reset` says.
  case committed
}

/// A partition and the offset of the next message to read from it: what a consumer group commits.
public struct KafkaPosition: Sendable, Hashable, CustomStringConvertible {
  /// The partition.
  public var partition: KafkaTopicPartition
  /// The offset of the next message to read, which is the last handled message's offset plus one.
  public var offset: Int64

  /// Names a position.
  public init(_ partition: KafkaTopicPartition, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }

  /// `topic[partition]@offset`.
  public var description: String { "\(partition)@\(offset)" }
}

/// The ends of a partition's log.
public struct KafkaWatermarks: Sendable, Hashable {
  /// The offset of the oldest message that is still there.
  public var low: Int64
  /// The offset that the next message will get; with `isolation.level=read_committed`, the last stable offset.
  public var high: Int64

  /// States the ends of a log.
  public init(low: Int64, high: Int64) {
    self.low = low
    self.high = high
  }
}
