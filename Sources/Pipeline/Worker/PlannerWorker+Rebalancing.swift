import Installation
public import KafkaClient

extension PlannerWorker: KafkaRebalanceListener {
  /// Takes over partitions. They are paused before any record of them is planned; reading continues at the restored
  /// position.
  ///
  /// - Parameter partitions: The new partitions.
  /// - Returns: The beginning of each partition as its start. Before a record is planned, the restore moves the
  ///   consumer to the restored position.
  public func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    follow(.assigned(partitions.map(\.partition).sorted()))
    watch?.rebalanced(at: clock.elapsed)
    published.hasJoined = true
    report.rebalanced(.assigned, partitions)
    return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) })
  }

  /// Commits, then releases the partitions that are about to go to other members.
  ///
  /// - Parameter partitions: The partitions that the group takes away.
  public func revoked(_ partitions: [KafkaTopicPartition]) {
    follow(.revoked(partitions.map(\.partition)))
    report.rebalanced(.revoked, partitions)
  }

  /// Aborts everything planned since the last commit, and releases partitions that may belong to other members already.
  ///
  /// - Parameter partitions: The partitions that are gone.
  public func lost(_ partitions: [KafkaTopicPartition]) {
    report.rebalanced(.lost, partitions)
    follow(.lost(partitions.map(\.partition)))
  }
}
