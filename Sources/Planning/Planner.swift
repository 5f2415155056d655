public import Domain
public import Policies

/// The state machine of one log partition: a fold over its records. A plain value without I/O, clock or randomness; the
/// same records give the same decisions, byte for byte.
///
///     begin(record) ──► advance ──► advance … ──► done
///                          │ fires due timers, then does the record's own work,
///                          ▼ at most `decisionsMax` decisions (roughly) a step
///                    PlannerOutput (valid until the next step)
///
/// It keeps the life of a record, and has:
///
///     fleet     what is known about the devices, and all that decides about them
///     fanOut    the walk of the current event through the devices that it concerns
///     event     the event in hand
///     visit     what is found out about the device that is decided now
///
/// Not thread-safe: one owner. It cannot be copied.
public struct Planner: ~Copyable {
  var fleet: Fleet
  private var step = Step.idle
  private var fanOut = FanOut()
  private var event = EventInHand()
  private var visit = DeviceVisit()

  /// The events that the planner has refused because of a number, and that no other partition counts.
  public private(set) var inexactNumbers = InexactNumbers()

  /// The state of the processing. `timers` holds the record until the timers that are due have fired.
  private enum Step {
    case idle
    case timers(LogRecord.Content)
    case fanOut
  }

  /// Creates a planner without devices.
  /// - Parameters:
  ///   - partition: The number of the log partition; part of every id.
  ///   - partitionCount: The number of partitions of the log.
  ///   - policy: The policy that is in force until the planner reads a policy record from the log.
  ///   - bounds: The bounds of the planner's memory and times.
  ///   - offsets: The source of the UTC offsets of time zones.
  ///   - hashKey: The key of its hashes. No decision depends on it.
  public init(
    partition: Int32 = 0, partitionCount: Int32 = 1, policy: Policy, bounds: PlannerBounds = PlannerBounds(),
    offsets: any TimeZoneOffsets = .system, hashKey: HashKey = .standard
  ) {
    self.init(
      Fleet(
        partition: partition, partitionCount: partitionCount, policy: policy, bounds: bounds, offsets: offsets,
        hashKey: hashKey))
  }

  /// Makes a planner, without a record in progress, of what is known about devices.
  init(_ fleet: consuming Fleet) { self.fleet = fleet }

  /// Copies an idle planner, for tests that compare two futures.
  init(copying other: borrowing Planner) {
    precondition(other.isIdle, "a planner is copied between two records")
    fleet = Fleet(copying: other.fleet)
    (fanOut, inexactNumbers) = (other.fanOut, other.inexactNumbers)
  }

  /// The number of the log partition.
  public var partition: Int32 { fleet.partition }

  /// The number of partitions of the log. The partitions split each app's daily limit.
  public var partitionCount: Int32 { fleet.partitionCount }

  /// The bounds of the planner's memory and times.
  public var bounds: PlannerBounds { fleet.bounds }

  /// Log time: the largest record timestamp so far; the distant past before the first record.
  public var now: Timestamp { fleet.now }

  /// The policy in force.
  public var policy: Policy { fleet.rules.policy }

  /// The error in the newest policy record of the log; nil when it could be read. After an error the policy before it stays in
  /// force.
  public var refusedPolicy: PolicyError? { fleet.rules.refused }

  /// The count of the events that had too many interest keys, so that some of their keys were ignored.
  public var keysLeftOut: KeysLeftOut { fanOut.keysLeftOut }

  /// The due time of the next timer. A tick at that time or later fires it. It is nil when nothing waits, and when the
  /// timer is due after `Fleet.latestTime`: no tick can reach that, so a driver that ticked for it would never come to an end.
  public var nextTimer: Timestamp? { fleet.pending.nextTimer.flatMap { $0 <= Fleet.latestTime ? $0 : nil } }

  /// The claims that the planners of the other partitions must hear of, since they were last taken.
  public var claims: [TokenClaim] { fleet.claims }

  /// Takes the claims to tokens that have followed from the records so far. They must reach the other partitions of the log before what
  /// was planned is committed. A log with one partition has none.
  public mutating func takeClaims() -> [TokenClaim] {
    defer { fleet.claims = [] }
    return fleet.claims
  }

  // MARK: The life of a record

  /// Begins a record. Call `advance` until it returns true before beginning the next one.
  /// - Parameters:
  ///   - content: The record.
  ///   - offset: Its offset in the log partition; part of every id.
  ///   - timestamp: The timestamp of the record. A timestamp before the log time, or more than some 8,000 years from 1970, is
  ///     clamped.
  ///   - hashes: The hashes of its event, if they were made already.
  public mutating func begin(
    _ content: consuming LogRecord.Content, offset: Int64, timestamp: Timestamp, hashes: EventHashes? = nil
  ) {
    precondition(isIdle, "begin() before advance() has finished the record at offset \(fleet.record.offset)")
    fleet.begin(recordAt: offset, timestamp: timestamp)
    fleet.record.hashes = hashes
    step = .timers(content)
  }

  /// Continues a record whose first steps were committed before a restart.
  /// - Parameters:
  ///   - content: The content of the record, the same as before the restart.
  ///   - offset: Its offset in the log partition.
  ///   - timestamp: The timestamp of the record.
  ///   - cursor: The place up to which its effects are committed.
  public mutating func resume(
    _ content: consuming LogRecord.Content, offset: Int64, timestamp: Timestamp, at cursor: RecordCursor
  ) {
    begin(content, offset: offset, timestamp: timestamp)
    fleet.record.resume(at: cursor)
  }

  /// Begins a record that the planner must skip, as if it were a tick: time passes, but the content has no effect.
  /// - Parameters:
  ///   - offset: The offset of the record in the log partition.
  ///   - timestamp: The timestamp of the record.
  ///   - cursor: The place up to which the effects of the record are committed; nil if none are.
  ///   - postponesTimers: Whether the timers that are due are set to an hour later instead of fired, for when the decisions and
  ///     commands that they lead to cannot be written. Events that have expired end all the same.
  public mutating func beginTick(
    offset: Int64, timestamp: Timestamp, at cursor: RecordCursor? = nil, postponesTimers: Bool = false
  ) {
    begin(.tick, offset: offset, timestamp: timestamp)
    if let cursor { fleet.record.resume(at: cursor) }
    fleet.record.postponesTimers = postponesTimers
  }

  /// The place that the planner has reached in the current record; nil when it is idle.
  public var cursor: RecordCursor? {
    switch step {
    case .idle: nil
    case .timers: RecordCursor(nextOrdinal: fleet.record.nextOrdinal, nextDevice: nil, standing: 0)
    case .fanOut:
      RecordCursor(
        nextOrdinal: fleet.record.nextOrdinal, nextDevice: fanOut.nextDevice.number,
        standing: event.standing.rawValue)
    }
  }

  /// Whether the planner has finished its last record.
  public var isIdle: Bool { if case .idle = step { true } else { false } }

  /// Makes the next step of the current record.
  /// - Parameters:
  ///   - output: Receives the decisions and commands of the step, in place of its former content.
  ///   - decisionsMax: The approximate number of decisions to make at most. The decisions about one device stay in one step.
  /// - Returns: Whether the record is finished.
  public mutating func advance(into output: inout PlannerOutput, decisionsMax: Int = .max) -> Bool {
    output.removeAll()
    if case .timers = step {
      guard fleet.fireTimers(event, &visit, into: &output, decisionsMax: decisionsMax) else { return false }
      // The decisions of timers refer to tables that the record may change, so they are a step of their own.
      if output.decisionCount > 0 || output.commandCount > 0 { return false }
      // The content is moved out, because a copy would retain every text of the record.
      var taken = Step.idle
      swap(&taken, &step)
      if case .timers(let content) = consume taken { start(content, into: &output) }
    }
    if case .fanOut = step {
      guard fanOut.advance(event, through: &fleet, &visit, into: &output, decisionsMax: decisionsMax) else {
        return false
      }
      fanOut.finish(&event, in: &fleet)
      step = .idle
    }
    return true
  }

  private mutating func start(_ content: consuming LogRecord.Content, into output: inout PlannerOutput) {
    switch consume content {
    case .event(let content):
      if content.hasInexactNumber, let field = fleet.rules.policy.inexactField(of: content) {
        return refuse(content, because: field)
      }
      visit.displayedChanges.clear()
      fanOut.begin(consume content, &event, in: &fleet)
      step = .fanOut
    case .registration(let registration): fleet.register(registration, into: &output)
    case .forget(let device): fleet.forget(device, into: &output)
    case .signal(let signal): fleet.receive(signal, into: &output)
    case .policy(let document): fleet.activate(document: document)
    case .claims(let claims): fleet.receive(claims)
    case .tick: break
    }
  }

  /// Notes an event that is not decided because of a number.
  /// - Parameters:
  ///   - event: The event.
  ///   - field: The path of the number.
  private mutating func refuse(_ event: borrowing DomainEvent, because field: Identifier) {
    var hash = FNV1a()
    hash.add(text: event.id.utf8.span)
    guard hash.value % UInt64(partitionCount) == UInt64(partition) else { return }
    inexactNumbers = InexactNumbers(events: inexactNumbers.events + 1, field: field)
  }

  /// Checks the invariants of every part, which hold between any two records. It reads every slot; for tests.
  package func checkInvariants() { fleet.checkInvariants() }
}
