/// The positions of the consumer and of its group.
extension KafkaConsumer {
  /// Asks for the offsets of the next messages to be polled.
  /// - Parameter partitions: The partitions to ask for.
  /// - Returns: The positions. Partitions from which nothing has been read yet are left out.
  /// - Throws: A ``KafkaError`` if the consumer is closed.
  public func positions(_ partitions: [KafkaTopicPartition]) throws(KafkaError) -> [KafkaPosition] {
    try open("asking for positions").positions(partitions)
  }

  /// Asks the broker for the group's committed offsets.
  /// - Parameters:
  ///   - partitions: The partitions to ask for.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The positions. Partitions without a committed offset are left out.
  /// - Throws: A ``KafkaError``; ``KafkaErrorCode/timedOut`` when no answer came in time.
  public func committed(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaPosition] {
    try open("asking for committed offsets").committed(partitions, timeout)
  }

  /// Asks the broker for the group's committed offsets and their remarks.
  /// - Parameters:
  ///   - partitions: The partitions to ask for.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The offsets. Partitions without a committed offset are left out.
  /// - Throws: A ``KafkaError``; ``KafkaErrorCode/timedOut`` when no answer came in time.
  public func committedOffsets(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset] {
    try open("asking for committed offsets").committedOffsets(partitions, timeout)
  }

  /// Commits offsets with remarks, and waits for the answer.
  /// - Parameters:
  ///   - offsets: The offsets.
  ///   - timeout: The longest wait for the answer. After a time-out the commit may still take effect.
  /// - Throws: A ``KafkaError``, for example because the group has members and this consumer is none of them.
  public func commit(_ offsets: [KafkaCommittedOffset], timeout: Duration) throws(KafkaError) {
    try open("committing").commit(offsets, timeout)
  }

  /// Commits positions and waits for the answer.
  /// - Parameters:
  ///   - positions: The positions of the next messages to read; `nil` commits the offsets that librdkafka has stored.
  ///   - timeout: The longest wait for the answer. After a time-out the commit may still take effect.
  /// - Throws: A ``KafkaError``, for example because the group has been rebalanced. Having nothing to commit is no error.
  public func commit(_ positions: [KafkaPosition]? = nil, timeout: Duration) throws(KafkaError) {
    try open("committing").commit(positions, timeout)
  }

  /// Commits offsets with remarks without waiting. A failure of the broker arrives as an event.
  /// - Parameter offsets: The offsets.
  /// - Throws: A ``KafkaError`` if the commit cannot be queued.
  public func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError) {
    try open("committing").commitInBackground(offsets)
  }

  /// Asks the broker for the ends of a partition.
  /// - Parameters:
  ///   - partition: Any partition, assigned or not.
  ///   - timeout: The longest wait for the answers, also while brokers are away.
  /// - Returns: The ends at the time of the answer.
  /// - Throws: A ``KafkaError``; ``KafkaErrorCode/timedOut`` when no answer came in time.
  public func watermarks(
    of partition: KafkaTopicPartition, timeout: Duration
  ) throws(KafkaError) -> KafkaWatermarks {
    try open("asking for watermarks").watermarks(partition, timeout)
  }

  /// Asks the brokers for the ends of partitions, all at a time.
  ///
  /// - Parameters:
  ///   - partitions: Any partitions, assigned or not.
  ///   - timeout: The longest wait for the answers, also while brokers are away.
  /// - Returns: The positions behind the last messages; with `isolation.level=read_committed`, the last stable offsets. Partitions of which no
  ///   answer came in time are left out.
  /// - Throws: A ``KafkaError``; ``KafkaErrorCode/timedOut`` when no broker answered.
  public func ends(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition] {
    try open("asking for the ends of partitions").ends(partitions, timeout)
  }

  /// Returns the ends of an assigned partition as of its last fetch, without asking the broker.
  /// - Parameter partition: An assigned partition.
  /// - Returns: The ends; `nil` before the first fetch. The low end is only kept up to date with `statistics.interval.ms`.
  /// - Throws: A ``KafkaError`` if the consumer is closed.
  public func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks? {
    try open("asking for watermarks").cachedWatermarks(partition)
  }

  /// Returns the consumer's place in its group now, for
  /// ``KafkaProducer/sendOffsetsToTransaction(_:group:timeout:)``.
  /// - Throws: An abortable ``KafkaError`` with ``KafkaErrorCode/unknownMember`` if the group has expelled this consumer.
  public func groupMetadata() throws(KafkaError) -> KafkaGroupMetadata {
    KafkaGroupMetadata(handle: try open("asking for the consumer group").groupMetadata())
  }
}
