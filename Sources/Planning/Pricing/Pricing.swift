import Domain
import Policies

/// The worth of reloads and the price of tokens, in looks, with the knowledge about kinds and about the hours at which people
/// look.
///
/// The demand of one instance is a `DemandState` that is stored with the instance in the registry. Asking for a price
/// changes nothing; learning returns the instance's next state, which the caller stores.
struct Pricing {
  /// The kinds, by slot.
  private(set) var kinds: ContiguousArray<KindPricing> = []
  /// The view habits of the devices that sent views. It is looked up by device and never iterated, because a dictionary has
  /// no fixed order.
  private(set) var viewHabits: [DeviceSlot: ViewHabits] = [:]
  /// The time up to which the kinds have learnt, in periods of ten minutes since 1970; `.min` before the first record.
  private(set) var period: Int64 = .min
  /// The number of instances of each kind in each zone that a push can reach, without those in developer mode. Only the
  /// hours of these instances count in what is learnt. It follows from the devices, so `rouse.state` does not hold it.
  /// Sums over it do not depend on its order.
  private var populations: [Population: Int64] = [:]

  private let prior: DemandPrior

  /// Creates a pricing without kinds.
  /// - Parameter prior: The demand that is assumed for a day of an instance of which nothing is known yet.
  init(prior: DemandPrior = .standard) { self.prior = prior }

  private struct Population: Hashable {
    var kind: KindSlot
    var zone: ZoneSlot
  }

  // MARK: Kinds

  /// Adds a kind, in the slot after the last one.
  /// - Parameter policy: The policy's settings of the kind.
  mutating func addKind(_ policy: KindPolicy) {
    var kind = KindPricing(prior: prior)
    kind.configure(policy)
    kind.touched = true
    kinds.append(kind)
  }

  /// Takes over a new policy's settings of a kind. What was learnt stays, except worth that was measured by other
  /// display settings.
  mutating func configure(_ kind: KindSlot, _ policy: KindPolicy) { kinds[kind.index].configure(policy) }

  /// Marks every kind as changed, so that the next commit writes it.
  mutating func touchKinds() { for kind in kinds.indices { kinds[kind].touched = true } }

  /// Marks every kind as unchanged, after a restore.
  mutating func untouchKinds() { for kind in kinds.indices { kinds[kind].touched = false } }

  /// Returns the kinds that changed since the last call, by rising slot.
  mutating func takeTouchedKinds() -> [KindSlot] {
    var touched: [KindSlot] = []
    for kind in kinds.indices where kinds[kind].touched {
      kinds[kind].touched = false
      touched.append(KindSlot(UInt32(kind)))
    }
    return touched
  }

  /// Restores what a kind has learnt.
  /// - Throws: `BinaryError` if the bytes end early or hold numbers that no planner writes.
  mutating func restore(_ kind: KindSlot, from reader: inout BinaryReader) throws(BinaryError) {
    try kinds[kind.index].demand.read(from: &reader)
  }

  /// Restores the time up to which the kinds have learnt.
  mutating func restore(period: Int64) { self.period = period }

  // MARK: Time

  /// The largest number of hours that are learnt from after a jump of log time: those of a fortnight.
  private static let hoursMax: Int64 = 24 * 14
  /// The interval of log time at which the usual amounts are computed anew.
  static let period = TimeSpan.minutes(10)
  private static let periodsPerHour: Int64 = 6

  /// Returns whether `passTime` has anything to learn from at a log time.
  func learns(at now: Timestamp) -> Bool { period == .min || now.microseconds / Self.period.microseconds > period }

  /// Makes the kinds learn from the time that has passed since the last call. An hour of the log counts as the local hour that
  /// holds its middle. The usual amounts are computed anew every ten minutes of log time.
  /// - Parameters:
  ///   - now: Log time.
  ///   - timeOfDay: Returns the local time of an instant in a zone.
  /// - Returns: Whether a UTC day has ended.
  mutating func passTime(now: Timestamp, _ timeOfDay: (ZoneSlot, Timestamp) -> TimeOfDay) -> Bool {
    guard learns(at: now) else { return false }
    let next = now.microseconds / Self.period.microseconds
    if period == .min {
      period = next
      return false
    }
    let hours = (period / Self.periodsPerHour, next / Self.periodsPerHour)
    for passed in max(hours.0, hours.1 - Self.hoursMax)..<hours.1 {
      count(hour: passed, Self.whole, timeOfDay) { $0.hourEnded($1, instances: $2) }
      for kind in kinds.indices { kinds[kind].demand.dryHourEnded(passed) }
    }
    // The part of the current hour that has passed is counted, too, until the next call.
    let part = next % Self.periodsPerHour * Self.whole / Self.periodsPerHour
    count(hour: hours.1, part, timeOfDay) { $0.hourGoesOn($1, instances: $2) }
    for kind in kinds.indices { kinds[kind].demand.dryHourGoesOn(hours.1, part: part) }
    for kind in kinds.indices { kinds[kind].demand.freeze() }
    let isNewDay = hours.1 / 24 > hours.0 / 24
    period = next
    touchKinds()
    return isNewDay
  }

  /// Counts an hour of the log, or the part of it in millionths, for all instances.
  private mutating func count(
    hour: Int64, _ part: Int64, _ timeOfDay: (ZoneSlot, Timestamp) -> TimeOfDay,
    _ note: (inout KindDemand, _ hour: Int, _ instances: Int64) -> Void
  ) {
    if part == 0 { return }
    for (population, count) in populations where kinds[population.kind.index].isDecided {
      let place = place(population.kind, timeOfDay(population.zone, Self.middle(ofHour: hour)))
      note(&kinds[population.kind.index].demand, place.hour, count * part)
    }
  }

  /// The count of one instance that was there for a whole hour, in millionths.
  private static let whole: Int64 = 1_000_000

  private static func middle(ofHour hour: Int64) -> Timestamp {
    Timestamp(microseconds: (hour * 2 + 1) * LocalZone.hour.microseconds / 2)
  }

  @inline(__always)
  private func place(_ kind: KindSlot, _ timeOfDay: TimeOfDay) -> DayPlace {
    DayPlace(timeOfDay, anchorMinute: kinds[kind.index].anchorMinute)
  }

  /// Adds instances of a kind in a zone to those whose hours count, or takes them away. Of the current hour, only the
  /// part in which they are there is counted.
  /// - Parameters:
  ///   - change: The number of instances that come, negative if they go.
  ///   - kind: The kind.
  ///   - zone: The zone.
  ///   - now: Log time.
  ///   - timeOfDay: Returns the local time of an instant in a zone.
  mutating func count(
    _ change: Int64, _ kind: KindSlot, _ zone: ZoneSlot, now: Timestamp, _ timeOfDay: (ZoneSlot, Timestamp) -> TimeOfDay
  ) {
    let population = Population(kind: kind, zone: zone)
    populations[population, default: 0] += change
    if populations[population] == 0 { populations[population] = nil }
    guard period != .min, kinds[kind.index].isDecided else { return }
    let hours = now.microseconds / LocalZone.hour.microseconds
    let passed = (now.microseconds - hours * LocalZone.hour.microseconds) * Self.whole / LocalZone.hour.microseconds
    let place = place(kind, timeOfDay(zone, Self.middle(ofHour: hours)))
    kinds[kind.index].demand.hourEnded(place.hour, instances: -change * passed)
    kinds[kind.index].touched = true
  }

  /// Adds an instance of a restored device to those whose hours count. Its part of the current hour was counted before
  /// the restore.
  mutating func restorePopulation(_ kind: KindSlot, _ zone: ZoneSlot) {
    populations[Population(kind: kind, zone: zone), default: 0] += 1
  }

  // MARK: Views

  /// Learns that somebody looked at a device.
  /// - Parameters:
  ///   - device: The device.
  ///   - localHour: The local hour of the look, in hours since 1970.
  /// - Returns: Whether the look was counted; only one in an hour is.
  mutating func noteLook(_ device: DeviceSlot, localHour: Int64) -> Bool {
    viewHabits[device, default: ViewHabits()].note(localHour: localHour)
  }

  /// Forgets the views of a device.
  mutating func forget(_ device: DeviceSlot) { viewHabits[device] = nil }

  /// Restores the habits of a device.
  mutating func restore(_ habits: ViewHabits, of device: DeviceSlot) { viewHabits[device] = habits }

  // MARK: Worth and price

  /// Returns V, the looks at an instance in the next 20 minutes.
  /// - Parameters:
  ///   - timeOfDay: The local time.
  ///   - kind: The kind of the instance.
  ///   - habits: The habits of the device; nil if it sent no views.
  @inline(__always)
  func looks(ahead timeOfDay: TimeOfDay, _ kind: KindSlot, _ habits: ViewHabits?) -> Double {
    kinds[kind.index].ahead(timeOfDay, habits)
  }

  /// Whether `prepare` was called for this kind, zone and instant.
  func isPrepared(_ kind: KindSlot, _ zone: ZoneSlot, now: Timestamp) -> Bool {
    kinds[kind.index].isPrepared(zone, now: now)
  }

  /// Computes what the prices of a kind's instances in a zone have in common at this instant. Call it before `terms`.
  mutating func prepare(_ kind: KindSlot, _ zone: ZoneSlot, _ timeOfDay: TimeOfDay, now: Timestamp) {
    kinds[kind.index].prepare(zone, timeOfDay, now: now)
  }

  /// Returns V, the looks of the next 20 minutes at an instance, and λ, the price of one of its tokens of the day, in looks.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - kind: The kind of the instance.
  ///   - left: The tokens that the instance has left.
  ///   - zone: The zone of the device.
  ///   - timeOfDay: The local time in that zone.
  ///   - habits: The habits of the device; nil if it sent no views.
  ///   - faded: The factor by which the instance's memory of the last two hours has faded since it was updated, 0…1.
  ///   - now: Log time.
  @inline(__always)
  func terms(
    _ state: DemandState, _ kind: KindSlot, left: Int, _ zone: ZoneSlot, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?,
    faded: Double, now: Timestamp
  ) -> (looks: Double, price: Double) {
    if habits == nil, let usual = kinds[kind.index].usual(zone, now: now) {
      return (usual.ahead, kinds[kind.index].demand.looks(ofToken: state, left: left, usual: usual, faded: faded))
    }
    return ownTerms(state, kind, left: left, timeOfDay, habits, now: now)
  }

  @inline(never)
  private func ownTerms(
    _ state: DemandState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> (looks: Double, price: Double) {
    let price = tokenPrice(state, kind, left: left, timeOfDay, habits, now: now)
    return (kinds[kind.index].ahead(timeOfDay, habits), price.looks)
  }

  /// Returns the price of one token of the day of an instance, with the estimates from which it follows.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - kind: The kind of the instance.
  ///   - left: The tokens that the instance has left.
  ///   - timeOfDay: The local time of the device.
  ///   - habits: The habits of the device; nil if it sent no views.
  ///   - now: Log time.
  func tokenPrice(
    _ state: DemandState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> TokenPrice {
    let (place, own) = (place(kind, timeOfDay), habits.map { kinds[kind.index].own($0) })
    return kinds[kind.index].demand.price(state, left: left, at: place, own: own, now: now)
  }

  /// Returns the price of one token of a rate, in looks. A rate has no day, so the hour ahead counts: what the last two hours
  /// brought, per hour, against the tokens that are there and those that come back.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - left: The tokens of the rate that are left, and those that come back in an hour.
  ///   - now: Log time.
  func ratePrice(_ state: DemandState, left: Int, now: Timestamp) -> TokenPrice {
    let recent = KindDemand.recent(state, now: now)
    return TokenPrice(need: recent.need / 2, worth: recent.worth / 2, left: left)
  }

  // MARK: Learning

  /// Learns that a change came which people could see.
  /// - Returns: The instance's next state.
  @inline(__always)
  mutating func noteChange(
    _ state: DemandState, _ kind: KindSlot, _ timeOfDay: TimeOfDay, now: Timestamp
  ) -> DemandState {
    kinds[kind.index].touched = true
    return kinds[kind.index].demand.noteChange(state, at: place(kind, timeOfDay), now: now)
  }

  /// Learns the worth, in looks, that a charged push brought to one of the instances that it reloaded.
  /// - Returns: The instance's next state.
  mutating func notePush(
    _ state: DemandState, _ kind: KindSlot, worth: Double, _ timeOfDay: TimeOfDay, now: Timestamp
  ) -> DemandState {
    kinds[kind.index].touched = true
    return kinds[kind.index].demand.notePush(state, worth: worth, at: place(kind, timeOfDay), now: now)
  }

  /// Takes the worth of the newest push to an instance out of what was learnt, because the push was refunded.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - kind: The kind of the instance.
  ///   - second: The log time of the push, in seconds since 1970.
  /// - Returns: The instance's next state.
  mutating func noteRefund(_ state: DemandState, _ kind: KindSlot, pushedAt second: UInt32) -> DemandState {
    kinds[kind.index].touched = true
    return kinds[kind.index].demand.noteRefund(state, pushedAt: second)
  }

  /// Changes the share of the day that an instance does not see because it has no tokens.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - change: 1 when its last token was spent; −1 when a refund gives one back.
  ///   - kind: The kind of the instance.
  ///   - dry: The time from now for which it has, or would have had, no token.
  ///   - timeOfDay: The local time.
  /// - Returns: The instance's next state.
  func dried(
    _ state: DemandState, by change: Int32, _ kind: KindSlot, for dry: TimeSpan, _ timeOfDay: TimeOfDay
  ) -> DemandState {
    let place = place(kind, timeOfDay)
    return kinds[kind.index].demand.dried(state, by: change, at: place, until: Self.end(of: dry, place))
  }

  /// Adds an instance to those without tokens, or takes it away.
  /// - Parameters:
  ///   - change: 1 or −1.
  ///   - kind: The kind of the instance.
  ///   - dry: The time from now until it has a token again.
  ///   - timeOfDay: The local time.
  ///   - now: Log time.
  mutating func countDry(
    _ change: Int32, _ kind: KindSlot, for dry: TimeSpan, _ timeOfDay: TimeOfDay, now: Timestamp
  ) {
    let place = place(kind, timeOfDay)
    kinds[kind.index].demand.countDry(change, at: place, until: Self.end(of: dry, place), now: now)
    kinds[kind.index].touched = true
  }

  /// Returns the hour of the budget day in which a span that begins at a place of the day ends; 24 if it ends on the
  /// next day.
  private static func end(of span: TimeSpan, _ place: DayPlace) -> Int {
    let hours = Double(span.microseconds) / Double(LocalZone.hour.microseconds)
    // The day may be an hour longer or shorter than 24 hours.
    return hours >= 23 - place.hours ? 24 : Int(place.hours + hours)
  }

  /// Ends the budget day of an instance.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - kind: The kind of the instance.
  ///   - idle: The number of whole days that have passed since that day, in which nothing happened.
  /// - Returns: The instance's next state.
  func dayEnded(_ state: DemandState, _ kind: KindSlot, idle: Int) -> DemandState {
    kinds[kind.index].demand.dayEnded(state, idle: idle)
  }

  /// Returns the demand of an instance that is added at a local time.
  func newcomer(_ kind: KindSlot, _ timeOfDay: TimeOfDay) -> DemandState { DemandState(start: place(kind, timeOfDay)) }

  /// Traps if an invariant is broken that must hold whenever no log record is being processed. Reads everything; for
  /// tests.
  /// - Parameter isUsed: Returns whether a device exists.
  func checkInvariants(isUsed: (DeviceSlot) -> Bool) {
    for device in viewHabits.keys { precondition(isUsed(device), "views of a device that is gone") }
    for count in populations.values { precondition(count >= 0, "fewer instances than none") }
  }
}
