package import KafkaClient

/// A consumer as the stages use it. Each call means the same as the method of that name of `KafkaConsumer`, throws what that
/// method throws, and is made on the thread that polls.
package protocol ClusterConsumer: AnyObject {
  func subscribe(_ topics: [String]) throws(KafkaError)
  func assignment() throws(KafkaError) -> [KafkaTopicPartition]
  func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError)
  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError)
  func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch
  func committed(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition]
  func committedOffsets(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset]
  func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError)
  func watermarks(of partition: KafkaTopicPartition, timeout: Duration) throws(KafkaError) -> KafkaWatermarks
  func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks?
  /// Returns the consumer's current membership in its group. A producer of the same cluster commits offsets with it.
  ///
  /// - Throws: `KafkaError` if the group has expelled the member.
  func membership() throws(KafkaError) -> any GroupMembership
  /// Asks for the members of the consumer's group and their partitions.
  ///
  /// - Parameter timeout: The longest wait for the answer.
  /// - Throws: `KafkaError` if the cluster does not answer, or does not know the request.
  func describeGroup(timeout: Duration) throws(KafkaError) -> KafkaGroup
  /// Leaves the group, also as a static member, and joins it again, so that the group is rebalanced. The listener is told of the
  /// revocation before the call returns.
  ///
  /// - Parameters:
  ///   - topics: The topics to subscribe to.
  ///   - timeout: The longest wait for leaving.
  /// - Throws: `KafkaError` if the subscription is refused.
  func rejoin(_ topics: [String], timeout: Duration) throws(KafkaError)
  /// Leaves the group, also as a static member, and closes the consumer. May be repeated.
  ///
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether the group was left in order.
  @discardableResult func leave(timeout: Duration) -> Bool
  /// Closes the consumer. A dynamic member leaves the group; a static one stays in it until its session ends. May be repeated.
  ///
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether the group was left in order.
  @discardableResult func close(timeout: Duration) -> Bool
}
