import Domain
import Planning
import Policies

/// One log partition on this thread: its planner and its position, without any I/O. Turns log records into records of an
/// `OutputBatch`; the worker decides when those are written.
///
/// A record passes in three stages: `begin`, `step` until the outcome says that it is done, and `takeState` before the next
/// commit. It is a class, because the states of a partition's life (`PartitionLife`) hand it over, and a planner cannot be copied.
final class PartitionProcessor {
  /// The number of the log partition.
  let partition: Int32
  /// Whether the partition had no state when this processor was created.
  let isNew: Bool
  /// The planner's position in the log.
  private(set) var position: PlannerPosition
  private var recording: RecordingPlanner
  /// The records that the first commit adds to `rouse.state`. An operator ordered to pass over others, and these take their place
  /// (`PlannerRestore.repairs`).
  private var repairs: [(key: [UInt8], value: [UInt8]?)] = []
  /// Whether the state or the position may have changed since the last `takeState`.
  private(set) var isDirty = false
  /// The number of log records that were handed to `begin` since this processor was created.
  private(set) var recordsTaken = 0
  /// The records taken since the last commit; nil if there are none.
  private(set) var uncommitted: UncommittedRecords?
  /// The offset and the kind of the current record, or of the last one if none is half done; nil before the first.
  private var current: (offset: Int64, kind: LogRecordKind)?
  /// The own time of the event of the current or the last record; nil if that is no event.
  private(set) var eventTime: Timestamp?
  /// The `traceparent` of that event; nil if it has none.
  private(set) var traceparent: String?
  /// The timestamp of the newest record that was handed to `begin`, in µs since 1970. Before the first it is the log time of the state that
  /// was restored, so that the lag is known before a record is planned; nil in a partition without state.
  private(set) var newestTimestamp: Int64?
  /// The planner's count of events with too many interest keys, as it was after the last event.
  private var notedKeysLeftOut = 0
  /// The planner's count of events with a number that is not exact, as it was after the last event.
  private var notedInexactNumbers = 0
  /// The position's next offset at the last `takeState`. The position never falls behind it.
  private var takenOffset: Int64
  /// The position record of the last `takeState`, or the one that was restored; nil before the first.
  private var takenPosition: [UInt8]?
  /// The texts that recur in the records.
  private var texts: RecurringTexts? = RecurringTexts()
  /// The sweeps over the partition.
  private(set) var sweep = PartitionSweep()

  /// Makes a processor from an existing planner.
  ///
  /// - Parameters:
  ///   - planner: The planner, which must be idle.
  ///   - position: The planner's position in its log partition.
  ///   - isNew: Whether the partition has no state.
  ///   - recorder: Writes what the planner decides.
  init(
    planner: consuming Planner, position: PlannerPosition, isNew: Bool = false,
    recorder: any PlannerRecorder = CountingRecorder(JSONRecorder())
  ) {
    partition = planner.partition
    self.position = position
    self.isNew = isNew
    takenOffset = position.nextOffset
    if !isNew { takenPosition = position.encoded() }
    if !isNew, planner.now > .distantPast { newestTimestamp = planner.now.microseconds }
    recording = RecordingPlanner(planner, recorder: recorder)
  }

  /// Makes a processor by restoring the planner from the state records of a partition.
  ///
  /// - Parameters:
  ///   - restore: The state records. They cannot be used afterwards.
  ///   - isNew: Whether the partition has no state records.
  ///   - initialPolicy: The policy in force until the log has a policy record.
  ///   - recorder: Writes what the planner decides.
  /// - Throws: `StateRecordError` for a position or a state that this release cannot read.
  convenience init(
    restoring restore: consuming PlannerRestore, isNew: Bool, initialPolicy: Policy,
    recorder: any PlannerRecorder = CountingRecorder(JSONRecorder())
  ) throws(StateRecordError) {
    var position = PlannerPosition()
    if let record = restore.take(PlannerPosition.key) {
      position = try record.read(as: PlannerPosition.key) { bytes throws(BinaryError) in
        try PlannerPosition(bytes: bytes)
      }
    }
    let repairs = try restore.repairs()
    self.init(
      planner: try restore.finish(initialPolicy: initialPolicy), position: position, isNew: isNew, recorder: recorder)
    self.repairs = repairs
    isDirty = !repairs.isEmpty
  }

  /// The policy in force.
  var policy: PolicyReference { recording.planner.policy.reference }
  /// The policy in force, and why the newest policy record was refused, if it was.
  var policyNote: PlanningNote { .policy(inForce: policy, refused: recording.planner.refusedPolicy) }
  /// The number of devices that the planner knows.
  var deviceCount: Int { recording.planner.deviceCount }
  /// The size of the state in the topic.
  var stateExtent: StateExtent { recording.planner.stateExtent }
  /// The sizes of the planner's tables.
  var sizes: PlannerSizes { recording.planner.sizes }
  /// The counts of everything in the planner that could grow with traffic. Reads every slot, so it is for tests.
  var census: PlannerCensus { recording.planner.census }
  /// The time at which the planner's next timer is due; nil if there is none.
  var nextTimer: Timestamp? { recording.planner.nextTimer }

  /// Whether a record at an offset comes too early: the records between the position and it were not read. False for
  /// the first record of a partition without state, because retention may have removed the beginning of its log.
  ///
  /// - Parameter offset: The offset of the next record.
  func isJump(to offset: Int64) -> Bool { offset > position.nextOffset && !(isNew && recordsTaken == 0) }

  /// Whether a record at an offset is the next one to plan. True for any offset if the partition has no state and
  /// nothing was read yet.
  ///
  /// - Parameter offset: The offset of a record.
  func isNext(_ offset: Int64) -> Bool { offset == position.nextOffset || isNew && recordsTaken == 0 }

  /// Passes over the next records without reading them.
  ///
  /// - Parameters:
  ///   - offset: The offset to continue at; not before the position.
  ///   - wall: The wall clock, in µs since 1970. It becomes the birth (see `PlannerPosition`) of a partition that has
  ///     none.
  func passOver(to offset: Int64, at wall: Int64) {
    precondition(recording.planner.isIdle && offset >= position.nextOffset, "only whole records are passed over")
    pass(offset - 1, wall)
  }

  /// Loads the planner's data about the next records into the CPU's caches; see `Planner.prefetch`. Changes no state.
  ///
  /// - Parameter hashes: The hashes of the events in these records.
  func prefetch(_ hashes: Span<EventHashes>) { recording.planner.prefetch(hashes) }

  /// Returns the hashes by which the planner looks up the event in a log record; nil if the record is no event.
  func hashes(of bytes: [UInt8]) -> EventHashes? { EventHashes(logRecord: bytes, key: recording.planner.hashKey) }

  /// Starts on a log record. If the outcome is `begun`, call `step` until the record is done.
  ///
  /// - Parameters:
  ///   - bytes: The value of the record.
  ///   - offset: The offset of the record.
  ///   - timestamp: The timestamp of the record, in µs since 1970.
  ///   - hashes: The hashes of its event, if they were made already.
  ///   - treatment: The treatment of the record.
  /// - Returns: The outcome for the record.
  func begin(
    _ bytes: [UInt8], offset: Int64, timestamp: Int64, hashes: EventHashes? = nil,
    as treatment: RecordTreatment = .planned
  ) -> RecordOutcome {
    assert(recording.planner.isIdle, "a log record begins when the one before it is done")
    recordsTaken += 1
    guard offset >= position.nextOffset else { return .readAgain }
    let cursor = offset == position.nextOffset ? position.cursor : nil
    let (origin, content): (Origin?, LogRecord.Content)
    do throws(BinaryError) {
      (origin, content) = try LogRecord.parts(of: bytes, recurring: &texts)
    } catch {
      if case .newerVersion = error { return .newerFormat(error) }
      pass(offset, timestamp)
      return .unreadable(error)
    }
    pass(offset, timestamp)
    // A record with a cursor noted its origin before the restart.
    if let origin, !position.note(origin), cursor == nil { return .repeated }
    if treatment != .planned {
      setAside(offset, timestamp, cursor, treatment)
      return .setAside(treatment, origin)
    }
    let kind = LogRecordKind(content)
    if case .event(let event) = content {
      (eventTime, traceparent) = (event.time, event.traceparent)
    } else {
      (eventTime, traceparent) = (nil, nil)
    }
    current = (offset, kind)
    let time = Timestamp(microseconds: timestamp)
    if let cursor {
      recording.planner.resume(content, offset: offset, timestamp: time, at: cursor)
    } else {
      recording.planner.begin(content, offset: offset, timestamp: time, hashes: hashes)
    }
    return .begun(kind)
  }

  /// Handles a record that is not planned: its timestamp still moves log time, unless it is passed over.
  private func setAside(_ offset: Int64, _ timestamp: Int64, _ cursor: RecordCursor?, _ treatment: RecordTreatment) {
    current = (offset, .tick)
    if treatment == .passedOver { return }
    // The committed part of a half-done record has used up the ordinals below those of the cursor.
    let ordinals = cursor.map { RecordCursor(nextOrdinal: $0.nextOrdinal, nextDevice: nil, standing: 0) }
    recording.planner.beginTick(
      offset: offset, timestamp: Timestamp(microseconds: timestamp), at: ordinals,
      postponesTimers: treatment == .postponed)
  }

  /// Continues the sweep over the partition with its next slice. Changes no state of the planner.
  ///
  /// - Parameters:
  ///   - wall: The wall clock, in µs since 1970; nil if log time is the only clock.
  ///   - now: The present instant.
  ///   - interval: The shortest time from the begin of one sweep to that of the next.
  /// - Returns: The figures if the sweep is complete now; nil if it goes on.
  func sweepOn(at wall: Int64?, now: Duration, interval: Duration) -> ScreenFigures? {
    let instant = wall.map { Timestamp(microseconds: $0) } ?? .distantPast
    sweep.goesOn(at: now, interval: interval)
    guard let figures = recording.sweep(&sweep.sweep, at: instant) else { return nil }
    sweep.ended(figures, at: wall)
    return figures
  }

  /// Adds the counts of what was decided and of what has ended to the metrics. Call it after each commit.
  ///
  /// - Parameter metrics: The metrics of planning.
  func flushTally(into metrics: PlanningMetrics) { recording.flushCounts(into: metrics) }

  /// Notes that everything up to the position was committed.
  func committed() {
    guard !recording.planner.isIdle, let current else { return uncommitted = nil }
    uncommitted = UncommittedRecords(first: current.offset, last: current.offset, count: 1)
  }

  private func pass(_ offset: Int64, _ timestamp: Int64) {
    isDirty = true
    newestTimestamp = timestamp
    let first = uncommitted?.first ?? offset
    uncommitted = UncommittedRecords(first: first, last: offset, count: (uncommitted?.count ?? 0) + 1)
    if position.birth == nil { position.birth = timestamp }
    position.cursor = nil
    position.nextOffset = offset + 1
  }

  /// Continues with the current record.
  ///
  /// - Parameters:
  ///   - batch: Gets the records of decisions and commands.
  ///   - decisionsMax: The most decisions of this step.
  /// - Returns: Whether the record is done, and what an operator may want to know.
  func step(into batch: inout OutputBatch, decisionsMax: Int) -> StepOutcome {
    let step = recording.advance(into: &batch, decisionsMax: decisionsMax)
    if let current, step.hasAdvanced {
      position.cursor = step.cursor
      position.nextOffset = step.isDone ? current.offset + 1 : current.offset
    }
    var notes = step.largePayloads.isEmpty ? [] : step.largePayloads.map(PlanningNote.largePayload)
    if step.isDone { addClosingNotes(step, to: &notes) }
    return StepOutcome(isDone: step.isDone, notes: notes, claims: step.claims)
  }

  /// Adds the notes for the operator about the current record, which is done.
  private func addClosingNotes(_ step: RecordingPlanner.Step, to notes: inout [PlanningNote]) {
    switch current?.kind {
    case .policy: notes.append(policyNote)
    case .event:
      if step.keysLeftOut != notedKeysLeftOut, step.keysLeftOut.nonzeroBitCount == 1 {
        notes.append(.keysLeftOut(recording.planner.keysLeftOut))
      }
      notedKeysLeftOut = step.keysLeftOut
      if step.inexactNumbers != notedInexactNumbers {
        notes.append(.inexactNumber(field: recording.planner.inexactNumbers.field))
      }
      notedInexactNumbers = step.inexactNumbers
    case .registration, .forget, .signal, .claims, .tick, nil: break
    }
  }

  /// Appends the state records that changed since the last call, the position last.
  ///
  /// - Parameter batch: Gets the records.
  func takeState(into batch: inout OutputBatch) {
    guard isDirty else { return }
    assert(position.nextOffset >= takenOffset, "the position of partition \(partition) falls behind \(takenOffset)")
    takenOffset = position.nextOffset
    let destination = OutputBatch.Destination.state(partition)
    // The planner may write such a key again in the same transaction, behind its repair.
    for (key, value) in repairs { batch.append(destination, key: key[...], value: value?[...]) }
    repairs = []
    recording.planner.takeChanges { key, value in batch.append(destination, key: key, value: value) }
    let encoded = position.encoded()
    batch.append(destination, key: PlannerPosition.key[...], value: encoded[...])
    takenPosition = encoded
    isDirty = !recording.planner.isIdle
  }

  /// Appends the position of the last `takeState` again, if the next one will write records.
  ///
  /// - Parameter batch: Gets the record.
  func repeatPosition(into batch: inout OutputBatch) {
    guard isDirty, let takenPosition else { return }
    batch.append(.state(partition), key: PlannerPosition.key[...], value: takenPosition[...])
  }

  /// Writes the next part of the whole state, the position last (see `Planner.writeState`).
  ///
  /// - Parameters:
  ///   - walk: The progress of writing the state.
  ///   - recordsMax: The most records of this part.
  ///   - body: Gets key and value of each record.
  /// - Returns: Whether the state is complete.
  func writeState(from walk: inout StateWalk, recordsMax: Int, _ body: StateRecordSink) -> Bool {
    let done = recording.planner.writeState(from: &walk, recordsMax: recordsMax, body)
    if done { body(PlannerPosition.key[...], position.encoded()[...]) }
    return done
  }

  /// Checks what must hold between two records.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations = position.checkInvariants()
    if !recording.planner.isIdle { violations.append("a record is half done between two turns") }
    // This walks through everything that the planner holds, so it runs for every 16th offset only: simulations stay fast.
    if position.nextOffset % 16 == 0 { recording.planner.checkInvariants() }
    if position.cursor != nil, recordsTaken > 0 { violations.append("a cursor outlives its record") }
    if position.nextOffset < takenOffset {
      violations.append("the position fell from \(takenOffset) to \(position.nextOffset)")
    }
    return violations.map { "partition \(partition): \($0)" }
  }
}
