package import KafkaClient

/// The Kafka cluster as the stages use it: the real one in operation, a simulated one in tests.
///
/// The properties of a client mean the same in every implementation: `group.id`, `transactional.id`, `isolation.level`,
/// `auto.offset.reset`, `enable.partition.eof`, `transaction.timeout.ms`, `session.timeout.ms`.
package protocol Cluster: AnyObject {
  /// Makes a consumer, either of a group or of partitions that are assigned by hand.
  ///
  /// - Parameters:
  ///   - configuration: The properties of the consumer.
  ///   - listener: Receives rebalance callbacks; nil for a consumer without a group.
  /// - Returns: A consumer that belongs to the thread that polls it.
  /// - Throws: `KafkaError` for invalid properties.
  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer

  /// Makes a producer.
  ///
  /// - Parameters:
  ///   - configuration: The properties of the producer.
  ///   - queueFullTimeout: The longest wait for room in the queue.
  /// - Returns: A producer that belongs to one thread.
  /// - Throws: `KafkaError` for invalid properties.
  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer

  /// Returns the number of partitions of each topic; 0 for a topic that does not exist.
  ///
  /// - Parameters:
  ///   - topics: The names of the topics.
  ///   - configuration: The properties of the client that asks.
  /// - Throws: `KafkaError` if the broker does not answer within half a minute.
  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32]
}

/// A consumer's membership in its group: the group's name, the generation and the member's id.
package protocol GroupMembership: AnyObject {}
