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
  /// Returns the consumer's present place in its group, for a producer of the same cluster.
  ///
  /// - Throws: `KafkaError` if the group has expelled the member.
  func membership() throws(KafkaError) -> any GroupMembership
  /// Leaves the group and closes the consumer. May be repeated.
  ///
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether the group was left in order.
  @discardableResult func close(timeout: Duration) -> Bool
}
