/// Sending. Every send copies the bytes into librdkafka's queue before it returns. When the queue stays full for
/// `queueFullTimeout`, a send throws a retriable error with ``KafkaErrorCode/queueFull``.
extension KafkaProducer {
  /// Queues a message. The producer keeps a small handle for each topic as long as it lives.
  /// - Parameter record: The message.
  /// - Throws: A ``KafkaError`` if the message is refused, for example ``KafkaErrorCode/messageTooLarge``.
  public func send(_ record: KafkaRecord) throws(KafkaError) {
    try handle.send(record, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a message that is made of its parts.
  /// - Parameters:
  ///   - topic: The topic. The producer keeps a small handle for each topic as long as it lives.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by the key.
  ///   - key: The key; `nil` is a null key.
  ///   - value: The value; `nil` is a null value, on a compacted topic a tombstone.
  ///   - headers: The headers, in order; names may repeat.
  ///   - timestampMilliseconds: Milliseconds since 1970 in UTC; `nil` is now.
  ///   - tag: Any number; the message's report carries it.
  /// - Throws: A ``KafkaError`` if the message is refused, for example ``KafkaErrorCode/messageTooLarge``.
  public func send(
    topic: String, partition: Int32? = nil, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    try send(
      KafkaRecord(
        topic: topic, partition: partition, key: key, value: value, headers: headers,
        timestampMilliseconds: timestampMilliseconds, tag: tag))
  }

  /// Queues a message whose value is lent, for a value that was built in a reused buffer or lies in a consumed message.
  /// - Parameters:
  ///   - topic: The topic. The producer keeps a small handle for each topic as long as it lives.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by the key.
  ///   - key: The key; `nil` is a null key.
  ///   - value: The value, which is not null.
  ///   - headers: The headers, in order; names may repeat.
  ///   - timestampMilliseconds: Milliseconds since 1970 in UTC; `nil` is now.
  ///   - tag: Any number; the message's report carries it.
  /// - Throws: A ``KafkaError`` if the message is refused.
  public func send(
    topic: String, partition: Int32? = nil, key: [UInt8]?, value: Span<UInt8>, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, key: key, value: value, headers: headers,
      timestampMilliseconds: timestampMilliseconds, tag: tag, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a message without headers, timestamp and tag, which costs less: the call for many small records.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by the key.
  ///   - key: The key, which is not null.
  ///   - value: The value, which is not null.
  /// - Throws: A ``KafkaError`` if the message is refused.
  public func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, key: key, value: value, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a tombstone, which removes its key from a compacted topic.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by the key.
  ///   - key: The key to remove.
  /// - Throws: A ``KafkaError`` if the message is refused.
  public func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    try handle.send(topic: topic, partition: partition, removing: key, queueFullTimeout: queueFullTimeout)
  }

  /// Queues many small records of one destination in order, at the lowest cost per record.
  ///
  /// When it throws, the records before the refused one are queued. In a transaction, an abort takes them back.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition's number; `nil` lets the partitioner choose by each key.
  ///   - records: The places of the records in `bytes`. A place outside of `bytes` is a programmer's mistake and traps.
  ///   - bytes: The bytes of all keys and values.
  ///   - tag: Any number; the report of each record carries it.
  /// - Throws: A ``KafkaError`` of the first record that is refused.
  public func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64 = 0
  ) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, records: records, in: bytes, tag: tag, queueFullTimeout: queueFullTimeout)
  }
}
