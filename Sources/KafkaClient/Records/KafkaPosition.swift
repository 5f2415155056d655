/// A partition and an offset in it. A consumer group commits the position of the next message to read.
public struct KafkaPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
  public var partition: KafkaTopicPartition
  /// The offset of the next message to read. A commit after a message was handled names the offset of that message plus
  /// one.
  public var offset: Int64

  /// Makes a position.
  /// - Parameters:
  ///   - partition: The partition.
  ///   - offset: The offset of the next message to read, from 0.
  public init(_ partition: KafkaTopicPartition, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }

  /// `topic[partition]@offset`.
  public var description: String { "\(partition)@\(offset)" }

  /// Orders by partition, then by offset.
  public static func < (left: KafkaPosition, right: KafkaPosition) -> Bool {
    (left.partition, left.offset) < (right.partition, right.offset)
  }
}

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

/// The place in a partition where reading begins.
public enum KafkaOffset: Sendable, Hashable {
  /// The message at this offset, from 0.
  case at(Int64)
  /// The oldest message that the partition still holds.
  case beginning
  /// The place behind the newest message.
  case end
  /// The group's committed offset; without one, the place that `auto.offset.reset` chooses.
  case committed
}

/// An offset that a group has committed or will commit, and the remark that is stored with it.
public struct KafkaCommittedOffset: Sendable, Hashable {
  /// The partition, and the offset of the next message to read.
  public var position: KafkaPosition
  /// The remark, which the broker keeps and does not interpret; empty for none. Brokers take 4,096 bytes by default.
  public var metadata: String

  /// Makes an offset to commit, with its remark.
  /// - Parameters:
  ///   - position: The partition, and the offset of the next message to read.
  ///   - metadata: The remark, without NUL characters.
  public init(_ position: KafkaPosition, metadata: String) {
    self.position = position
    self.metadata = metadata
  }
}

/// The two ends of a partition's log.
public struct KafkaWatermarks: Sendable, Hashable {
  /// The offset of the oldest message that the partition still holds.
  public var low: Int64
  /// The offset that the next message will get; with `isolation.level=read_committed`, the last stable offset.
  public var high: Int64

  /// Creates the ends of a log.
  /// - Parameters:
  ///   - low: The offset of the oldest message.
  ///   - high: The offset that the next message will get.
  public init(low: Int64, high: Int64) {
    self.low = low
    self.high = high
  }
}
