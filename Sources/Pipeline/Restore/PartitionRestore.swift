import Domain
import KafkaClient
import Planning
import Policies

/// One partition whose planner is being restored: from a local snapshot, if there is a valid one, and the newer records of
/// `rouse.state`; otherwise from `rouse.state` alone.
///
///     snapshot ── read whole, or discarded ──► topic ── up to `end` ──► finished
///
/// An unreadable record does no harm if a later record has the same key. If all unreadable records were replaced like
/// this, the topic is read once more without them. Otherwise the partition stops until an operator orders to leave the
/// record out.
final class PartitionRestore {
  /// The source that is being read now.
  enum Source {
    case snapshot(SnapshotReader)
    case topic
  }

  /// The number of the partition.
  let partition: Int32
  /// The instant when the restore began, on the thread's clock.
  let began: Duration
  private(set) var source: Source = .topic
  /// The header of the snapshot, once the snapshot has been read whole.
  private(set) var snapshot: SnapshotHeader?
  private(set) var records: PlannerRestore
  private let makeEmpty: () -> PlannerRestore
  /// The end of the partition of `rouse.state`: the restore is complete once everything before this offset was read.
  var end: Int64 = 0
  /// The offset in `rouse.state` of the next record to read.
  var reached: Int64 = 0
  /// The instant when the last record was read, on the thread's clock.
  var progressed: Duration
  /// The offsets of records that operators ordered to leave out.
  private let ordered: Set<Int64>
  /// The offsets of records that cannot be read, and that later records with the same keys replaced.
  private var replaced: Set<Int64> = []
  /// The records that cannot be read and that no later record has replaced so far, by key. A key has its newest such
  /// record.
  private var unreadable: [[UInt8]: StateRecordError] = [:]
  /// Whether a record could not be added in this reading, so that all records must be read again.
  private(set) var isSpoilt = false
  /// The number of records read from the snapshot.
  private(set) var snapshotRecords = 0
  /// The number of records read from the topic.
  private(set) var topicRecords = 0
  private var firstOffset: Int64?
  private var reserveNext = PartitionRestore.reserveMin
  /// The number of records read at which memory for the remaining records is first reserved. It is reserved again each time
  /// the number has grown fourfold.
  private static let reserveMin = 1 << 6
  /// The most of what was read for which memory is reserved at a time: the rest of the topic may only repeat keys. Memory that is reserved
  /// and never written is none of the machine's, but for the indexes, which are the smallest part.
  private static let reserveFactor = 4
  /// The number of keys for which one reading of `rouse.state` notes that a record cannot be read.
  /// - Beyond: the next reading notes the further keys.
  private static let unreadableMax = 256
  /// The number of unreadable state records of one partition that a restore ignores because a later record with the
  /// same key replaced them.
  /// - Beyond: the partition stops at the next unreadable record, as if no later record had replaced it.
  private static let replacedMax = 1 << 20

  /// Makes a restore that has read nothing.
  ///
  /// - Parameters:
  ///   - partition: The number of the partition.
  ///   - now: The present instant.
  ///   - ordered: The offsets of records that operators ordered to leave out.
  ///   - makeEmpty: Makes an empty set of state records; also called when the records are read again.
  init(
    partition: Int32, at now: Duration, leavingOut ordered: Set<Int64> = [], _ makeEmpty: @escaping () -> PlannerRestore
  ) {
    self.partition = partition
    self.ordered = ordered
    began = now
    progressed = now
    self.makeEmpty = makeEmpty
    records = makeEmpty()
  }

  /// Makes a snapshot the source to read first.
  func use(_ reader: SnapshotReader) {
    source = .snapshot(reader)
    records.reserve(reader.sizes)
  }

  /// Reads some blocks of the snapshot.
  ///
  /// - Parameters:
  ///   - reader: The snapshot in use.
  ///   - blocksMax: The most blocks to read.
  /// - Returns: Whether the snapshot has been read whole. Then the topic is next.
  /// - Throws: `SnapshotError` for a snapshot that is damaged; discard it.
  func readSnapshot(_ reader: SnapshotReader, blocksMax: Int) throws(SnapshotError) -> Bool {
    for _ in 0..<blocksMax {
      let more = try reader.nextBlock { (key, value, block) throws(SnapshotError) in
        do throws(BinaryError) { try records.add(key: key, value: value, of: block) } catch {
          throw SnapshotError(description: error.description)
        }
        snapshotRecords += 1
      }
      if !more {
        snapshot = reader.header
        reached = reader.header.stateOffset
        source = .topic
        return true
      }
    }
    return false
  }

  /// Discards everything that was read, to read it again from the topic.
  func startOver() {
    records = makeEmpty()
    snapshot = nil
    unreadable = [:]
    isSpoilt = false
    snapshotRecords = 0
    topicRecords = 0
    reserveNext = Self.reserveMin
    firstOffset = nil
    source = .topic
    reached = 0
  }

  /// The first record that cannot be read and that no later record replaced; nil if there is none.
  var firstUnreadable: StateRecordError? { unreadable.values.min { $0.offset < $1.offset } }

  /// Adds a record of `rouse.state`. One that cannot be read is noted.
  ///
  /// - Parameters:
  ///   - key: The record's key.
  ///   - value: The record's value; nil for a tombstone.
  ///   - offset: The record's offset.
  func add(key: [UInt8], value: [UInt8]?, at offset: Int64) {
    topicRecords += 1
    let first = firstOffset ?? offset
    firstOffset = first
    guard !replaced.contains(offset) else { return }
    if replaced.count < Self.replacedMax, !unreadable.isEmpty, let old = unreadable.removeValue(forKey: key) {
      replaced.insert(old.offset)
    }
    do throws(BinaryError) {
      if ordered.contains(offset), StateKey.isDispensable(key) {
        try records.leaveOut(key)
      } else {
        try records.add(key: key, value: value, at: offset)
      }
    } catch {
      note(StateRecordError(key: key, offset: offset, cause: error))
    }
    guard snapshot == nil, topicRecords >= reserveNext else { return }
    reserveNext *= Self.reserveFactor
    // The estimate assumes as many keys per offset in the rest of the topic. A tenth more spares a table that is slightly too small from
    // growing at the end, when a copy would take most memory.
    let read = Double(offset - first + 1)
    let estimate = (read + Double(max(0, end - offset))) / read * 1.1
    records.reserve(records.sizes.scaled(by: min(Double(Self.reserveFactor), estimate)))
  }

  /// Notes a record that cannot be read, and goes on with an empty set of records, so that one reading finds all such records.
  private func note(_ error: StateRecordError) {
    isSpoilt = true
    records = makeEmpty()
    if unreadable.count < Self.unreadableMax { unreadable[error.key] = error }
  }

  /// Creates the planner from the records. The restore cannot be used afterwards.
  ///
  /// - Parameters:
  ///   - initialPolicy: The policy in force until the log has a policy record.
  ///   - recorder: Writes what the planner decides.
  /// - Returns: The partition, ready to plan.
  /// - Throws: `StateRecordError` for a record that cannot be read.
  func finish(initialPolicy: Policy, recorder: any PlannerRecorder) throws(StateRecordError) -> PartitionProcessor {
    precondition(!isSpoilt, "a restore that lacks records is read again")
    var all = makeEmpty()
    swap(&all, &records)
    return try PartitionProcessor(
      restoring: all, isNew: snapshotRecords + topicRecords == 0, initialPolicy: initialPolicy,
      recorder: recorder)
  }

  /// Checks what must hold between two steps.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    if case .snapshot = source, snapshot != nil || topicRecords > 0 || reached > 0 {
      violations.append("partition \(partition) has read the topic before its snapshot")
    }
    if reached < 0 || end < 0 { violations.append("partition \(partition) is restored to \(reached) of \(end)") }
    if let snapshot, reached < snapshot.stateOffset {
      violations.append("partition \(partition) has read to \(reached), before its snapshot of \(snapshot.stateOffset)")
    }
    return violations
  }
}
