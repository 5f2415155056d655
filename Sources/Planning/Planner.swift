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
/// The planner keeps the life of a record. Its state is in parts, each with its own folder, which alone changes it:
///
///     registry   devices, instances, interest keys        pricing    what tokens are worth, when people look
///     ledgers    tokens of instances, rates and apps      subjects   the newest events and states of subjects
///     pending    events that wait, timers                 rules      the policy in force
///     zones      local time                               journal    what the next commit must write
///
/// For one event and one device, `Deciding` reads the parts and returns a verdict, `Applying` carries it out and reports
/// it, and `Writing` turns reports into decisions and commands.
///
/// Not thread-safe: one owner.
public struct Planner: ~Copyable {
  /// The number of the log partition.
  public let partition: Int32
  /// The number of partitions of the log. The partitions split each app's daily limit.
  public let partitionCount: Int32
  /// The bounds of the planner's memory and times.
  public let bounds: PlannerBounds
  /// Log time: the largest record timestamp so far; the distant past before the first record.
  public internal(set) var now = Timestamp.distantPast
  /// The offset of the first record with the current log time. Commands from this offset on were made at the current log time.
  var firstOffsetNow: Int64 = 0
  var registry = Registry()
  /// The claims that the planners of the other partitions must hear of, since they were last taken.
  public internal(set) var claims: [TokenClaim] = []
  /// The devices by the tokens that they hold. It follows from the registry.
  var tokenOwners = TokenOwners()
  var zones: ZoneTable
  var ledgers: Ledgers
  var pending = Pending()
  var pricing: Pricing
  var subjects = SubjectMemory()
  var rules: Rules
  var journal = Journal()
  /// The chunks of `rouse.state` that hold devices.
  var deviceChunks = ChunkLog<DeviceTag>()
  var record = RecordInHand()
  /// The memory for the visits of the next step.
  private var visit = DeviceVisit()
  /// The counts of what has ended since they were taken, for metrics.
  var outcomes = Outcomes()
  /// The count of the events that had too many interest keys, so that some of their keys were ignored.
  public internal(set) var keysLeftOut = KeysLeftOut()

  /// The events that the planner has refused because of a number, and that no other partition counts.
  public internal(set) var inexactNumbers = InexactNumbers()

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
    self.partition = partition
    self.partitionCount = partitionCount
    self.bounds = bounds
    zones = ZoneTable(offsets: offsets)
    zones.use(policy.quietHours, now: .distantPast)
    ledgers = Ledgers(policy.profile)
    rules = Rules(policy, hashKey)
    pricing = Pricing(prior: bounds.demandPrior)
  }

  /// Copies an idle planner, for tests that compare two futures. The tables share their memory until one of the two changes.
  init(copying other: borrowing Planner) {
    precondition(other.isIdle, "a planner is copied between two records")
    (partition, partitionCount, bounds) = (other.partition, other.partitionCount, other.bounds)
    (now, firstOffsetNow) = (other.now, other.firstOffsetNow)
    (registry, tokenOwners, zones, ledgers) = (other.registry, other.tokenOwners, other.zones, other.ledgers)
    (pending, pricing, subjects, rules) = (other.pending, other.pricing, other.subjects, other.rules)
    (journal, deviceChunks, claims, outcomes) = (other.journal, other.deviceChunks, other.claims, other.outcomes)
    (record, keysLeftOut, inexactNumbers) = (other.record, other.keysLeftOut, other.inexactNumbers)
  }

  /// The key of the hashes of subjects, event ids and displayed content.
  @inline(__always)
  var hashKey: HashKey { rules.hashKey }

  /// The policy in force.
  public var policy: Policy { rules.policy }

  /// The error in the newest policy record of the log; nil when it could be read. After an error the policy before it stays in
  /// force.
  public var refusedPolicy: PolicyError? { rules.refused }

  /// The number of devices, including forgotten ones that are kept for their ledgers.
  public var deviceCount: Int { registry.deviceCount }

  /// The due time of the next timer. A tick at that time or later fires it. It is nil when nothing waits, and when the
  /// timer is due after `latestTime`: no tick can reach that, so a driver that ticked for it would never come to an end.
  public var nextTimer: Timestamp? { pending.nextTimer.flatMap { $0 <= Self.latestTime ? $0 : nil } }

  /// Takes the claims to tokens that have followed from the records so far. They must reach the other partitions of the log before what
  /// was planned is committed. A log with one partition has none.
  public mutating func takeClaims() -> [TokenClaim] {
    defer { claims = [] }
    return claims
  }

  // MARK: The life of a record

  /// Begins a record. Call `advance` until it returns true before beginning the next one.
  /// - Parameters:
  ///   - content: The record.
  ///   - offset: Its offset in the log partition; part of every id.
  ///   - timestamp: The timestamp of the record. A timestamp before the log time, or after the year 9999, is clamped.
  public mutating func begin(_ content: consuming LogRecord.Content, offset: Int64, timestamp: Timestamp) {
    precondition(isIdle, "begin() before advance() has finished the record at offset \(record.offset)")
    for event in record.releasedEvents { pending.release(event) }
    let time = min(timestamp, Self.latestTime)
    record.begin(offset: offset, isLate: time < now)
    if time > now { (now, firstOffsetNow) = (time, offset) }
    // The hours that pass are counted by local time, so the offsets come first.
    zones.refresh(now: now)
    passTime()
    record.step = .timers(content)
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
    record.resume(at: cursor)
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
    if let cursor { record.resume(at: cursor) }
    record.postponesTimers = postponesTimers
  }

  /// The place that the planner has reached in the current record; nil when it is idle.
  public var cursor: RecordCursor? {
    switch record.step {
    case .idle: nil
    case .timers: RecordCursor(nextOrdinal: record.nextOrdinal, nextDevice: nil, standing: 0)
    case .fanOut:
      RecordCursor(
        nextOrdinal: record.nextOrdinal, nextDevice: record.fanOut.nextDevice.number,
        standing: record.fanOut.standing.rawValue)
    }
  }

  /// Whether the planner has finished its last record.
  public var isIdle: Bool { if case .idle = record.step { true } else { false } }

  /// Makes the next step of the current record.
  /// - Parameters:
  ///   - output: Receives the decisions and commands of the step, in place of its former content.
  ///   - decisionsMax: The approximate number of decisions to make at most. The decisions about one device stay in one step.
  /// - Returns: Whether the record is finished.
  public mutating func advance(into output: inout PlannerOutput, decisionsMax: Int = .max) -> Bool {
    output.removeAll()
    // Taken out of the planner, so that a function can change it while it reads the planner.
    var visit = DeviceVisit()
    swap(&visit, &self.visit)
    defer { swap(&visit, &self.visit) }
    if case .timers = record.step {
      guard fireTimers(&visit, into: &output, decisionsMax: decisionsMax) else { return false }
      // The decisions of timers refer to tables that the record may change, so they are a step of their own.
      if output.decisionCount > 0 || output.commandCount > 0 { return false }
      // The content is moved out, because a copy would retain every text of the record.
      var taken = RecordInHand.Step.idle
      swap(&taken, &record.step)
      if case .timers(let content) = consume taken { start(content, into: &output) }
    }
    if case .fanOut = record.step {
      guard continueFanOut(&visit, into: &output, decisionsMax: decisionsMax) else { return false }
      finishFanOut()
      record.step = .idle
    }
    return true
  }

  private mutating func start(_ content: consuming LogRecord.Content, into output: inout PlannerOutput) {
    switch consume content {
    case .event(let event):
      if let field = rules.policy.inexactField(of: event) { return refuse(event, because: field) }
      beginFanOut(consume event)
      record.step = .fanOut
    case .registration(let registration): register(registration, into: &output)
    case .forget(let device): forget(device, into: &output)
    case .signal(let signal): receive(signal, into: &output)
    case .policy(let document): activate(document: document)
    case .claims(let claims): receive(claims)
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

  /// The latest log time: 9999-12-31T23:59:59Z.
  static let latestTime = Timestamp(microseconds: 253_402_300_799_000_000)

  private mutating func passTime() {
    if !pricing.learns(at: now) { return }
    let zones = zones
    guard pricing.passTime(now: now, { zones.timeOfDay($0, $1) }) else { return }
    rotateSubjects()
    purgeForgotten()
  }

  /// Begins a new generation of the subject memory, which forgets the older of its two. The displayed state of a subject whose
  /// name an instance listens to is kept: without it, a later event that carries only some fields would not tell what the others
  /// are.
  mutating func rotateSubjects() {
    // By key, because the order of slots is another one after a restart.
    let kept = currentTruths().sorted { $0.key < $1.key }
    subjects.rotate()
    for (_, slot) in kept { subjects.prolong(slot) }
  }

  /// Returns the states in the newer generation whose subjects instances listen to.
  private func currentTruths() -> [(key: KeyedHash, slot: SubjectSlot)] {
    var displays: [KindDisplay] = []
    for kind in rules.kinds where !kind.display.isEmpty {
      if !displays.contains(where: { $0.truths == kind.display.truths }) { displays.append(kind.display) }
    }
    var found: [(key: KeyedHash, slot: SubjectSlot)] = []
    var (keys, count) = (InlineArray<16, KeyedHash>(repeating: .none), 0)
    for interest in registry.interests.slots {
      let name = registry.texts.range(of: registry.interests.key(of: interest))
      for display in displays {
        keys[count] = display.truthKey(
          subject: registry.texts.bytes.span.extracting(name), hashKey: hashKey)
        count += 1
        if count < Self.hintsMax { continue }
        subjects.findCurrent(keys, count: count, &found)
        count = 0
      }
    }
    subjects.findCurrent(keys, count: count, &found)
    return found
  }

  /// Checks the invariants of every part, which hold between any two records. It reads every slot; for tests.
  package func checkInvariants() {
    registry.checkInvariants()
    ledgers.checkInvariants { registry.isUsed($0) }
    pricing.checkInvariants { registry.isUsed($0) }
    rules.checkInvariants()
    subjects.checkInvariants()
    checkChunks()
    checkTokens()
    var used: [InstanceSlot] = []
    for instance in registry.instances.slots where registry.isUsed(instance) { used.append(instance) }
    pending.checkInvariants(waiting: used.map { registry.instances[$0].waiting }.filter { !$0.isAbsent })
    for instance in used {
      let state = registry.instances[instance]
      precondition(rules.kinds.indices.contains(state.kind.index), "an instance of a kind that is not known")
      precondition(
        state.day.isRolling == (ledgers.rolling[instance] != nil), "a rolling count without its charges")
    }
    precondition(rules.kinds.count == pricing.kinds.count, "a kind without a price")
  }
}
