/// A record to produce.
public struct KafkaRecord: Sendable, Hashable {
  /// The name of the topic.
  public var topic: String
  /// The partition's number; `nil` lets the partitioner choose by the key.
  public var partition: Int32?
  /// The key; `nil` is a null key.
  public var key: [UInt8]?
  /// The value; `nil` is a null value, on a compacted topic a tombstone.
  public var value: [UInt8]?
  /// The headers, in order; names may repeat.
  public var headers: [KafkaHeader]
  /// Milliseconds since 1970 in UTC; `nil` is now.
  public var timestampMilliseconds: Int64?
  /// Any number; the report of a failure carries it.
  public var tag: UInt64

  /// Makes a record.
  /// - Parameters:
  ///   - topic: The name of the topic.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by the key.
  ///   - key: The key; `nil` is a null key.
  ///   - value: The value; `nil` is a null value.
  ///   - headers: The headers, in order.
  ///   - timestampMilliseconds: Milliseconds since 1970 in UTC; `nil` is now.
  ///   - tag: Any number.
  public init(
    topic: String, partition: Int32? = nil, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, tag: UInt64 = 0
  ) {
    self.topic = topic
    self.partition = partition
    self.key = key
    self.value = value
    self.headers = headers
    self.timestampMilliseconds = timestampMilliseconds
    self.tag = tag
  }
}

/// The places of one record's key and value in a buffer that holds the bytes of many records.
public struct KafkaRecordPlace: Sendable, Hashable {
  /// The byte range of the key; `nil` is a null key.
  public var key: Range<Int>?
  /// The byte range of the value; `nil` is a null value, on a compacted topic a tombstone.
  public var value: Range<Int>?

  /// Creates a place.
  /// - Parameters:
  ///   - key: The byte range of the key; `nil` is a null key.
  ///   - value: The byte range of the value; `nil` is a null value.
  public init(key: Range<Int>?, value: Range<Int>?) {
    self.key = key
    self.value = value
  }
}
