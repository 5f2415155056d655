import Domain
import KafkaClient
import Planning
import Policies

/// One partition whose planner is being restored: from a local snapshot, if there is a valid one, and the newer records of
/// `rouse.state`; otherwise from `rouse.state` alone.
///
///     snapshot ── read whole, or discarded ──► topic ── up to `end` ──► finished
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
  /// The offset of `rouse.state` to read up to.
  var end: Int64 = 0
  /// The offset of `rouse.state` that has been reached.
  var reached: Int64 = 0
  /// The instant when the last record came.
  var progressed: Duration
  /// The error of a record that cannot be decoded; the restore must be discarded.
  var unreadable: BinaryError?
  /// The number of records read from the snapshot.
  private(set) var snapshotRecords = 0
  /// The number of records read from the topic.
  private(set) var topicRecords = 0
  private var firstOffset: Int64?
  /// The number of records read at which memory for the remaining records is first reserved. It is reserved again each time
  /// the number has doubled.
  private static let reserveMin = 1 << 14

  /// Makes a restore that has read nothing.
  ///
  /// - Parameters:
  ///   - partition: The number of the partition.
  ///   - now: The present instant.
  ///   - makeEmpty: Makes an empty set of state records; also called when a snapshot is discarded.
  init(partition: Int32, at now: Duration, _ makeEmpty: @escaping () -> PlannerRestore) {
    self.partition = partition
    began = now
    progressed = now
    self.makeEmpty = makeEmpty
    records = makeEmpty()
  }

  /// Begins with a snapshot.
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

  /// Discards the records read from an invalid snapshot.
  func discardSnapshot() {
    records = makeEmpty()
    snapshot = nil
    unreadable = nil
    snapshotRecords = 0
    topicRecords = 0
    firstOffset = nil
    source = .topic
    reached = 0
  }

  /// Adds a record of `rouse.state`.
  ///
  /// - Parameters:
  ///   - key: The record's key.
  ///   - value: The record's value; nil for a tombstone.
  ///   - offset: The record's offset.
  /// - Throws: `BinaryError` for a record that cannot be decoded; the restore must be discarded.
  func add(key: [UInt8], value: [UInt8]?, at offset: Int64) throws(BinaryError) {
    try records.add(key: key, value: value)
    topicRecords += 1
    let first = firstOffset ?? offset
    firstOffset = first
    guard snapshot == nil, topicRecords >= Self.reserveMin, topicRecords & (topicRecords - 1) == 0 else { return }
    // The estimate assumes as many keys per offset in the rest of the topic, but no more than now: the rest may only repeat
    // keys.
    let read = Double(offset - first + 1)
    records.reserve(records.sizes.scaled(by: min(2, (read + Double(max(0, end - offset))) / read)))
  }

  /// Creates the planner from the records. The restore cannot be used afterwards.
  ///
  /// - Parameters:
  ///   - initialPolicy: The policy in force until the log has a policy record.
  ///   - recorder: Writes what the planner decides.
  /// - Returns: The partition, ready to plan.
  /// - Throws: `BinaryError` if a record could not be decoded.
  func finish(initialPolicy: Policy, recorder: any PlannerRecorder) throws(BinaryError) -> PartitionProcessor {
    if let unreadable { throw unreadable }
    let all = records
    records = makeEmpty()
    return try PartitionProcessor(
      restoring: all, isNew: snapshotRecords + topicRecords == 0, initialPolicy: initialPolicy, recorder: recorder)
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
