import Installation
import KafkaClient
import Logging
import Observing
import Planning

/// Keeps a local snapshot of each partition that a planner thread owns. If writing a snapshot fails, only this snapshot
/// is lost; planning continues.
///
///     none ── a commit, when it is due ──► writing ── last slice ──► written ── next commit ──► none, put in place
///                                             │ abort, release, failure │
///                                             └──► none, discarded ◄────┘
///
/// A snapshot is written in slices between two pieces of planning. It is put in place by the first commit after the last
/// slice. So it holds nothing that was not committed, and no other owner of the partition committed anything before its
/// end of `rouse.state` was asked: the broker would have refused the later commit.
final class SnapshotKeeper {
  /// A snapshot that is not in place yet.
  private struct Writing {
    var writer: SnapshotWriter
    var processor: PartitionProcessor
    /// The instant and the wall clock when it was begun.
    var begun: Duration
    var begunAt: Int64
    var walk = StateWalk()
    var isWritten = false
  }

  private let settings: PipelineSettings
  private let store: any SnapshotStore
  private let clock: any StageClock
  private let logger: Logger
  private let counters: PipelineCounters
  private var writing: [Int32: Writing] = [:]
  /// The instant when the last snapshot of each partition was begun.
  private var begun: [Int32: Duration] = [:]
  /// The newest snapshot of each partition that was put in place, or was the source of its restore.
  private(set) var newest: [Int32: PipelineStatus.NewestSnapshot] = [:]
  /// The most records of one slice. Writing a slice takes about 2 ms.
  private static let sliceRecordsMax = 1000

  /// Makes the keeper of a planner thread.
  ///
  /// - Parameters:
  ///   - settings: The names of the partitions, and the interval.
  ///   - store: The place of the snapshots.
  ///   - clock: The thread's clock.
  ///   - logger: Logs failures.
  init(
    settings: PipelineSettings, store: any SnapshotStore, clock: any StageClock, logger: Logger,
    counters: PipelineCounters
  ) {
    self.settings = settings
    self.store = store
    self.clock = clock
    self.logger = logger
    self.counters = counters
  }

  /// The partitions with a snapshot that is not in place yet, in ascending order.
  var partitions: [Int32] { writing.keys.sorted() }

  /// Notes that a partition was restored and is planned from this instant on. Its next snapshot is due a
  /// `snapshotInterval` later.
  ///
  /// - Parameters:
  ///   - partition: The number of the partition.
  ///   - snapshot: The snapshot that it was restored from; nil if it was restored from the topic.
  func restored(_ partition: Int32, from snapshot: SnapshotHeader?) {
    begun[partition] = clock.elapsed
    newest[partition] = snapshot.map { PipelineStatus.NewestSnapshot(begunAt: $0.begunAt) }
  }

  /// Handles a commit: completes a snapshot that was fully written before it, or begins the next one when it is due.
  ///
  /// - Parameters:
  ///   - processor: The partition, all of which is committed.
  ///   - end: Returns the current end of the partition in `rouse.state`; nil if the broker does not tell it.
  func committed(_ processor: PartitionProcessor, end: () -> Int64?) {
    let partition = processor.partition
    if let current = writing[partition] {
      if current.isWritten { finish(partition, current) }
      return
    }
    guard clock.elapsed - begun[partition, default: .zero] >= settings.planner.snapshotInterval else { return }
    begun[partition] = clock.elapsed
    guard let end = end() else { return }
    attempt(partition) { () throws(SnapshotError) in
      writing[partition] = try begin(processor, end)
    }
  }

  /// Writes the next slice of one unfinished snapshot; does nothing if there is none.
  func writeOn() {
    guard let partition = writing.keys.filter({ writing[$0]?.isWritten == false }).min(),
      var current = writing[partition]
    else { return }
    attempt(partition) { () throws(SnapshotError) in
      current.isWritten = try Self.write(&current.walk, of: current.processor, to: current.writer, Self.sliceRecordsMax)
      writing[partition] = current
    }
  }

  /// Writes a whole snapshot at once, for the next start.
  ///
  /// - Parameters:
  ///   - processor: The partition, all of which is committed.
  ///   - stateOffset: The end of the partition's state. The broker has confirmed since it was asked that this thread
  ///     owns the partition.
  func writeWhole(_ processor: PartitionProcessor, stateOffset: Int64) {
    discard(processor.partition)
    attempt(processor.partition) { () throws(SnapshotError) in
      var current = try begin(processor, stateOffset)
      while try !Self.write(&current.walk, of: processor, to: current.writer, 10_000) {}
      finish(processor.partition, current)
    }
  }

  /// Discards the unfinished snapshot of a partition that was released.
  ///
  /// - Parameter partition: The number of the partition.
  func release(_ partition: Int32) {
    discard(partition)
    (begun[partition], newest[partition]) = (nil, nil)
  }

  /// Discards all unfinished snapshots, because the state in them may never be committed.
  func discardAll() {
    for partition in writing.keys { discard(partition) }
  }

  private func discard(_ partition: Int32) {
    writing.removeValue(forKey: partition)?.writer.discard()
  }

  private func begin(_ processor: PartitionProcessor, _ end: Int64) throws(SnapshotError) -> Writing {
    let state = KafkaTopicPartition(topic: settings.topics.state, partition: processor.partition)
    let (begun, begunAt) = (clock.elapsed, clock.wallMicroseconds)
    let writer = try SnapshotWriter(
      try store.create(SnapshotHeader.name(state)),
      SnapshotHeader(
        state: state, stateOffset: end, begunAt: begunAt, birth: processor.position.birth, sizes: processor.sizes))
    return Writing(writer: writer, processor: processor, begun: begun, begunAt: begunAt)
  }

  private static func write(
    _ walk: inout StateWalk, of processor: PartitionProcessor, to writer: SnapshotWriter, _ recordsMax: Int
  ) throws(SnapshotError) -> Bool {
    var failure: SnapshotError?
    let done = processor.writeState(from: &walk, recordsMax: recordsMax) { key, value in
      guard failure == nil, let value else { return }
      do throws(SnapshotError) { try writer.add(key: key, value: value) } catch { failure = error }
    }
    if let failure { throw failure }
    return done
  }

  private func finish(_ partition: Int32, _ current: Writing) {
    writing[partition] = nil
    attempt(partition) { () throws(SnapshotError) in
      try current.writer.commit()
      counters.partitions.snapshotsWritten.add(1)
      newest[partition] = PipelineStatus.NewestSnapshot(
        begunAt: current.begunAt, seconds: (clock.elapsed - current.begun) / .seconds(1))
      logger.debug("snapshot written", metadata: ["partition": "\(partition)"])
    }
  }

  private func attempt(_ partition: Int32, _ work: () throws(SnapshotError) -> Void) {
    do throws(SnapshotError) {
      try work()
    } catch {
      discard(partition)
      logger.warning("a local snapshot failed", metadata: ["partition": "\(partition)", "error": "\(error)"])
    }
  }
}
