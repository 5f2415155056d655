import KafkaClient

/// The log partitions that the group assigned to one planner thread, each with its state. Holds no client: the worker performs
/// the action that follows from a transition.
struct OwnedPartitions {
  /// The states of the owned partitions, by the number of the partition.
  private(set) var lives: [Int32: PartitionLife] = [:]
  /// Partitions that the consumer must pause before it is polled again, because their state must be restored first.
  /// They cannot be paused in the rebalance callback: librdkafka assigns them after it.
  private var unpaused: Set<Int32> = []

  /// The records whose output the broker may refuse, by partition. They are kept while a partition is restored, because
  /// every refusal ends in an abort, and forgotten when it is released. Nearly always empty.
  private var watches: [Int32: RefusalWatch] = [:]
  /// The offsets of state records that operators ordered to leave out, by partition. They are kept while the partition
  /// is restored, and forgotten when it is released. Nearly always empty.
  private var leftOut: [Int32: Set<Int64>] = [:]

  /// The numbers of the owned partitions, in ascending order.
  var numbers: [Int32] { lives.keys.sorted() }

  /// The planners of the partitions that are `planning`, or that stop before a log record, in ascending order of their partitions.
  var processors: [PartitionProcessor] { numbers.compactMap { lives[$0]?.processor } }

  /// Whether at least one partition has a planner.
  var arePlanning: Bool { lives.values.contains { $0.processor != nil } }

  /// Whether a planner has changes that the next commit writes.
  var areUncommitted: Bool { lives.values.contains { $0.processor?.isDirty == true } }

  /// Whether at least one partition is `waiting` or `restoring`.
  var areRestoring: Bool { lives.values.contains { $0.processor == nil && $0.stop == nil } }

  /// The partitions that are `waiting` or `restoring`, in ascending order.
  var restoring: [Int32] { numbers.filter { lives[$0]?.processor == nil && lives[$0]?.stop == nil } }

  /// Whether at least one partition is `stopped`.
  var areStopped: Bool { lives.values.contains { $0.stop != nil } }

  /// The records that stop partitions, in ascending order of these.
  var stops: [StoppedPartition] { numbers.compactMap { lives[$0]?.stop } }

  /// Returns what has stopped a partition for so long that the log is to say so again, in ascending order of the partitions.
  mutating func takeReminders(at now: Duration) -> [StoppedPartition] {
    var due: [StoppedPartition] = []
    for number in numbers {
      guard var stop = lives[number]?.stop, stop.nextReminder <= now else { continue }
      due.append(stop)
      stop.nextReminder = now + StoppedPartition.reminderInterval
      lives[number] = .stopped(stop)
    }
    return due
  }

  /// Moves a partition to its first state: one that was just assigned, or one whose memory is invalid.
  ///
  /// - Parameters:
  ///   - partition: The number of the partition.
  ///   - wait: The instant from which on the broker is asked about earlier owners.
  mutating func wait(for partition: Int32, _ wait: OwnerWait) {
    if lives[partition] == nil { lives[partition] = .waiting(wait) } else { take(.voided(wait), for: partition) }
    unpaused.insert(partition)
  }

  /// Applies an input to an owned partition. The input must be legal (see `PartitionLife`).
  ///
  /// - Parameters:
  ///   - input: The event that happened.
  ///   - partition: The number of the partition.
  mutating func take(_ input: PartitionLife.Input, for partition: Int32) {
    guard let next = lives[partition]?.after(input) else {
      preconditionFailure("partition \(partition) cannot take \(input) in \(String(describing: lives[partition]))")
    }
    lives[partition] = next
  }

  /// Forgets a partition that was revoked or lost.
  ///
  /// - Parameter partition: The number of the partition.
  mutating func release(_ partition: Int32) {
    lives[partition] = nil
    watches[partition] = nil
    leftOut[partition] = nil
    unpaused.remove(partition)
  }

  /// Returns the partitions to pause now, in ascending order. They count as paused afterwards.
  mutating func takePauses() -> [Int32] {
    defer { unpaused.removeAll() }
    return unpaused.sorted()
  }

  /// Notes that a state record is to be left out.
  ///
  /// - Parameters:
  ///   - offset: The offset of the record.
  ///   - partition: The number of the partition.
  mutating func leaveOut(_ offset: Int64, of partition: Int32) { leftOut[partition, default: []].insert(offset) }

  /// Returns the offsets of the state records that are to be left out.
  func leftOut(of partition: Int32) -> Set<Int64> { leftOut[partition] ?? [] }

  /// Notes that the broker refused a record of the transaction for its size or content. Call it before the abort.
  ///
  /// - Parameter code: The code of the refusal.
  mutating func noteRefusal(_ code: KafkaErrorCode) {
    let taken = processors.compactMap { processor in processor.uncommitted.map { (processor.partition, $0) } }
    for (partition, records) in taken {
      watches[partition, default: RefusalWatch()].note(records, isAlone: taken.count == 1, code)
    }
  }

  /// Whether the output of a record is to be committed alone, because the broker may refuse it.
  func isWatched(_ offset: Int64, of partition: Int32) -> Bool {
    !watches.isEmpty && watches[partition]?.isWatched(offset) == true
  }

  /// Returns the treatment of the record at an offset; `planned` unless the broker refused its output.
  func treatment(of offset: Int64, of partition: Int32) -> RecordTreatment {
    watches.isEmpty ? .planned : watches[partition]?.treatment(of: offset) ?? .planned
  }

  /// Notes that the output of the record at an offset was committed.
  mutating func committed(_ offset: Int64, of partition: Int32) {
    if let watch = watches[partition], offset >= watch.last { watches[partition] = nil }
  }

  /// Checks what must hold between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    for partition in watches.keys.sorted() where lives[partition] == nil {
      violations.append("partition \(partition) is watched but not owned")
    }
    for partition in unpaused.sorted() {
      guard case .waiting = lives[partition] else {
        violations.append("partition \(partition) is to be paused but does not wait")
        continue
      }
    }
    for (partition, life) in lives.sorted(by: { $0.key < $1.key }) {
      if case .waiting(let wait) = life, wait.timeout > OwnerWait.timeoutMax {
        violations.append("partition \(partition) asks for \(wait.timeout)")
      }
      if case .restoring(let restore) = life, restore.partition != partition {
        violations.append("partition \(partition) restores partition \(restore.partition)")
      }
      guard let processor = life.processor else { continue }
      if processor.partition != partition {
        violations.append("partition \(partition) is planned by the planner of partition \(processor.partition)")
      }
      violations += processor.checkInvariants()
    }
    return violations
  }
}
