public import KafkaClient

extension PlannerWorker: KafkaRebalanceListener {
  /// Takes over partitions. They are paused before any record of them is planned; reading continues at the restored
  /// position.
  ///
  /// - Parameter partitions: The new partitions.
  /// - Returns: The beginning of each, which is never read.
  public func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    guard let clients = phase.clients else { return [:] }
    for partition in partitions.sorted() { wait(for: partition.partition, clients) }
    report.rebalanced(.assigned, partitions)
    return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) })
  }

  /// Commits and releases partitions that are about to go to other members.
  ///
  /// - Parameter partitions: The partitions that the group takes away.
  public func revoked(_ partitions: [KafkaTopicPartition]) {
    guard let clients = phase.clients else { return }
    do throws(KafkaError) {
      try commit(clients)
    } catch {
      report.commitBeforeRevocationFailed(error)
      void(clients, because: error)
    }
    release(partitions, clients)
    report.rebalanced(.revoked, partitions)
  }

  /// Aborts, and releases partitions that may belong to other members already.
  ///
  /// - Parameter partitions: The partitions that are gone.
  public func lost(_ partitions: [KafkaTopicPartition]) {
    guard let clients = phase.clients else { return }
    report.rebalanced(.lost, partitions)
    void(clients, because: nil)
    release(partitions, clients)
  }

  private func release(_ released: [KafkaTopicPartition], _ clients: PlannerClients) {
    for partition in released.map(\.partition) {
      cancelRestore(of: partition, clients)
      partitions.release(partition)
      snapshots?.release(partition)
    }
  }

  /// Aborts the open transaction. If even that fails, the worker fails: a callback cannot throw.
  private func void(_ clients: PlannerClients, because error: KafkaError?) {
    abort(clients, because: error)
    guard clients.transaction.state != .idle else { return }
    fail(
      .kafka(
        error
          ?? KafkaError(
            code: .rebalanceInProgress, message: "the records planned since the last commit could not be aborted",
            operation: "handing over partitions", isRetriable: true)))
  }
}
