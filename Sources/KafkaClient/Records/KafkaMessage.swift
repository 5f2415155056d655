/// A header of a message. Names may repeat and their order is kept.
public struct KafkaHeader: Sendable, Hashable {
  /// The header's name.
  public var name: String
  /// The header's value; `nil` is a null value, which differs from an empty one.
  public var value: [UInt8]?

  /// Makes a header.
  public init(_ name: String, _ value: [UInt8]?) {
    self.name = name
    self.value = value
  }

  /// Makes a header with a text value, encoded as UTF-8.
  public init(_ name: String, _ value: String) {
    self.init(name, Array(value.utf8))
  }
}

/// Where the key and the value of a record stand in a buffer that holds those of many.
public struct KafkaRecordPlace: Sendable, Hashable {
  /// Of the key, which is not null.
  public var key: Range<Int>
  /// Of the value; `nil` is a null value, on a compacted topic a tombstone.
  public var value: Range<Int>?

  /// States a place.
  public init(key: Range<Int>, value: Range<Int>?) {
    self.key = key
    self.value = value
  }
}

/// A message that was read, copied out of librdkafka's memory.
public struct KafkaMessage: Sendable, Hashable {
  /// The topic it was read from.
  public var topic: String
  /// The partition it was read from.
  public var partition: Int32
  /// Its offset in the partition.
  public var offset: Int64
  /// Milliseconds since 1970 in UTC, the producer's or the broker's as the topic says; `nil` when it carries none.
  public var timestampMilliseconds: Int64?
  /// The key; `nil` is a null key, which differs from an empty one.
  public var key: [UInt8]?
  /// The value; `nil` is a null value (on a compacted topic, a tombstone), which differs from an empty one.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [KafkaHeader]

  /// Makes a message as if it had been read, for tests and simulation.
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

  /// The partition it was read from.
  public var topicPartition: KafkaTopicPartition { KafkaTopicPartition(topic: topic, partition: partition) }

  /// The position behind this message: what to commit once it has been handled.
  public var nextPosition: KafkaPosition { KafkaPosition(topicPartition, offset: offset + 1) }
}
