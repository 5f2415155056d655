package import KafkaClient

/// A producer as the stages use it. Each call means the same as the method of that name of `KafkaProducer`, and throws what
/// that method throws.
package protocol ClusterProducer: AnyObject {
  var counts: KafkaDeliveryCounts { get }
  func send(_ record: KafkaRecord) throws(KafkaError)
  /// Queues a record. The key and the value need to live for the call only.
  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError)
  /// Queues a record that removes its key from a compacted topic.
  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError)
  /// Queues records of one destination in order.
  ///
  /// - Parameters:
  ///   - topic: The name of the topic.
  ///   - partition: The partition; nil lets the partitioner choose by key.
  ///   - records: The places of the keys and values in `bytes`.
  ///   - bytes: The bytes of all keys and values.
  /// - Throws: `KafkaError`; some of the records may be queued by then.
  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError)
  /// Queues a record without a key.
  ///
  /// - Parameters:
  ///   - topic: The name of the topic.
  ///   - partition: The partition.
  ///   - value: The value, which needs to live for the call only.
  ///   - headers: The headers, in order.
  /// - Throws: `KafkaError` if the record is refused.
  func send(topic: String, partition: Int32, value: Span<UInt8>, headers: [KafkaHeader]) throws(KafkaError)
  /// Queues records of one destination in order, each with a tag.
  ///
  /// - Parameters:
  ///   - topic: The name of the topic.
  ///   - partition: The partition; nil lets the partitioner choose by key.
  ///   - records: The places of the keys and values in `bytes`.
  ///   - bytes: The bytes of all keys and values.
  ///   - tag: The number that `inFlight(tag:)` and the reports of failures know the records by.
  /// - Throws: `KafkaError`; some of the records may be queued by then.
  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64
  ) throws(KafkaError)
  /// Returns the number of records without a report that carry a tag, compared by its lowest eight bits.
  func inFlight(tag: UInt64) -> UInt64
  func poll(timeout: Duration) throws(KafkaError)
  func flush(timeout: Duration) throws(KafkaError) -> Bool
  func takeDeliveryFailures() -> [KafkaDeliveryFailure]
  func initTransactions(timeout: Duration) throws(KafkaError)
  func beginTransaction() throws(KafkaError)
  /// Makes the commit of consumer offsets a part of the open transaction.
  ///
  /// - Parameters:
  ///   - positions: The offsets.
  ///   - group: The membership of a consumer of the same cluster.
  ///   - timeout: The longest wait.
  /// - Throws: `KafkaError` if the group refuses the member, among others.
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError)
  func commitTransaction(timeout: Duration) throws(KafkaError)
  func abortTransaction(timeout: Duration) throws(KafkaError)
}

extension ClusterProducer {
  /// Queues the record with a copy of the value, for producers without a call of their own for it.
  ///
  /// - Throws: `KafkaError` if the record is refused.
  package func send(
    topic: String, partition: Int32, value: Span<UInt8>, headers: [KafkaHeader]
  ) throws(KafkaError) {
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: value.count) { (room: inout OutputSpan<UInt8>) in
      for index in value.indices { room.append(value[index]) }
    }
    try send(KafkaRecord(topic: topic, partition: partition, key: nil, value: bytes, headers: headers))
  }

  /// Queues the records one by one, for producers without a batch call.
  ///
  /// - Throws: `KafkaError`; some of the records may be queued by then.
  package func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError) {
    try send(topic: topic, partition: partition, records: records, in: bytes, tag: 0)
  }

  /// Queues the records one by one, for producers without a batch call.
  ///
  /// - Throws: `KafkaError`; some of the records may be queued by then.
  package func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64
  ) throws(KafkaError) {
    for record in records {
      try send(
        KafkaRecord(
          topic: topic, partition: partition, key: record.key.map { bytes.extracting($0).copied },
          value: record.value.map { bytes.extracting($0).copied }, tag: tag))
    }
  }
}

extension Span<UInt8> {
  /// The bytes as an array.
  fileprivate var copied: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in indices { bytes.append(self[index]) }
    return bytes
  }
}
