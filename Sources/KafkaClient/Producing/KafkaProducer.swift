/// A producer, plain, idempotent or transactional as its configuration says. Used by one thread.
///
/// A send only queues. Reports arrive while one of ``poll(timeout:)``, ``flush(timeout:)`` and the transaction's end
/// runs, so call one of them regularly. A producer that is let go drops what it has not sent: flush it first.
///
/// A transactional producer (`transactional.id`) calls ``initTransactions(timeout:)`` once, and then begins a
/// transaction, sends, and commits or aborts. What a failing call asks for is in the error: retriable, call the same
/// again; abortable, call ``abortTransaction(timeout:)``; fatal, close this producer and make a new one.
public final class KafkaProducer {
  let handle: ProducerHandle
  let queueFullTimeout: Duration

  /// Makes a producer; it connects in the background.
  /// - Parameters:
  ///   - configuration: librdkafka's properties.
  ///   - queueFullTimeout: how long a send waits for room in the queue (`queue.buffering.max.messages`, `…kbytes`).
  ///   - failuresMax: how many failures are kept for ``takeDeliveryFailures()``; more are counted only.
  ///   - deliveryHandler: is told of every report, besides the counts.
  ///   - logSink: takes librdkafka's log; without it nothing is logged.
  public init(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration = .seconds(10), failuresMax: Int = 1000,
    deliveryHandler: KafkaDeliveryHandler? = nil, logSink: KafkaLogSink? = nil
  ) throws(KafkaError) {
    let deliveries = DeliveryLedger(failuresMax: failuresMax, handler: deliveryHandler)
    handle = try ProducerHandle(
      configuration, callbacks: ClientCallbacks(logSink: logSink, deliveries: deliveries))
    self.queueFullTimeout = queueFullTimeout
  }

  /// Queues a message. When the queue stays full, a retriable error with ``KafkaErrorCode/queueFull`` is thrown.
  /// - Parameters:
  ///   - topic: each topic that was ever named keeps a small handle for the producer's life.
  ///   - partition: `nil` lets the partitioner choose by the key.
  ///   - key: `nil` is a null key.
  ///   - value: `nil` is a null value, on a compacted topic a tombstone.
  ///   - headers: in order; names may repeat.
  ///   - timestampMilliseconds: since 1970 in UTC; `nil` is now.
  ///   - tag: comes back in the message's report.
  public func send(
    topic: String, partition: Int32? = nil, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, key: key, value: value, headers: headers,
      timestampMilliseconds: timestampMilliseconds, tag: tag, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a message whose value is lent, for one that was built in a reused buffer or lies in a consumed message.
  public func send(
    topic: String, partition: Int32? = nil, key: [UInt8]?, value: Span<UInt8>, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, key: key, value: value, headers: headers,
      timestampMilliseconds: timestampMilliseconds, tag: tag, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a message whose key and value are lent, in the shortest way: the call for many small records.
  public func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, key: key, value: value, queueFullTimeout: queueFullTimeout)
  }

  /// Queues a tombstone, which removes its key from a compacted topic.
  public func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    try handle.send(topic: topic, partition: partition, removing: key, queueFullTimeout: queueFullTimeout)
  }

  /// Queues many small records of one destination in order, in the shortest way of all. When it throws, some of them may
  /// be queued; in a transaction an abort takes them back.
  /// - Parameter bytes: what the records' places refer to.
  public func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError) {
    try handle.send(
      topic: topic, partition: partition, records: records, in: bytes, queueFullTimeout: queueFullTimeout)
  }

  /// Serves reports for at most this time. Throws when the producer met a fatal error.
  public func poll(timeout: Duration = .zero) throws(KafkaError) {
    handle.client.serve(timeout)
    if let fatal = handle.client.fatalError(operation: "producing") { throw fatal }
  }

  /// Sends what is queued and waits for the reports; whether all came in time. Look at the failures after it.
  @discardableResult
  public func flush(timeout: Duration) throws(KafkaError) -> Bool {
    try handle.flush(timeout)
  }

  /// Gives up all messages that have no report yet. One that was sent already may still arrive.
  public func purge() {
    handle.purge()
    handle.client.serve(.zero)
  }

  /// The messages that failed since the last call, at most `failuresMax` of them; those given up by an abort or a
  /// purge are not among them.
  public func takeDeliveryFailures() -> [KafkaDelivery] {
    handle.deliveries.takeFailures()
  }

  /// Counts since the producer was made. With `delivery.report.only.error` a delivery is not reported and not counted.
  public var counts: KafkaDeliveryCounts {
    let ledger = handle.deliveries
    return KafkaDeliveryCounts(
      sent: ledger.sent, delivered: ledger.delivered, failed: ledger.failed, purged: ledger.purged)
  }

  /// What happened besides since the last call, such as lost connections; the newest 256 at most.
  public func takeEvents() -> [KafkaEvent] {
    handle.client.callbacks.takeEvents()
  }
}

extension KafkaProducer {
  /// Gets the transactional id's producer id and epoch, which fences its earlier producers off and ends what they
  /// left open. Call it once, before anything else.
  public func initTransactions(timeout: Duration) throws(KafkaError) {
    try handle.initTransactions(timeout)
  }

  /// Begins a transaction; every message sent from now on belongs to it.
  public func beginTransaction() throws(KafkaError) {
    try handle.beginTransaction()
  }

  /// Makes a group's offsets part of the transaction.
  /// - Parameters:
  ///   - positions: the next offset to read of each partition.
  ///   - group: of the consumer that read them, asked for after its last rebalance.
  public func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: KafkaGroupMetadata, timeout: Duration
  ) throws(KafkaError) {
    try handle.sendOffsets(positions, group.handle, timeout)
  }

  /// Sends what is queued and commits. A message that failed makes this throw an abortable error. After a time-out
  /// (retriable) call it again, to learn how it ended.
  public func commitTransaction(timeout: Duration) throws(KafkaError) {
    try handle.commitTransaction(timeout)
  }

  /// Gives up what is queued and aborts. After a time-out (retriable) call it again.
  public func abortTransaction(timeout: Duration) throws(KafkaError) {
    try handle.abortTransaction(timeout)
  }
}
