import Domain
import Installation
import KafkaClient

/// Reads the state of log partitions from `rouse.state`, committed records only, several partitions at a time and in
/// slices, so that the thread can plan other partitions in between.
///
/// A planner that died may have left a transaction open. Its records lie before the end of the partition that an
/// uncommitted reader sees. So a take-over reads until the committed end has reached that end: it waits until the
/// broker has ended the open transaction, and never starts from a state that is about to change.
///
/// Belongs to the worker's thread. Its consumers are made with the first restore.
final class StateReader {
  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private let store: (any SnapshotStore)?
  /// The longest wait for the next record of a partition that was not read to its end. After it the restore fails, and
  /// is tried again.
  private let patience: Duration
  private let report: PlannerReport
  private var consumer: (any ClusterConsumer)?
  /// The consumer that sees the real ends of partitions, because it also reads uncommitted records.
  private var ends: (any ClusterConsumer)?
  private var restores: [Int32: PartitionRestore] = [:]
  /// The partitions that `consumer` reads.
  private var assigned: Set<Int32> = []
  /// The most records that one step reads from the topic, each a chunk of up to some hundred devices. With `blocksMax` it keeps a
  /// step at about 30 ms.
  private static let recordsMax = 128
  /// The most blocks that one step reads from each snapshot.
  private static let blocksMax = 8

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - settings: The topics, and how to reach Kafka.
  ///   - cluster: Makes the consumers.
  ///   - clock: The thread's clock.
  ///   - store: The store of local snapshots; nil if there is none.
  ///   - report: Logs snapshots that are not used.
  init(
    settings: PipelineSettings, cluster: any Cluster, clock: any StageClock, store: (any SnapshotStore)?,
    report: PlannerReport
  ) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
    self.store = store
    self.report = report
    patience = settings.planner.transactionTimeout * 4
  }

  /// Whether nothing is being restored.
  var isIdle: Bool { restores.isEmpty }

  /// The partitions that are being restored, in ascending order.
  var partitions: [Int32] { restores.keys.sorted() }

  /// Begins to restore a partition.
  ///
  /// - Parameter restore: The restore, which has read nothing.
  /// - Throws: `KafkaError` of the consumers.
  func begin(_ restore: PartitionRestore) throws(KafkaError) {
    restores[restore.partition] = restore
    restore.end = try end(of: restore.partition)
    if restore.end > 0, let reader = snapshot(of: restore) {
      restore.use(reader)
    } else {
      try readTopic(restore)
    }
  }

  /// Stops reading a partition. Does nothing for a partition that is not being restored.
  ///
  /// - Parameter partition: The number of the partition.
  /// - Throws: `KafkaError` of the consumer.
  func cancel(_ partition: Int32) throws(KafkaError) {
    restores[partition] = nil
    try unassign(partition)
  }

  /// Reads the next part of every partition that is being restored.
  ///
  /// - Parameter timeout: The longest wait for records if none is there.
  /// - Returns: The restores that are complete, in the order of their partitions.
  /// - Throws: `KafkaError` of the consumer, or `timedOut` for a partition without progress.
  func step(timeout: Duration) throws(KafkaError) -> [PartitionRestore] {
    var isReadingSnapshot = false
    for restore in restores.values.sorted(by: { $0.partition < $1.partition }) {
      guard case .snapshot(let reader) = restore.source else { continue }
      isReadingSnapshot = true
      try step(restore, reader)
    }
    if let consumer, !assigned.isEmpty {
      try take(consumer.poll(maxMessages: Self.recordsMax, timeout: isReadingSnapshot ? .zero : timeout))
    }
    var complete: [PartitionRestore] = []
    for restore in restores.values.sorted(by: { $0.partition < $1.partition }) {
      guard case .topic = restore.source else { continue }
      if restore.reached >= restore.end {
        try cancel(restore.partition)
        complete.append(restore)
      } else if clock.elapsed - restore.progressed > patience {
        throw gaveUp(restore)
      }
    }
    return complete
  }

  /// Reads a partition again from the topic, after its snapshot proved unusable, or without records that were replaced.
  ///
  /// - Parameters:
  ///   - restore: The restore, which has read everything.
  ///   - reason: The reason why the snapshot is not used, for the log; nil if the snapshot is not the reason.
  /// - Throws: `KafkaError` of the consumer.
  func again(_ restore: PartitionRestore, because reason: String?) throws(KafkaError) {
    if let reason { report.snapshotDiscarded(of: restore.partition, because: reason) }
    restore.startOver()
    restores[restore.partition] = restore
    try readTopic(restore)
  }

  /// Returns the end of a partition of `rouse.state`, records of open transactions included.
  ///
  /// - Parameter partition: The number of the partition.
  /// - Throws: `KafkaError` if the broker does not answer within half a minute.
  func end(of partition: Int32) throws(KafkaError) -> Int64 {
    let ends: any ClusterConsumer
    if let kept = self.ends {
      ends = kept
    } else {
      ends = try cluster.consumer(
        settings.client(["group.id": settings.cluster.plannerGroup, "isolation.level": "read_uncommitted"]),
        listener: nil
      )
      self.ends = ends
    }
    return try retrying(clock: clock) { () throws(KafkaError) in
      try ends.watermarks(of: topic(partition), timeout: .seconds(10)).high
    }
  }

  /// Closes the consumers.
  func close() {
    consumer?.close(timeout: .seconds(2))
    ends?.close(timeout: .seconds(2))
    consumer = nil
    ends = nil
    restores = [:]
    assigned = []
  }

  /// Checks what must hold between two steps.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations = assigned.subtracting(restores.keys).sorted().map { "partition \($0) is read for no restore" }
    for (partition, restore) in restores.sorted(by: { $0.key < $1.key }) {
      if case .snapshot = restore.source, assigned.contains(partition) {
        violations.append("partition \(partition) is read from its snapshot and the topic at once")
      }
      violations += restore.checkInvariants()
    }
    return violations
  }

  // MARK: Topic

  private func topic(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: settings.topics.state, partition: partition)
  }

  private func readTopic(_ restore: PartitionRestore) throws(KafkaError) {
    restore.progressed = clock.elapsed
    guard restore.reached < restore.end else { return }
    let consumer: any ClusterConsumer
    if let kept = self.consumer {
      consumer = kept
    } else {
      consumer = try cluster.consumer(
        settings.client(
          [
            "group.id": settings.cluster.plannerGroup, "isolation.level": "read_committed",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true", "auto.offset.reset": "earliest",
          ],
          defaults: [
            "fetch.wait.max.ms": "50", "fetch.message.max.bytes": "4194304", "queued.min.messages": "1000000",
            "queued.max.messages.kbytes": "65536",
          ]), listener: nil)
      self.consumer = consumer
    }
    try consumer.incrementalAssign([
      topic(restore.partition): restore.reached > 0 ? .at(restore.reached) : .beginning
    ])
    assigned.insert(restore.partition)
  }

  private func unassign(_ partition: Int32) throws(KafkaError) {
    guard assigned.remove(partition) != nil else { return }
    try consumer?.incrementalUnassign([topic(partition)])
  }

  private func take(_ batch: KafkaBatch) throws(KafkaError) {
    let now = clock.elapsed
    for message in batch.messages {
      guard let restore = restores[message.partition] else { continue }
      if let key = message.key { restore.add(key: key, value: message.value, at: message.offset) }
      restore.reached = max(restore.reached, message.offset + 1)
      restore.progressed = now
    }
    for case .error(let error) in batch.events {
      if error.code.refusesPrincipal { throw error }
      report.unreadableState(error)
    }
    for case .partitionEnd(let position) in batch.events {
      guard let restore = restores[position.partition.partition] else { continue }
      restore.reached = max(restore.reached, position.offset)
    }
  }

  private func gaveUp(_ restore: PartitionRestore) -> KafkaError {
    KafkaError(
      code: .timedOut,
      message: "read up to \(restore.reached) of \(restore.end): a transaction of an earlier owner is still open",
      operation: "restoring \(topic(restore.partition))", isRetriable: true)
  }

  // MARK: Snapshot

  private func snapshot(of restore: PartitionRestore) -> SnapshotReader? {
    guard let store else { return nil }
    do throws(SnapshotError) {
      guard let source = try store.open(SnapshotHeader.name(topic(restore.partition))) else { return nil }
      let reader = try SnapshotReader(source)
      try reader.header.check(
        state: topic(restore.partition), end: restore.end, wallMicroseconds: clock.wallMicroseconds)
      return reader
    } catch {
      report.snapshotDiscarded(of: restore.partition, because: error.description)
      return nil
    }
  }

  private func step(_ restore: PartitionRestore, _ reader: SnapshotReader) throws(KafkaError) {
    do throws(SnapshotError) {
      guard try restore.readSnapshot(reader, blocksMax: Self.blocksMax) else { return }
    } catch {
      report.snapshotDiscarded(of: restore.partition, because: error.description)
      restore.startOver()
    }
    try readTopic(restore)
  }
}
