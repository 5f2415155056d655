import Domain
import Planning
import Policies

/// One log partition in this process: its planner and its position, without any I/O. What it is given becomes records
/// in an `OutputBatch`; who writes them, and when, is the worker's business. A class, because a second reference to a
/// planner's tables would make the next change copy them.
final class PartitionProcessor {
  let partition: Int32
  private var desk: PlannerDesk
  private(set) var position: PlannerPosition
  /// Whether anything happened since the last `takeState`.
  private(set) var isDirty = false
  /// Counts since the start: records that had been decided before, registrations taken over, policies read.
  private(set) var recordsSkipped = 0
  private(set) var registrations = 0
  private(set) var policies = 0
  /// Whether the partition had no state at all.
  var isNew = false
  /// Payloads of the last step that are near or above the platform's limit.
  var largePayloads: [LargePayload] { desk.largePayloads }
  /// Why the newest policy of the log was not taken over.
  var refusedPolicy: PolicyError? { desk.planner.refusedPolicy }
  /// The policy in force.
  var policy: PolicyReference { desk.planner.policy.reference }
  /// Events of which not every interest key counted.
  var keysLeftOut: KeysLeftOut { desk.planner.keysLeftOut }
  var deviceCount: Int { desk.planner.deviceCount }
  /// What the planner holds.
  var sizes: PlannerSizes { desk.planner.sizes }
  /// What of it traffic made. Looks at everything.
  var census: PlannerCensus { desk.planner.census }
  /// When the planner's next timer is due, µs.
  var nextTimer: Int64? { desk.planner.nextTimer }
  /// Offset of the record in hand, or of the last one.
  private var current: Int64?

  init(partition: Int32, planner: Planner, position: PlannerPosition) {
    self.partition = partition
    desk = PlannerDesk(planner)
    self.position = position
  }

  /// From the state records of the partition.
  init(
    partition: Int32, partitionCount: Int32, restoring restore: consuming PlannerRestore, initialPolicy: Policy
  ) throws(BinaryError) {
    let bytes = restore.take(PlannerPosition.key)
    position = try bytes.map { bytes throws(BinaryError) in try PlannerPosition(bytes: bytes) } ?? PlannerPosition()
    desk = PlannerDesk(try restore.finish(initialPolicy: initialPolicy))
    self.partition = partition
  }

  /// Log records given to it since it was made.
  private(set) var recordsTaken = 0

  /// Whether records between the position and this offset are missing. A log has no gaps; one that begins behind 0 has
  /// been cut by its retention.
  func isJump(to offset: Int64) -> Bool {
    offset > position.nextOffset && !(isNew && recordsTaken == 0)
  }

  /// Starts on a log record. `step` until it says true.
  /// - Throws: for bytes that are no log record. The record is then passed over.
  func begin(_ bytes: [UInt8], offset: Int64, timestamp: Int64) throws(BinaryError) {
    precondition(desk.planner.isIdle, "a log record begins when the one before it is done")
    recordsTaken += 1
    guard offset >= position.nextOffset else {
      // Read again after a seek: decided before.
      recordsSkipped += 1
      return
    }
    let cursor = offset == position.nextOffset ? position.cursor : nil
    let (origin, content): (Origin?, LogRecord.Content)
    do throws(BinaryError) {
      (origin, content) = try LogRecord.parts(of: bytes)
    } catch {
      // A newer release wrote it: it must be there for the upgraded program. Anything else is passed over.
      if case .newerVersion = error { throw error }
      pass(offset)
      throw error
    }
    pass(offset)
    if isNew, position.birth == nil { position.birth = timestamp }
    if let origin, !position.note(origin), cursor == nil {
      recordsSkipped += 1
      return
    }
    switch content {
    case .registration: registrations += 1
    case .policy: policies += 1
    default: break
    }
    current = offset
    if let cursor {
      desk.planner.resume(content, offset: offset, timestamp: timestamp, at: cursor)
    } else {
      desk.planner.begin(content, offset: offset, timestamp: timestamp)
    }
  }

  /// Prepares for records that come next; see `Planner.prefetch`.
  func prefetch(_ hints: [LookUpHint]) { desk.prefetch(hints) }

  private func pass(_ offset: Int64) {
    isDirty = true
    position.cursor = nil
    position.nextOffset = offset + 1
  }

  /// Goes on with the record in hand.
  /// - Parameter logsDecisions: false counts decisions instead of writing them.
  /// - Returns: whether it is done.
  func step(into batch: inout OutputBatch, decisionsMax: Int, logsDecisions: Bool = true) -> Bool {
    guard !desk.planner.isIdle else {
      desk.clear()
      return true
    }
    let done = desk.advance(
      into: &batch, partition: partition, decisionsMax: decisionsMax, logsDecisions: logsDecisions)
    position.cursor = done ? nil : desk.planner.cursor
    if let current { position.nextOffset = done ? current + 1 : current }
    return done
  }

  /// Appends what changed since the last call, the position last.
  func takeState(into batch: inout OutputBatch) {
    guard isDirty else { return }
    let destination = OutputBatch.Destination.state(partition)
    desk.planner.takeChanges { key, value in batch.append(destination, key: key, value: value) }
    batch.append(destination, key: PlannerPosition.key[...], value: position.encoded()[...])
    isDirty = !desk.planner.isIdle
  }

  /// Writes the next part of the whole state, the position last (see `Planner.writeState`).
  func writeState(from walk: inout StateWalk, recordsMax: Int, _ body: StateRecordSink) -> Bool {
    let done = desk.planner.writeState(from: &walk, recordsMax: recordsMax, body)
    if done { body(PlannerPosition.key[...], position.encoded()[...]) }
    return done
  }
}
