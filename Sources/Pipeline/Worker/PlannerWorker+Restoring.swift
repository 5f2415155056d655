import Domain
import Installation
import KafkaClient
import Planning

extension PlannerWorker {
  /// Moves a partition to its first state, `waiting`: it will be paused and restored before any of its records is
  /// planned.
  ///
  /// - Parameters:
  ///   - partition: The number of the partition.
  ///   - next: The earliest instant at which to ask the broker about earlier owners; nil to ask at once.
  func wait(for partition: Int32, _ clients: PlannerClients, from next: Duration? = nil) {
    cancelRestore(of: partition, clients)
    let now = clock.elapsed
    partitions.wait(for: partition, OwnerWait(since: now, next: next ?? now))
  }

  /// Stops reading the state of a partition. Failures are logged: the reader drops records of partitions that are not being
  /// restored.
  func cancelRestore(of partition: Int32, _ clients: PlannerClients) {
    do throws(KafkaError) { try clients.reader.cancel(partition) } catch { report.ignored(error) }
  }

  /// Returns the partition of `rouse.log` with a given number.
  func topic(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: settings.topics.log, partition: partition)
  }

  /// Pauses the partitions that were assigned, or moved back to `waiting`, since the last call.
  ///
  /// - Throws: `KafkaError` of the consumer.
  func pauseAssigned(_ clients: PlannerClients) throws(KafkaError) {
    let paused = partitions.takePauses().map(topic)
    if !paused.isEmpty { try clients.consumer.pause(paused) }
  }

  /// Advances the restore of each partition by one step. Transient failures are retried after a second.
  ///
  /// - Parameter isIdle: Whether the worker has no other work.
  /// - Throws: `PipelineError` for a permanent failure.
  func restore(_ clients: PlannerClients, isIdle: Bool) throws(PipelineError) {
    guard partitions.areRestoring else { return }
    do throws(PipelineError) {
      try PipelineError.ofKafka { () throws(KafkaError) in try awaitEarlierOwners(clients) }
      guard !clients.reader.isIdle else { return }
      let restores = try PipelineError.ofKafka { () throws(KafkaError) in
        try clients.reader.step(timeout: .milliseconds(isIdle ? 20 : 0))
      }
      for restore in restores { try complete(restore, clients) }
    } catch {
      guard case .kafka(let cause) = error, cause.isRetriable, !cause.isFatal else { throw error }
      report.restoreFailed(cause)
      for partition in partitions.restoring {
        wait(for: partition, clients, from: clock.elapsed + .seconds(1))
      }
    }
  }

  private func awaitEarlierOwners(_ clients: PlannerClients) throws(KafkaError) {
    let arePlanning = partitions.arePlanning
    for partition in partitions.numbers {
      guard case .waiting(let wait) = partitions.lives[partition], wait.next <= clock.elapsed,
        schedule.mayAsk(whilePlanning: arePlanning, at: clock.elapsed)
      else { continue }
      let began = clock.elapsed
      try awaitEarlierOwners(of: partition, wait, clients)
      schedule.asked(from: began, to: clock.elapsed)
    }
  }

  /// Asks for the group's stable offset. The broker returns it only when no transaction has a pending offset, that is, when no
  /// earlier owner can still commit.
  private func awaitEarlierOwners(
    of partition: Int32, _ wait: OwnerWait, _ clients: PlannerClients
  ) throws(KafkaError) {
    do throws(KafkaError) {
      _ = try clients.consumer.committed([topic(partition)], timeout: wait.timeout)
    } catch {
      guard error.isRetriable, clock.elapsed - wait.since < settings.planner.transactionTimeout * 4 else {
        throw error
      }
      partitions.take(.unsettled(at: clock.elapsed), for: partition)
      return
    }
    let leftOut = partitions.leftOut(of: partition)
    let restore = PartitionRestore(partition: partition, at: clock.elapsed, leavingOut: leftOut) {
      [settings, makeHashKey] in
      PlannerRestore(
        partition: partition, partitionCount: clients.partitionCount, bounds: settings.bounds, hashKey: makeHashKey())
    }
    partitions.take(.settled(restore), for: partition)
    try clients.reader.begin(restore)
  }

  private func complete(_ restore: PartitionRestore, _ clients: PlannerClients) throws(PipelineError) {
    let partition = restore.partition
    if let error = restore.firstUnreadable { return stop(partition, at: error) }
    if restore.isSpoilt { return try readAgain(restore, because: nil, clients) }
    let processor: PartitionProcessor
    do throws(StateRecordError) {
      processor = try restore.finish(initialPolicy: initialPolicy, recorder: makeRecorder())
    } catch {
      guard restore.snapshot != nil else { return stop(partition, at: error) }
      return try readAgain(restore, because: error.description, clients)
    }
    if let snapshot = restore.snapshot, snapshot.birth != processor.position.birth {
      return try readAgain(restore, because: "it belongs to another log of the same name", clients)
    }
    try PipelineError.ofKafka { () throws(KafkaError) in
      // The consumer may have read records that were dropped during the restore. If the seek fails the partition must not
      // plan: it would continue behind those.
      try clients.consumer.seek(
        topic(partition), to: processor.isNew ? .beginning : .at(processor.position.nextOffset))
      try clients.consumer.resume([topic(partition)])
    }
    partitions.take(.restored(processor), for: partition)
    snapshots?.restored(partition, from: restore.snapshot)
    let time = clock.elapsed - restore.began
    published.restores[partition] = (time / .seconds(1), restore.snapshot == nil ? .topic : .snapshot)
    report.restored(processor, by: restore, in: time)
  }

  /// Reads the state of a partition again, from the topic. A reason says why its snapshot proved unusable; it is nil if
  /// the snapshot is not to blame.
  private func readAgain(
    _ restore: PartitionRestore, because reason: String?, _ clients: PlannerClients
  ) throws(PipelineError) {
    try PipelineError.ofKafka { () throws(KafkaError) in try clients.reader.again(restore, because: reason) }
  }

  /// Returns the end of a partition of `rouse.state` for its next snapshot; nil, with a warning, when the broker does not
  /// return it. Then no snapshot is begun.
  func stateEnd(of partition: Int32, _ clients: PlannerClients) -> Int64? {
    guard snapshots != nil else { return nil }
    do throws(KafkaError) {
      return try clients.reader.end(of: partition)
    } catch {
      report.noSnapshot(of: partition, error)
      return nil
    }
  }
}
