import Domain
import JSON
import Planning
import Policies

/// One log partition in this process: its planner and its position, without any I/O. What it is given becomes records
/// in an `OutputBatch`; who writes them, and when, is the worker's business. A class, because a second reference to a
/// planner's tables would make the next change copy them.
final class PartitionProcessor {
  let partition: Int32
  private(set) var planner: Planner
  private(set) var position: PlannerPosition
  /// Whether anything happened since the last `takeState`.
  private(set) var isDirty = false
  /// Counts since the start: records that had been decided before, registrations taken over.
  private(set) var recordsSkipped = 0
  private(set) var registrations = 0
  /// Whether the partition had no state at all.
  var isNew = false
  /// What an operator should hear of the last step.
  var problems: [String] { output.problems }
  private var output = PlannerOutput()
  private var writer = JSONWriter(reserving: 4096)
  private var decisionWriter = DecisionWriter()
  private var current: (origin: Origin?, offset: Int64)?

  init(partition: Int32, planner: Planner, position: PlannerPosition) {
    self.partition = partition
    self.planner = planner
    self.position = position
  }

  /// From the state records of the partition.
  init(
    partition: Int32, partitionCount: Int32, restoring restore: consuming PlannerRestore, initialPolicy: Policy
  ) throws(BinaryError) {
    let bytes = restore.take(PlannerPosition.key)
    position = try bytes.map { bytes throws(BinaryError) in try PlannerPosition(bytes: bytes) } ?? PlannerPosition()
    planner = try restore.finish(initialPolicy: initialPolicy)
    self.partition = partition
  }

  /// Starts on a log record. `step` until it says true.
  /// - Throws: for bytes that are no log record. The record is then passed over.
  func begin(_ bytes: [UInt8], offset: Int64, timestamp: Int64) throws(BinaryError) {
    precondition(planner.isIdle, "a log record begins when the one before it is done")
    guard offset >= position.nextOffset else {
      // Read again after a seek: decided before.
      recordsSkipped += 1
      return
    }
    let cursor = offset == position.nextOffset ? position.cursor : nil
    let record: LogRecord
    do throws(BinaryError) {
      record = try LogRecord(bytes: bytes)
    } catch {
      // A newer release wrote it: it must be there for the upgraded program. Anything else is passed over.
      if case .newerVersion = error { throw error }
      pass(offset)
      throw error
    }
    pass(offset)
    if cursor == nil, let origin = record.origin, position.isRepeated(origin) {
      recordsSkipped += 1
      return
    }
    if let origin = record.origin { position.note(origin) }
    if case .registration = record.content { registrations += 1 }
    current = (record.origin, offset)
    if let cursor {
      planner.resume(record.content, offset: offset, timestamp: timestamp, at: cursor)
    } else {
      planner.begin(record.content, offset: offset, timestamp: timestamp)
    }
  }

  private func pass(_ offset: Int64) {
    isDirty = true
    position.cursor = nil
    position.nextOffset = offset + 1
  }

  /// Goes on with the record in hand.
  /// - Returns: whether it is done.
  func step(into batch: inout OutputBatch, decisionsMax: Int) -> Bool {
    guard !planner.isIdle else {
      output.removeAll()
      return true
    }
    let done = planner.advance(into: &output, decisionsMax: decisionsMax)
    for i in 0..<output.decisionCount {
      writer.reset()
      decisionWriter.write(i, of: output, by: planner, to: &writer)
      batch.append(.decisions, value: writer.bytes[...]) { planner.appendDeviceID(ofDecision: i, of: output, to: &$0) }
    }
    for i in 0..<output.commandCount {
      writer.reset()
      decisionWriter.write(command: i, of: output, by: planner, to: &writer)
      batch.append(.commands, value: writer.bytes[...]) { planner.appendDeviceID(ofCommand: i, of: output, to: &$0) }
    }
    position.cursor = done ? nil : planner.cursor
    if !done, let current { position.nextOffset = current.offset }
    if done, let current { position.nextOffset = current.offset + 1 }
    return done
  }

  /// Appends what changed since the last call, the position last.
  func takeState(into batch: inout OutputBatch) {
    guard isDirty else { return }
    let destination = OutputBatch.Destination.state(partition)
    planner.takeChanges { key, value in batch.append(destination, key: key, value: value) }
    batch.append(destination, key: PlannerPosition.key, value: position.encoded()[...])
    isDirty = !planner.isIdle
  }
}
