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
