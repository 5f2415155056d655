import Domain
import Policies

/// Everything that is known about the devices of a log partition, at an instant of log time. It is in parts, each with its own folder,
/// which alone changes it:
///
///     registry   devices, instances, interest keys        pricing    what tokens are worth, when people look
///     ledgers    tokens of instances, rates and apps      subjects   the newest events and states of subjects
///     pending    events that wait, timers                 rules      the policy in force
///     zones      local time                               screens    what screens show, and how wrong that is
///     journal    what the next commit must write
///
/// A question about one part goes to that part. The fleet has the functions that take several:
///
///     FanOut     takes an event in hand, and notes it and what it has made true
///     Deciding   reads, and returns verdicts: may this event wait on this instance, is this push worth its price
///     Applying   carries verdicts, signals and registrations out, and reports each decision
///     State      writes all of it to Kafka, and reads it again
///
/// It cannot be copied by accident: a copy would be two kilobytes for each call.
struct Fleet: ~Copyable {
  /// The number of the log partition.
  let partition: Int32
  /// The number of partitions of the log. The partitions split each app's daily limit.
  let partitionCount: Int32
  /// The bounds of memory and times.
  let bounds: PlannerBounds
  /// Log time: the largest record timestamp so far; the distant past before the first record.
  var now = Timestamp.distantPast
  /// The offset of the first record with the current log time. Commands from this offset on were made at the current log time.
  var firstOffsetNow: Int64 = 0
  /// The place in the log: the record that is processed.
  var record = RecordInHand()
  var registry = Registry()
  var screens = Screens()
  /// The claims that the planners of the other partitions must hear of, since they were last taken.
  var claims: [TokenClaim] = []
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
  /// The counts of what has ended since they were taken, for metrics.
  var outcomes = Outcomes()

  /// Makes a fleet without devices. The parameters are those of `Planner`.
  init(
    partition: Int32, partitionCount: Int32, policy: Policy, bounds: PlannerBounds, offsets: any TimeZoneOffsets,
    hashKey: HashKey
  ) {
    (self.partition, self.partitionCount, self.bounds) = (partition, partitionCount, bounds)
    zones = ZoneTable(offsets: offsets)
    zones.use(policy, now: .distantPast)
    ledgers = Ledgers(policy.profile)
    rules = Rules(policy, hashKey)
    pricing = Pricing(prior: bounds.demandPrior)
  }

  /// Copies a fleet. The tables share their memory until one of the two changes.
  init(copying other: borrowing Fleet) {
    (partition, partitionCount, bounds) = (other.partition, other.partitionCount, other.bounds)
    (now, firstOffsetNow, record) = (other.now, other.firstOffsetNow, other.record)
    (registry, screens, tokenOwners) = (other.registry, other.screens, other.tokenOwners)
    (zones, ledgers) = (other.zones, other.ledgers)
    (pending, pricing, subjects) = (other.pending, other.pricing, other.subjects)
    rules = Rules(copying: other.rules)
    (journal, deviceChunks, claims, outcomes) = (other.journal, other.deviceChunks, other.claims, other.outcomes)
  }

  /// The key of the hashes of subjects, event ids and displayed content.
  var hashKey: HashKey { rules.hashKey }

  // MARK: Time

  /// The latest log time: 9999-12-31T23:59:59Z.
  static let latestTime = Timestamp(microseconds: 253_402_300_799_000_000)
  /// The earliest log time, as long before 1970. No record has one like that, but a planner must read each clock that it has written.
  private static let earliestTime = Timestamp(microseconds: -latestTime.microseconds)

  /// Begins a record: log time passes, and what decisions about the record before referred to is released.
  /// - Parameters:
  ///   - offset: The offset of the record.
  ///   - timestamp: The timestamp of the record. A timestamp before the log time, or more than some 8,000 years from 1970, is clamped.
  mutating func begin(recordAt offset: Int64, timestamp: Timestamp) {
    for event in record.releasedEvents { pending.release(event) }
    let time = max(min(timestamp, Self.latestTime), Self.earliestTime)
    record.begin(offset: offset, isLate: time < now)
    if time > now { (now, firstOffsetNow) = (time, offset) }
    // The hours that pass are counted by local time, so the offsets come first.
    zones.refresh(now: now)
    passTime()
  }

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
        if count < Self.prefetchMax { continue }
        subjects.findCurrent(keys, count: count, &found)
        count = 0
      }
    }
    subjects.findCurrent(keys, count: count, &found)
    return found
  }

  // MARK: Changes

  /// Notes that a device changed, so that the next commit writes it.
  @inline(__always)
  mutating func touch(_ device: DeviceSlot) {
    if registry.noteChange(of: device) { journal.touch(device) }
  }

  /// Checks the invariants of every part, which hold between any two records. It reads every slot; for tests.
  func checkInvariants() {
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
