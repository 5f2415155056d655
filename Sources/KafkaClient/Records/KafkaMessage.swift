/// A message that was read, copied out of librdkafka's memory.
public struct KafkaMessage: Sendable, Hashable {
  /// The topic that the message was read from.
  public var topic: String
  /// The number of the partition that the message was read from.
  public var partition: Int32
  /// The message's offset in the partition.
  public var offset: Int64
  /// Milliseconds since 1970 in UTC; `nil` when the message carries no timestamp.
  ///
  /// The topic's `message.timestamp.type` says whether the producer or the broker set it. A producer can write any number,
  /// so every value of `Int64` occurs.
  public var timestampMilliseconds: Int64?
  /// The key; `nil` is a null key, which differs from an empty one.
  public var key: [UInt8]?
  /// The value; `nil` is a null value (on a compacted topic, a tombstone), which differs from an empty one.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [KafkaHeader]

  /// Makes a message as if it had been read, for tests and simulation.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition's number, from 0.
  ///   - offset: The offset in the partition, from 0.
  ///   - timestampMilliseconds: Milliseconds since 1970 in UTC.
  ///   - key: The key; `nil` is a null key.
  ///   - value: The value; `nil` is a null value.
  ///   - headers: The headers, in order.
  public init(
    topic: String, partition: Int32, offset: Int64, timestampMilliseconds: Int64? = nil, key: [UInt8]? = nil,
    value: [UInt8]?, headers: [KafkaHeader] = []
  ) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.timestampMilliseconds = timestampMilliseconds
    self.key = key
    self.value = value
    self.headers = headers
  }

  /// The partition that the message was read from.
  public var topicPartition: KafkaTopicPartition { KafkaTopicPartition(topic: topic, partition: partition) }

  /// The position behind this message, to be committed once the message has been handled.
  ///
  /// The largest offset has no position behind it and is its own next position. Kafka never assigns it.
  public var nextPosition: KafkaPosition {
    KafkaPosition(topicPartition, offset: offset == .max ? .max : offset + 1)
  }
}
