/// Learns which partitions a consumer of a group gets and gives up.
///
/// Every method is called inside ``KafkaConsumer/poll(maxMessages:timeout:)`` or ``KafkaConsumer/close(timeout:)``, on the
/// thread that called it. A method may commit offsets, ask for positions or use a producer; it must not poll or close the
/// consumer. The consumer keeps the listener until it is closed. An object that owns the consumer and listens to it must
/// therefore close it, or neither is ever released.
public protocol KafkaRebalanceListener: AnyObject {
  /// Chooses where to start in partitions that the group has given to this consumer.
  /// - Parameter partitions: All partitions of the consumer under an eager assignor, only the new ones under a cooperative one.
  /// - Returns: The places to start from. A partition that is left out starts at the group's committed offset; partitions
  ///   that were not given are ignored.
  func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset]

  /// Handles the revocation of partitions. They still belong to this consumer: this is the moment to commit.
  /// - Parameter partitions: The partitions that the consumer gives up when this method returns.
  func revoked(_ partitions: [KafkaTopicPartition])

  /// Handles the loss of partitions. They may belong to another consumer already: commit nothing for them.
  /// - Parameter partitions: The partitions that were taken away.
  func lost(_ partitions: [KafkaTopicPartition])
}
