import KafkaClient

/// Records the partitions of a consumer.
final class Listening: KafkaRebalanceListener {
  private(set) var owned: Set<KafkaTopicPartition> = []
  private(set) var lostCount = 0
  /// The number of assignments, and the most partitions revoked at once.
  private(set) var assignments = 0
  private(set) var revokedMost = 0

  func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    owned.formUnion(partitions)
    if !partitions.isEmpty { assignments += 1 }
    return [:]
  }
  func revoked(_ partitions: [KafkaTopicPartition]) {
    owned.subtract(partitions)
    revokedMost = max(revokedMost, partitions.count)
  }
  func lost(_ partitions: [KafkaTopicPartition]) {
    owned.subtract(partitions)
    lostCount += 1
  }
}
