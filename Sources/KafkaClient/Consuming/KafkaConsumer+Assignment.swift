/// The choice of the partitions to read, and of the places where reading begins.
extension KafkaConsumer {
  /// Joins the group for topics. The partitions arrive in a later poll.
  /// - Parameter topics: Names; one that begins with `^` is a regular expression.
  /// - Throws: A ``KafkaError`` if the subscription is refused.
  public func subscribe(_ topics: [String]) throws(KafkaError) {
    try open("subscribing").subscribe(topics)
  }

  /// Ends the subscription. The partitions are revoked in a later poll.
  /// - Throws: A ``KafkaError`` if the consumer is closed or has met a fatal error.
  public func unsubscribe() throws(KafkaError) {
    try open("unsubscribing").unsubscribe()
  }

  /// Reads exactly these partitions, without the group.
  /// - Parameter partitions: Each partition with the place where reading begins, in the order in which they are assigned.
  /// - Throws: A ``KafkaError`` if the assignment is refused.
  public func assign(_ partitions: KeyValuePairs<KafkaTopicPartition, KafkaOffset>) throws(KafkaError) {
    try open("assigning").assign(partitions.map { ($0.key, $0.value) })
  }

  /// Reads exactly these partitions, without the group.
  /// - Parameter partitions: Each partition with the place where reading begins.
  /// - Throws: A ``KafkaError`` if the assignment is refused.
  public func assign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    try open("assigning").assign(partitions.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  /// Adds partitions to those that are read, without the group.
  /// - Parameter partitions: Each new partition with the place where reading begins.
  /// - Throws: A ``KafkaError`` if a partition is assigned already, or the assignment is refused.
  public func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    try open("assigning").incrementalAssign(partitions.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  /// Stops reading partitions, without the group.
  /// - Parameter partitions: Assigned partitions.
  /// - Throws: A ``KafkaError`` if a partition is not assigned.
  public func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("unassigning").incrementalUnassign(partitions)
  }

  /// Asks for the partitions that are read now.
  /// - Returns: The partitions, whether the group gave them or the caller did.
  /// - Throws: A ``KafkaError`` if the consumer is closed.
  public func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
    try open("asking for the assignment").assignment()
  }

  /// Pauses reading of partitions, which stay assigned. Keep on polling.
  /// - Parameter partitions: Assigned partitions.
  /// - Throws: A ``KafkaError`` that names the first partition which is not assigned.
  public func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("pausing").pause(partitions)
  }

  /// Continues reading paused partitions from where they were.
  /// - Parameter partitions: Assigned partitions.
  /// - Throws: A ``KafkaError`` that names the first partition which is not assigned.
  public func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("resuming").resume(partitions)
  }

  /// Continues reading an assigned partition from another place. Waits 60 s at most.
  /// - Parameters:
  ///   - partition: An assigned partition.
  ///   - offset: The place of the next message to read.
  /// - Throws: A ``KafkaError`` if the partition is not assigned, or librdkafka's threads do not answer in time.
  public func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
    try open("seeking").seek(partition, offset, Self.localTimeout)
  }
}
