extension KafkaConsumer {
  /// Copies records to another topic as plainly as a C program can: each message is queued again with the same partition
  /// number, key and value. Headers and timestamps are not copied. Benchmarks compare themselves with it.
  /// - Parameters:
  ///   - maxMessages: The largest number of messages to copy; at least 1.
  ///   - timeout: The longest wait for the first message.
  ///   - producer: The producer that queues the copies.
  ///   - topic: The topic of the copies; it needs as many partitions as the source.
  /// - Returns: The number of messages that were queued.
  /// - Throws: The ``KafkaError`` of a copy that could not be queued.
  @discardableResult
  package func forward(
    maxMessages: Int, timeout: Duration, to producer: KafkaProducer, topic: String
  ) throws(KafkaError) -> Int {
    precondition(maxMessages > 0, "a poll needs room for a message")
    return try open("polling").forward(
      max: maxMessages, timeout: timeout, to: producer.handle, topic: topic,
      queueFullTimeout: producer.queueFullTimeout)
  }
}
