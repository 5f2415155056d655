/// A producer. The configuration decides whether it is plain, idempotent or transactional. Use it on one thread.
///
/// A send only queues. Reports arrive while ``poll(timeout:)``, ``flush(timeout:)`` or the end of a transaction runs, so call
/// one of them regularly. A producer that is released drops the messages that it has not sent: flush it first.
///
/// A transactional producer (`transactional.id`) calls ``initTransactions(timeout:)`` once. After that it begins a
/// transaction, sends, and commits or aborts, as often as needed. The error of a failing call says what to do. If it is
/// retriable, repeat the same call. If it is abortable, call ``abortTransaction(timeout:)``. If it is fatal, release this
/// producer and make a new one.
public final class KafkaProducer {
  let handle: ProducerHandle
  let queueFullTimeout: Duration

  /// Makes a producer, which connects in the background.
  /// - Parameters:
  ///   - configuration: librdkafka's properties.
  ///   - queueFullTimeout: The longest wait of a send for room in the queue (`queue.buffering.max.messages`, `…kbytes`).
  ///   - failuresMax: The largest number of failures kept for ``takeDeliveryFailures()``; further ones are only counted.
  ///   - keepsDeliveries: Whether deliveries are kept for ``takeDeliveries()``.
  ///   - logSink: Receives librdkafka's log; without it nothing is logged.
  ///   - statisticsSink: Receives librdkafka's statistics; without it none are made.
  /// - Throws: A ``KafkaError`` that names the property which librdkafka refuses.
  public init(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration = .seconds(10), failuresMax: Int = 1000,
    keepsDeliveries: Bool = false, logSink: KafkaLogSink? = nil, statisticsSink: KafkaStatisticsSink? = nil
  ) throws(KafkaError) {
    let deliveries = DeliveryLedger(failuresMax: failuresMax, keepsDeliveries: keepsDeliveries)
    handle = try ProducerHandle(
      configuration,
      callbacks: ClientCallbacks(logSink: logSink, statisticsSink: statisticsSink, deliveries: deliveries))
    self.queueFullTimeout = queueFullTimeout
  }

  /// Handles the delivery reports that have arrived: counts them, and keeps the failures for
  /// ``takeDeliveryFailures()``.
  /// - Parameter timeout: The longest wait if no report has arrived.
  /// - Throws: The fatal ``KafkaError`` that the producer has met, if there is one.
  public func poll(timeout: Duration = .zero) throws(KafkaError) {
    handle.client.serve(timeout)
    if let fatal = handle.client.fatalCause(operation: "producing") { throw fatal }
  }

  /// Sends the queued messages and waits for their reports. Look at ``takeDeliveryFailures()`` afterwards.
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether every message had its report in time.
  /// - Throws: A ``KafkaError`` if the producer cannot flush at all.
  @discardableResult
  public func flush(timeout: Duration) throws(KafkaError) -> Bool {
    try handle.flush(timeout)
  }

  /// Discards all messages without a delivery report. A message that was sent already may still arrive at the broker.
  public func purge() {
    handle.purge()
    handle.client.serve(.zero)
  }

  /// Takes the messages that failed since the last call.
  /// - Returns: At most `failuresMax` reports. Messages that an abort or a purge gave up are not among them.
  public func takeDeliveryFailures() -> [KafkaDeliveryFailure] {
    handle.deliveries.takeFailures()
  }

  /// Takes the messages that were delivered since the last call, in the order of their reports. A producer with `keepsDeliveries` must
  /// call it regularly, because each report is kept until then.
  /// - Returns: The reports; none without `keepsDeliveries`.
  public func takeDeliveries() -> [KafkaDelivery] {
    handle.deliveries.takeDeliveries()
  }

  /// The numbers of messages that were sent, delivered and given up since the producer was made. With
  /// `delivery.report.only.error` librdkafka does not report deliveries, so they are not counted.
  public var counts: KafkaDeliveryCounts {
    let ledger = handle.deliveries
    return KafkaDeliveryCounts(
      sent: ledger.sent, delivered: ledger.delivered, failed: ledger.failed, purged: ledger.purged)
  }

  /// Returns the number of messages that have no delivery report yet and carry a tag. Only the lowest eight bits of tags are
  /// compared, so a caller that asks uses at most 256 tags at a time.
  /// - Parameter tag: The tag that the messages were sent with.
  /// - Returns: The number of messages. Meaningless with `delivery.report.only.error`.
  public func inFlight(tag: UInt64) -> UInt64 { handle.deliveries.waiting(tag: tag) }

  /// Takes the events that have arrived since the last call, such as lost connections.
  /// - Returns: The events in the order of their arrival. At most 256 are kept; when more arrive, the oldest 64 are
  ///   dropped.
  public func takeEvents() -> [KafkaEvent] {
    handle.client.callbacks.takeEvents()
  }
}

/// Transactions. After a time-out, which is retriable, repeat the same call to learn how it ended.
extension KafkaProducer {
  /// Gets the producer id and epoch of the transactional id. This fences earlier producers of the same id and ends the
  /// transactions that they left open. Call it once, before anything else.
  /// - Parameter timeout: The longest wait for the broker.
  /// - Throws: A ``KafkaError``; retriable when the broker did not answer in time.
  public func initTransactions(timeout: Duration) throws(KafkaError) {
    try handle.initTransactions(timeout)
  }

  /// Begins a transaction. Every message sent from now on belongs to it.
  /// - Throws: A ``KafkaError`` with ``KafkaErrorCode/wrongState`` if a transaction is open, or the fatal error.
  public func beginTransaction() throws(KafkaError) {
    try handle.beginTransaction()
  }

  /// Makes a group's offsets part of the transaction.
  /// - Parameters:
  ///   - positions: The next offset to read of each partition.
  ///   - group: The metadata of the consumer that read the messages, asked for after its last rebalance.
  ///   - timeout: The longest wait for the broker.
  /// - Throws: A ``KafkaError``; abortable when the group has moved on to another generation.
  public func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: KafkaGroupMetadata, timeout: Duration
  ) throws(KafkaError) {
    try handle.sendOffsets(positions, group.handle, timeout)
  }

  /// Sends the queued messages and commits.
  /// - Parameter timeout: The longest wait for the broker.
  /// - Throws: A ``KafkaError``; abortable when one of the messages failed.
  public func commitTransaction(timeout: Duration) throws(KafkaError) {
    try handle.commitTransaction(timeout)
  }

  /// Discards the queued messages and aborts.
  /// - Parameter timeout: The longest wait for the broker.
  /// - Throws: A ``KafkaError``; retriable when the broker did not answer in time.
  public func abortTransaction(timeout: Duration) throws(KafkaError) {
    try handle.abortTransaction(timeout)
  }
}
