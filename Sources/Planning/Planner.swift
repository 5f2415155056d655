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
/// Not thread-safe and not meant to be: one owner.
public struct Planner {
  /// Number of the log partition.
  public let partition: Int32
  /// Partitions of the log: app budgets are split by it.
  public let partitionCount: Int32
  public let bounds: PlannerBounds
  let offsets: TimeZoneOffsets

  /// The policy in force.
  public internal(set) var policy: Policy
  /// The document of the policy in force, where it came by the log.
  var policyDocument: String?
  /// Offset of the record that put it in force; −1: none did.
  var policyOffset: Int64 = -1
  /// Why the newest policy record of the log was not taken over; nil when it was. The policy before it stays in force.
  public internal(set) var refusedPolicy: PolicyError?
  /// Events of which not every interest key counted.
  public internal(set) var keysLeftOut = KeysLeftOut()
  /// Log time: the largest record timestamp so far, µs.
  public internal(set) var now: Int64 = .min

  // Registry
  var devices = SlotPool<DeviceState>(smallestFirst: true)
  /// Device slots by id.
  var deviceIndex = HashIndex()
  /// By device slot. Looked up, never walked through.
  var rareStates: [UInt32: RareDeviceState] = [:]
  var instances = SlotPool<InstanceState>()
  var waitings = SlotPool<Waiting>()
  /// Ids of devices and instances, tokens, interest keys.
  var texts = TextPool()
  /// Many devices have instances of the same ids.
  var instanceIDs = SharedTexts()
  /// When timelines reload by themselves, by instance slot. Looked up, never walked through.
  var nextReloads: [UInt32: Int64] = [:]
  /// Of controls, activities and push-to-start tokens, by instance slot. Looked up, never walked through.
  var addressed: [UInt32: AddressedState] = [:]
  /// Charge times of the last 24 h, oldest first, of instances whose kind counts a rolling window; looked up by slot.
  var rollingCharges: [UInt32: [Int64]] = [:]
  /// When people look, of devices that told; looked up by device slot.
  var viewHabits: [UInt32: ViewHabits] = [:]
  var entries = SlotPool<InterestEntry>()
  var causes = SlotPool<Cause>()
  var events = SlotPool<EventEntry>()
  var interests = InterestIndex()
  var timers = TimerQueue()
  var apps = SlotPool<AppState>()
  /// Slots of apps.
  var appByID: [String: UInt32] = [:]
  var appsMade: UInt64 = 0
  var kinds: ContiguousArray<KindState> = []
  var kindByName: [String: UInt32] = [:]
  var rules = RuleTable()
  var zones: ContiguousArray<LocalZone> = []
  var zoneByID: [String: UInt16] = [:]
  var subjects = SubjectMemory()
  var pushRate: RateLedger
  var backgroundRate: RateLedger
  var controlRate: RateLedger
  var activityRate: RateLedger
  var frequentActivityRate: RateLedger
  var startRate: RateLedger
  /// Hour of `now` (hours since 1970) that the curves have seen.
  var curveHour: Int64 = .min

  // The record in hand
  var resumeAt: RecordCursor?
  var step: Step = .idle
  var offset: Int64 = -1
  var nextOrdinal: UInt32 = 0
  var fanOut = FanOut()
  /// Event slots to let go of when the next record begins; until then decisions refer to them.
  var releasedEvents: [UInt32] = []
  var workingEntries: [UInt32] = []
  var workingInstances: [UInt32] = []
  /// Instances on which the event in hand waits, of the device in hand; `none` once that is reported.
  var workingNew: [UInt32] = []

  // What the next commit must write
  var changes = PlannerChanges()
  var epoch: UInt32 = 1

  enum Step {
    case idle
    case timers(LogRecord.Content)
    case fanOut
  }

  public init(
    partition: Int32 = 0, partitionCount: Int32 = 1, policy: Policy, bounds: PlannerBounds = PlannerBounds(),
    offsets: TimeZoneOffsets = .system
  ) {
    self.partition = partition
    self.partitionCount = partitionCount
    self.policy = policy
    self.bounds = bounds
    self.offsets = offsets
    pushRate = RateLedger(policy.profile.devicePushes)
    backgroundRate = RateLedger(policy.profile.backgroundPushes)
    controlRate = RateLedger(policy.profile.controlPushes)
    activityRate = RateLedger(policy.profile.activityPushes)
    frequentActivityRate = RateLedger(policy.profile.frequentActivityPushes)
    startRate = RateLedger(policy.profile.activityStarts)
  }

  /// Devices registered and not forgotten.
  public var deviceCount: Int { deviceIndex.count }

  /// When the next timer is due, µs; nil when nothing waits. A tick at that time (or later) fires it.
  public var nextTimer: Int64? { timers.first?.due }

  /// Starts on a record. `advance` until it says true before the next one.
  /// - Parameters:
  ///   - offset: its offset in the log partition; part of every id.
  ///   - timestamp: log time in µs; what runs backwards is clamped.
  public mutating func begin(_ content: consuming LogRecord.Content, offset: Int64, timestamp: Int64) {
    precondition(isIdle, "begin() before advance() has finished the record at offset \(self.offset)")
    for slot in releasedEvents { release(event: slot) }
    releasedEvents.removeAll(keepingCapacity: true)
    self.offset = offset
    nextOrdinal = 0
    now = max(now, min(timestamp, Self.latestTime))
    passHours()
    for zone in zones.indices where !zones[zone].isFresh(now) { zones[zone].refresh(now: now, offsets: offsets) }
    resumeAt = nil
    step = .timers(content)
  }

  /// Goes on with a record whose first steps were committed before a restart.
  public mutating func resume(
    _ content: consuming LogRecord.Content, offset: Int64, timestamp: Int64, at cursor: RecordCursor
  ) {
    begin(content, offset: offset, timestamp: timestamp)
    nextOrdinal = cursor.nextOrdinal
    resumeAt = cursor
  }

  /// How far the record in hand is; nil when none is.
  public var cursor: RecordCursor? {
    switch step {
    case .idle: nil
    case .timers: RecordCursor(nextOrdinal: nextOrdinal, nextDevice: nil, standing: 0)
    case .fanOut:
      RecordCursor(nextOrdinal: nextOrdinal, nextDevice: fanOut.nextDevice, standing: fanOut.standing.rawValue)
    }
  }

  /// Whether no record is in hand.
  public var isIdle: Bool { if case .idle = step { true } else { false } }

  /// Goes on with the record in hand.
  /// - Parameter decisionsMax: about how many decisions to make at most; a device is never split.
  /// - Returns: whether the record is done.
  public mutating func advance(into output: inout PlannerOutput, decisionsMax: Int = .max) -> Bool {
    output.removeAll()
    if case .timers = step {
      guard fireTimers(into: &output, decisionsMax: decisionsMax) else { return false }
      // What the timers decided is written out by tables that the record may change: that comes first.
      if output.decisionCount > 0 || output.commandCount > 0 { return false }
      // Moved out: a copy would count every text of the record.
      var taken = Step.idle
      swap(&taken, &step)
      if case .timers(let content) = consume taken { start(content, into: &output) }
    }
    if case .fanOut = step {
      guard continueFanOut(into: &output, decisionsMax: decisionsMax) else { return false }
      finishFanOut()
      step = .idle
    }
    return true
  }

  private mutating func start(_ content: consuming LogRecord.Content, into output: inout PlannerOutput) {
    switch consume content {
    case .event(let event):
      beginFanOut(consume event)
      step = .fanOut
    case .registration(let registration): register(registration, into: &output)
    case .forget(let device): forget(device, into: &output)
    case .signal(let signal): receive(signal, into: &output)
    case .policy(let document): activate(document: document)
    case .tick: break
    }
  }

  /// 9999-12-31T23:59:59Z: log time never passes it, so sums of times cannot overflow.
  static let latestTime: Int64 = 253_402_300_799_000_000

  mutating func takeOrdinal() -> UInt32 {
    defer { nextOrdinal += 1 }
    return nextOrdinal
  }

  private mutating func passHours() {
    let hour = now / LocalZone.hour
    if curveHour == .min { curveHour = hour }
    guard hour > curveHour else { return }
    // A gap of more than a fortnight says no more than a fortnight.
    for _ in 0..<min(hour - curveHour, Int64(KindState.hoursMax)) {
      for kind in kinds.indices { kinds[kind].hourPassed() }
    }
    if hour / 24 > curveHour / 24 {
      subjects.rotate()
      purgeForgotten()
    }
    curveHour = hour
    for kind in kinds.indices { touch(kind: UInt32(kind)) }
  }

  // MARK: Event table

  mutating func release(event slot: UInt32) {
    events[slot].references -= 1
    if events[slot].references == 0 { events.remove(slot, leaving: EventEntry()) }
  }
}

/// The place in a record up to which its effects are committed: a fan-out larger than one transaction spans several.
public struct RecordCursor: Equatable, Sendable {
  public var nextOrdinal: UInt32
  /// First device of the fan-out that is not decided; nil: still at the due timers.
  public var nextDevice: UInt32?
  /// How the event stood when the record began (`SubjectMemory.Standing`).
  public var standing: UInt8

  public init(nextOrdinal: UInt32, nextDevice: UInt32?, standing: UInt8) {
    self.nextOrdinal = nextOrdinal
    self.nextDevice = nextDevice
    self.standing = standing
  }
}
