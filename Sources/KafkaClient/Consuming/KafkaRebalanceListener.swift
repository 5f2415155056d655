/// Is told which partitions a consumer of a group gets and gives up.
///
/// Every method is called inside ``KafkaConsumer/poll(maxMessages:timeout:)`` or ``KafkaConsumer/close(timeout:)``, on
/// the thread that called it. A method may commit offsets, ask for positions or use a producer; it must not poll or
/// close the consumer. The consumer keeps the listener until it is closed, so an object that owns the consumer and
/// listens to it must close it.
public protocol KafkaRebalanceListener: AnyObject {
  /// Partitions that this consumer gets: all of its partitions under an eager assignor, only the new ones under a
  /// cooperative one. Answers where to start in them; in those not named, at the group's committed offset.
  func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset]

  /// Partitions that are about to be taken away, and still belong to this consumer: the moment to commit.
  func revoked(_ partitions: [KafkaTopicPartition])

  /// Partitions that are gone already and may belong to another consumer: commit nothing for them.
  func lost(_ partitions: [KafkaTopicPartition])
}
