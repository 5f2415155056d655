import Domain
import Policies

// λ = θ · ((k·F + s) / (left + s))³ · (m + 2f) / (2m + f): what one token of an instance is worth now.
//
// While spending is on plan the fraction is 1 and the price is θ; behind plan (few tokens for what is to come) it rises,
// ahead of plan it falls. The last factor is about what one reload delivers: everything pending. While more comes in than
// usual (f, the flow now, above m, its mean) more is pending after any wait, so a reload should bring more; while little
// comes in a small change is all there will be. In a steady flow the best threshold grows with the root of the flow; the
// fraction follows it near f = m and stays between a half and two.
//
// The third power and the factor were chosen by replaying airports, airlines, matches and random streams against the
// hindsight optimum. Through `rouse simulate`, freshness captured against the second power without the factor, mean and
// p10: airports at 48 tokens 0.920 and 0.900 instead of 0.916 and 0.892, airlines 0.889 and 0.865 instead of 0.872 and
// 0.831. Where all of a day's value comes within two hours that no day before had shown, the third power holds back too
// much when tokens are few: matches told minute by minute at 20 tokens 0.889 instead of 0.915.

/// The price of tokens: what kinds and instances have learnt about their day, and when people look.
///
/// The state of one instance is a `PriceState` that stands with the instance in the registry. Asking for a price changes
/// nothing: it returns the state that holds once the price has been used.
struct Pricing {
  /// The curves of kinds, by kind slot.
  private(set) var curves: ContiguousArray<KindCurve> = []
  /// The view habits of devices that sent views. Looked up by device, never iterated.
  private(set) var viewHabits: [DeviceSlot: ViewHabits] = [:]
  /// The hour of log time (hours since 1970) that the curves have seen; `.min` before the first record.
  private(set) var hour: Int64 = .min

  // MARK: Kinds

  /// Adds the curve of the next kind slot.
  mutating func addKind(_ policy: KindPolicy) {
    var curve = KindCurve()
    curve.configure(policy)
    curve.touch()
    curves.append(curve)
  }

  /// Takes over another policy's numbers; what was learnt stays.
  mutating func configure(_ kind: KindSlot, _ policy: KindPolicy) { curves[kind.index].configure(policy) }

  /// Marks every kind as changed, so that the next commit writes it.
  mutating func touchKinds() { for kind in curves.indices { curves[kind].touch() } }

  /// Marks no kind as changed, after a restore.
  mutating func untouchKinds() { for kind in curves.indices { curves[kind].untouch() } }

  /// Returns the kinds that changed since the last call.
  mutating func takeTouchedKinds() -> [KindSlot] {
    var touched: [KindSlot] = []
    for kind in curves.indices where curves[kind].touched {
      curves[kind].untouch()
      touched.append(KindSlot(UInt32(kind)))
    }
    return touched
  }

  /// Restores what a kind has learnt.
  mutating func restore(_ kind: KindSlot, from reader: inout BinaryReader) throws(BinaryError) {
    try curves[kind.index].read(from: &reader)
  }

  mutating func restore(hour: Int64) { self.hour = hour }

  /// Lets the hours pass that have gone by since the last record.
  /// - Returns: Whether a day of log time has ended.
  mutating func passHours(now: Timestamp) -> Bool {
    let next = now.microseconds / LocalZone.hour.microseconds
    if hour == .min { hour = next }
    guard next > hour else { return false }
    // A gap of more than a fortnight says no more than a fortnight.
    for _ in 0..<min(next - hour, Int64(KindCurve.hoursMax)) {
      for kind in curves.indices { curves[kind].hourPassed() }
    }
    let isNewDay = next / 24 > hour / 24
    hour = next
    touchKinds()
    return isNewDay
  }

  // MARK: Views

  /// Returns the chance that somebody looks at this time of day, relative to the best hour: the kind's curve, drawn towards
  /// the device's own by as many days as that rests on.
  @inline(__always)
  func view(_ kind: KindSlot, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?) -> Double {
    let usual = curves[kind.index].view(timeOfDay)
    guard let habits else { return usual }
    let own = habits.share(timeOfDay.hour)
    return usual + (own - usual) * habits.weight(priorDays: curves[kind.index].viewsWeight)
  }

  /// Returns whether no hour is better than this chance of a look, for devices without views of their own.
  func isBestHour(_ kind: KindSlot, view: Double) -> Bool { view >= curves[kind.index].viewsMax }

  /// Learns that somebody looked at a device.
  /// - Parameter localHour: The local hour of the look, in hours since 1970.
  /// - Returns: Whether that was new.
  mutating func noteLook(_ device: DeviceSlot, localHour: Int64) -> Bool {
    viewHabits[device, default: ViewHabits()].note(localHour: localHour)
  }

  /// Forgets the views of a device.
  mutating func forget(_ device: DeviceSlot) { viewHabits[device] = nil }

  mutating func restore(_ habits: ViewHabits, of device: DeviceSlot) { viewHabits[device] = habits }

  // MARK: Prices

  /// Returns the price of one token, and the instance's state after a step of θ's calibration.
  @inline(__always)
  func quote(
    _ state: PriceState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> (price: Double, next: PriceState) {
    let ratio = scarcity(kind, left: left, timeOfDay, habits)
    let next = calibrated(state, kind, ratio: ratio, now: now)
    let theta = Double(next.theta) * curves[kind.index].thetaPrior
    return (theta * ratio * ratio * ratio * crowding(state, kind, now: now), next)
  }

  /// Returns the price of one token at another time of day, without calibrating.
  @inline(__always)
  func priceAhead(
    _ state: PriceState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> Double {
    let ratio = scarcity(kind, left: left, timeOfDay, habits)
    let curve = kind.index
    return (state.theta > 0 ? Double(state.theta) : curves[curve].theta) * curves[curve].thetaPrior * ratio * ratio
      * ratio * crowding(state, kind, now: now)
  }

  /// Returns θ · ((burst + s) / (left + s))²: the price of a token of a rate, which is dearer the fewer tokens are left of
  /// the burst.
  func burstPrice(_ kind: KindSlot, burst: Int64, left: Int) -> Double {
    let smoothing = curves[kind.index].smoothing
    let ratio = (Double(burst) + smoothing) / (Double(left) + smoothing)
    return curves[kind.index].thetaPrior * ratio * ratio
  }

  /// Returns θ as the policy sets it.
  func basePrice(_ kind: KindSlot) -> Double { curves[kind.index].thetaPrior }

  @inline(__always)
  private func scarcity(_ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?) -> Double {
    let curve = kind.index
    let smoothing = curves[curve].smoothing
    let toCome =
      habits.map { curves[curve].shareToCome(timeOfDay, habits: $0) } ?? curves[curve].shareToCome(timeOfDay)
    return (Double(curves[curve].perDay) * toCome + smoothing)
      / (Double(max(0, left)) + smoothing)
  }

  /// The largest step of θ in an hour of log time, once an instance is known …
  private static let stepMax = 0.1
  /// … and how many times that for the first events of an instance, fading as 32 / (32 + events).
  private static let stepBoost = 4.0
  private static let stepBoostEvents = 32.0
  /// θ stays within this factor of the policy's prior, both ways.
  private static let thetaRange = 256.0

  /// Returns the state after θ has followed the spending: while there are fewer tokens left than planned θ rises, while there
  /// are more it falls. That integrates the error that the scarcity ratio alone leaves standing.
  @inline(__always)
  private func calibrated(_ state: PriceState, _ kind: KindSlot, ratio: Double, now: Timestamp) -> PriceState {
    let second = Self.second(now)
    var theta = Double(state.theta)
    if theta == 0 {
      theta = curves[kind.index].theta
    } else {
      let hours = min(1, Double(second &- state.calibratedAt) / 3600)
      if hours <= 0 { return state }
      let known = Double(state.flowCount)
      let rate = Self.stepMax * (1 + Self.stepBoost * Self.stepBoostEvents / (Self.stepBoostEvents + known))
      let step = rate * hours * max(-1, min(1, ratio - 1))
      theta = step > 0 ? theta * (1 + step) : theta / (1 - step)
      theta = max(1 / Self.thetaRange, min(Self.thetaRange, theta))
    }
    return state.calibrated(theta: theta, at: second)
  }

  /// The events over which the mean flow is taken; at 120 a day two days.
  private static let flowEventsMax: UInt8 = 250

  /// Returns (m + 2f) / (2m + f), ½…2; 1 where nothing came yet.
  @inline(__always)
  private func crowding(_ state: PriceState, _ kind: KindSlot, now: Timestamp) -> Double {
    let mean = Double(state.flowMean)
    if mean <= 0 { return 1 }
    let flow = flow(state, kind, now: now)
    return (mean + 2 * flow) / (2 * mean + flow)
  }

  /// Returns the relevance that came in, times the chance that somebody looks, halved every half-life; what was delivered
  /// counts on.
  @inline(__always)
  private func flow(_ state: PriceState, _ kind: KindSlot, now: Timestamp) -> Double {
    let elapsed = Self.second(now) &- state.flowAt
    return Double(state.flow)
      * Decay.factor(halfLives: Double(elapsed) * 1_000_000 * curves[kind.index].inverseHalfLife)
  }

  /// Learns from an event that the instance might show: the hour's share of the day, and the flow.
  /// - Returns: The instance's state after it.
  @inline(__always)
  mutating func noteArrival(
    _ state: PriceState, _ kind: KindSlot, relevance: Float, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?,
    now: Timestamp
  ) -> PriceState {
    curves[kind.index].noteArrival(hour: timeOfDay.hour, relevance: Double(relevance))
    let flow = flow(state, kind, now: now) + Double(relevance) * view(kind, timeOfDay, habits)
    let count = min(state.flowCount, Self.flowEventsMax - 1) + 1
    let mean = Double(state.flowMean)
    return state.arrived(
      flow: flow, mean: mean + (flow - mean) / Double(count), count: count, at: Self.second(now))
  }

  /// Learns from an instance whose window has ended: its kind, where new instances start, follows its θ.
  mutating func learnFromWindow(_ state: PriceState, _ kind: KindSlot, endedAt end: Timestamp, now: Timestamp) {
    guard state.theta > 0,
      Self.second(now) &- state.calibratedAt <= Self.second(Timestamp(microseconds: 0) + (now - end + LocalZone.day))
    else { return }
    curves[kind.index].follow(theta: Double(state.theta))
  }

  /// Returns the whole seconds of log time. They wrap after 136 years, and so do their differences.
  @inline(__always)
  private static func second(_ instant: Timestamp) -> UInt32 {
    UInt32(truncatingIfNeeded: instant.microseconds / 1_000_000)
  }

  /// Checks what holds between any two records.
  /// - Parameter isUsed: Whether a device exists.
  func checkInvariants(isUsed: (DeviceSlot) -> Bool) {
    for curve in curves { curve.checkInvariants() }
    for device in viewHabits.keys { precondition(isUsed(device), "views of a device that is gone") }
  }
}
