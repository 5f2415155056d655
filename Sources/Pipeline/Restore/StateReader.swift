import Domain
import KafkaClient

/// Reads the state of log partitions from `rouse.state`, committed records only, several partitions at a time and in
/// slices, so that the thread can go on planning others in between.
///
/// A planner that died may have left a transaction open. Its records come before the end of the partition as an
/// uncommitted reader sees it, so a take-over reads until the committed end has reached that end: it waits until the
/// broker has ended the open transaction, and never starts from a state that is about to be overtaken.
final class StateReader {
  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private let store: (any SnapshotStore)?
  /// Longest time without a record before the end, beyond which the restore fails (and is tried again).
  private let patience: Duration
  private let notTrusted: (Int32, String) -> Void
  private var consumer: (any ClusterConsumer)?
  /// Sees the real ends of partitions.
  private var ends: (any ClusterConsumer)?
  private var restores: [Int32: PartitionRestore] = [:]
  /// Partitions that `consumer` reads.
  private var assigned: Set<Int32> = []
  /// Work of one step: about 30 ms.
  private static let recordsMax = 10_000
  private static let blocksMax = 8

  /// - Parameter notTrusted: is told of a snapshot that is left aside, and why.
  init(
    settings: PipelineSettings, cluster: any Cluster, clock: any StageClock, store: (any SnapshotStore)?,
    notTrusted: @escaping (Int32, String) -> Void
  ) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
    self.store = store
    self.notTrusted = notTrusted
    patience = settings.planner.transactionTimeout * 4
  }

  var isIdle: Bool { restores.isEmpty }

  /// Begins to restore a partition.
  func begin(_ restore: PartitionRestore) throws(KafkaError) {
    restores[restore.partition] = restore
    restore.end = try end(of: restore.partition)
    if restore.end > 0, let reader = snapshot(of: restore) {
      restore.use(reader)
    } else {
      try readTopic(restore)
    }
  }

  /// Lets go of a partition.
  func cancel(_ partition: Int32) throws(KafkaError) {
    restores[partition] = nil
    try unassign(partition)
  }

  /// Reads on.
  /// - Parameter timeout: how long to wait for records where there are none.
  /// - Returns: restores that are complete, in the order of their partitions.
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

  /// Reads a partition again without its snapshot, which turned out not to belong to the topic.
  func again(_ restore: PartitionRestore, because reason: String) throws(KafkaError) {
    notTrusted(restore.partition, reason)
    restore.discardSnapshot()
    restores[restore.partition] = restore
    try readTopic(restore)
  }

  /// The end of a partition of `rouse.state` as it really is.
  func end(of partition: Int32) throws(KafkaError) -> Int64 {
    let ends: any ClusterConsumer
    if let kept = self.ends {
      ends = kept
    } else {
      ends = try cluster.consumer(
        settings.client(["group.id": "\(settings.group)-restore", "isolation.level": "read_uncommitted"]), listener: nil
      )
      self.ends = ends
    }
    return try retrying(clock: clock) { () throws(KafkaError) in
      try ends.watermarks(of: topic(partition), timeout: .seconds(10)).high
    }
  }

  func close() {
    consumer?.close(timeout: .seconds(2))
    ends?.close(timeout: .seconds(2))
    consumer = nil
    ends = nil
    restores = [:]
    assigned = []
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
            "group.id": "\(settings.group)-restore", "isolation.level": "read_committed", "enable.auto.commit": "false",
            "enable.partition.eof": "true", "auto.offset.reset": "earliest",
          ],
          defaults: [
            "fetch.wait.max.ms": "50", "queued.min.messages": "1000000", "queued.max.messages.kbytes": "32768",
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
      if let key = message.key, restore.unreadable == nil {
        do throws(BinaryError) { try restore.add(key: key, value: message.value, at: message.offset) } catch {
          restore.unreadable = error
        }
      }
      restore.reached = max(restore.reached, message.offset + 1)
      restore.progressed = now
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
      notTrusted(restore.partition, error.description)
      return nil
    }
  }

  private func step(_ restore: PartitionRestore, _ reader: SnapshotReader) throws(KafkaError) {
    do throws(SnapshotError) {
      guard try restore.readSnapshot(reader, blocksMax: Self.blocksMax) else { return }
    } catch {
      notTrusted(restore.partition, error.description)
      restore.discardSnapshot()
    }
    try readTopic(restore)
  }
}
