/// A partition and an offset in it. A consumer group commits the position of the next message to read.
public struct KafkaPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The partition.
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
