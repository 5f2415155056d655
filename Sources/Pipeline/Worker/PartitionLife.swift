import Domain
import Planning
import Policies

/// What a planner thread does with a log partition that the group gave to it.
///
///     assigned ──► waiting ──► restoring ──► planning ──► revoked or lost: let go
///                     ▲           │ failed      │ what is open was aborted
///                     └───────────┴─────────────┘
///
/// Each partition is at its own place: one that is being restored does not hold up the others.
enum PartitionLife {
  /// Until no earlier owner can commit any more. From the moment the partition was given to this worker the group
  /// refuses the offsets of an owner before it; one whose offsets were accepted earlier, and that stopped before the
  /// end of its transaction, may still end it.
  case waiting(Waiting)
  /// Its state is being read.
  case restoring(PartitionRestore)
  /// It decides.
  case planning(PartitionProcessor)

  struct Waiting {
    var since: Duration
    /// When to ask the broker again.
    var next: Duration
    /// How long one question may take; other partitions wait meanwhile, so it grows from a short one.
    var timeout = Duration.milliseconds(250)
    static let timeoutMax = Duration.seconds(2)
  }

  var processor: PartitionProcessor? { if case .planning(let processor) = self { processor } else { nil } }
}

/// One partition whose planner is being put together: from a local snapshot where there is a good one and the rest from
/// `rouse.state`, else all of it from there.
final class PartitionRestore {
  enum Source {
    case snapshot(SnapshotReader)
    case topic
  }

  let partition: Int32
  let began: Duration
  fileprivate(set) var source: Source = .topic
  /// What the snapshot says of itself, once it has been read.
  private(set) var snapshot: SnapshotHeader?
  private(set) var records: PlannerRestore
  private let empty: () -> PlannerRestore
  /// Offset of `rouse.state` to read up to, and how far it is.
  var end: Int64 = 0
  var reached: Int64 = 0
  /// When the last record came.
  var progressed: Duration
  /// A record that does not read.
  var unreadable: BinaryError?
  private(set) var snapshotRecords = 0
  private(set) var topicRecords = 0
  private var firstOffset: Int64?

  init(partition: Int32, at now: Duration, _ empty: @escaping () -> PlannerRestore) {
    self.partition = partition
    began = now
    progressed = now
    self.empty = empty
    records = empty()
  }

  /// Begins with a snapshot.
  func use(_ reader: SnapshotReader) {
    source = .snapshot(reader)
    records.reserve(reader.header.sizes)
  }

  /// Takes some blocks of the snapshot.
  /// - Returns: whether it is read whole.
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

  /// Forgets what was read of a snapshot that is not to be trusted.
  func discardSnapshot() {
    records = empty()
    snapshot = nil
    unreadable = nil
    snapshotRecords = 0
    topicRecords = 0
    firstOffset = nil
    source = .topic
    reached = 0
  }

  /// Takes a record of `rouse.state`.
  /// - Throws: for a record that does not read. The restore is then of no use.
  func add(key: [UInt8], value: [UInt8]?, at offset: Int64) throws(BinaryError) {
    try records.add(key: key, value: value)
    topicRecords += 1
    let first = firstOffset ?? offset
    firstOffset = first
    guard snapshot == nil, topicRecords >= Self.reserveMin, topicRecords & (topicRecords - 1) == 0 else { return }
    // As many to a stretch of the topic as so far, and at most twice as many: the rest may only repeat them.
    let read = Double(offset - first + 1)
    records.reserve(records.sizes.scaled(by: min(2, (read + Double(max(0, end - offset))) / read)))
  }

  /// Records of the topic from which on, whenever they have doubled, room is made for what is still to come.
  private static let reserveMin = 1 << 14

  /// Puts the planner together. The restore is used up.
  func finish(partitionCount: Int32, initialPolicy: Policy) throws(BinaryError) -> PartitionProcessor {
    if let unreadable { throw unreadable }
    let all = records
    records = empty()
    let processor = try PartitionProcessor(
      partition: partition, partitionCount: partitionCount, restoring: all, initialPolicy: initialPolicy)
    processor.isNew = snapshotRecords + topicRecords == 0
    return processor
  }
}
