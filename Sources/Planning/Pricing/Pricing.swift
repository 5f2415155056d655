import Domain
import Policies

// The price of one token of an instance is λ = θ · ((k·F + s) / (left + s))³ · (m + 2f) / (2m + f). k is the number of tokens
// of a day, F the share of the day's value that is still to come, s the smoothing, m the mean flow and f the flow now.
//
// The first fraction compares the tokens that the rest of the day needs with those that are left. While spending is on plan
// it is 1 and the price is θ. With fewer tokens left the price rises, with more it falls.
//
// The second fraction is there because a reload delivers everything that is pending. While more comes in than usual, more is
// pending after any wait, so a reload should deliver more. While little comes in, a small change is all there will be. In a
// steady flow the best threshold grows with the square root of the flow. The fraction follows it near f = m and stays
// between a half and two.
//
// The third power and the factor were chosen by replaying airports, airlines, matches and random streams against the
// hindsight optimum. Freshness captured in `rouse simulate`, mean and p10, compared with the second power without the
// factor: airports at 48 tokens 0.920 and 0.900 instead of 0.916 and 0.892, airlines 0.889 and 0.865 instead of 0.872 and
// 0.831. The third power is worse if all of a day's value comes within two hours unlike any day before and tokens are few,
// because it holds back too much: matches reported minute by minute at 20 tokens, 0.889 instead of 0.915.

/// The price of tokens, with the knowledge about kinds and about the hours at which people look.
///
/// The state of one instance is a `PriceState` that stands with the instance in the registry. Asking for a price changes
/// nothing. The answer holds the instance's next state, which the caller stores if it uses the price.
struct Pricing {
  /// The curves of kinds, by kind slot.
  private(set) var curves: ContiguousArray<KindCurve> = []
  /// The view habits of the devices that sent views. It is looked up by device and never iterated, because a dictionary has
  /// no fixed order.
  private(set) var viewHabits: [DeviceSlot: ViewHabits] = [:]
  /// The hour of log time up to which the curves have learnt, in hours since 1970; `.min` before the first record.
  private(set) var hour: Int64 = .min

  // MARK: Kinds

  /// Adds the curve of the next kind slot.
  /// - Parameter policy: The policy's settings of the kind.
  mutating func addKind(_ policy: KindPolicy) {
    var curve = KindCurve()
    curve.configure(policy)
    curve.touch()
    curves.append(curve)
  }

  /// Takes over another policy's settings of a kind. The curve keeps its knowledge.
  mutating func configure(_ kind: KindSlot, _ policy: KindPolicy) { curves[kind.index].configure(policy) }

  /// Marks every kind as changed, so that the next commit writes it.
  mutating func touchKinds() { for kind in curves.indices { curves[kind].touch() } }

  /// Marks no kind as changed, after a restore.
  mutating func untouchKinds() { for kind in curves.indices { curves[kind].untouch() } }

  /// Returns the kinds that changed since the last call, by rising slot.
  mutating func takeTouchedKinds() -> [KindSlot] {
    var touched: [KindSlot] = []
    for kind in curves.indices where curves[kind].touched {
      curves[kind].untouch()
      touched.append(KindSlot(UInt32(kind)))
    }
    return touched
  }

  /// Restores the knowledge of a kind's curve.
  /// - Throws: `BinaryError` if the bytes end early or are no curve.
  mutating func restore(_ kind: KindSlot, from reader: inout BinaryReader) throws(BinaryError) {
    try curves[kind.index].read(from: &reader)
  }

  /// Restores the hour of log time up to which the curves have learnt.
  mutating func restore(hour: Int64) { self.hour = hour }

  /// Makes the curves learn from the hours that have ended since the last call.
  /// - Parameter now: Log time.
  /// - Returns: Whether a UTC day has ended.
  mutating func passHours(now: Timestamp) -> Bool {
    let next = now.microseconds / LocalZone.hour.microseconds
    if hour == .min { hour = next }
    guard next > hour else { return false }
    // After a fortnight without events, older ones have faded: a longer gap needs no more steps.
    for _ in 0..<min(next - hour, Int64(KindCurve.hoursMax)) {
      for kind in curves.indices { curves[kind].hourPassed() }
    }
    let isNewDay = next / 24 > hour / 24
    hour = next
    touchKinds()
    return isNewDay
  }

  // MARK: Views

  /// Returns the chance that somebody looks at a time of day, relative to the best hour. It is the curve of the kind, drawn
  /// towards the device's own; the more days of looks the device has, the closer.
  /// - Parameters:
  ///   - kind: The kind.
  ///   - timeOfDay: The local time.
  ///   - habits: The habits of the device; nil if it sent no views.
  @inline(__always)
  func view(_ kind: KindSlot, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?) -> Double {
    let usual = curves[kind.index].view(timeOfDay)
    guard let habits else { return usual }
    let own = habits.share(timeOfDay.hour)
    return usual + (own - usual) * habits.weight(priorDays: curves[kind.index].viewsWeight)
  }

  /// Returns whether a chance of a look is that of the kind's best hour, for devices without views of their own.
  func isBestHour(_ kind: KindSlot, view: Double) -> Bool { view >= curves[kind.index].viewsMax }

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

  // MARK: Prices

  /// Returns the price of one token of the day, and the instance's state after θ was calibrated.
  /// - Parameters:
  ///   - state: The instance's state.
  ///   - kind: The kind of the instance.
  ///   - left: The tokens that the instance has left.
  ///   - timeOfDay: The local time.
  ///   - habits: The habits of the device; nil if it sent no views.
  ///   - now: Log time.
  @inline(__always)
  func quote(
    _ state: PriceState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> (price: Double, next: PriceState) {
    let ratio = scarcity(kind, left: left, timeOfDay, habits)
    let next = calibrated(state, kind, ratio: ratio, now: now)
    let theta = Double(next.theta) * curves[kind.index].thetaPrior
    return (theta * ratio * ratio * ratio * crowding(state, kind, now: now), next)
  }

  /// Returns the price that one token of the day would have at another time of day. θ is not calibrated.
  /// - Parameters:
  ///   - state: The instance's state.
  ///   - kind: The kind of the instance.
  ///   - left: The tokens that the instance has left.
  ///   - timeOfDay: The other local time.
  ///   - habits: The habits of the device; nil if it sent no views.
  ///   - now: Log time.
  @inline(__always)
  func priceAhead(
    _ state: PriceState, _ kind: KindSlot, left: Int, _ timeOfDay: TimeOfDay, _ habits: ViewHabits?, now: Timestamp
  ) -> Double {
    let ratio = scarcity(kind, left: left, timeOfDay, habits)
    let curve = kind.index
    return (state.theta > 0 ? Double(state.theta) : curves[curve].theta) * curves[curve].thetaPrior * ratio * ratio
      * ratio * crowding(state, kind, now: now)
  }

  /// Returns the price of one token of a rate, θ · ((burst + s) / (left + s))². It rises as the tokens of the burst are spent.
  /// - Parameters:
  ///   - kind: The kind of the instance.
  ///   - burst: The largest number of tokens of the rate.
  ///   - left: The tokens of the rate that are left.
  func burstPrice(_ kind: KindSlot, burst: Int64, left: Int) -> Double {
    let smoothing = curves[kind.index].smoothing
    let ratio = (Double(burst) + smoothing) / (Double(left) + smoothing)
    return curves[kind.index].thetaPrior * ratio * ratio
  }

  /// Returns the base price that the policy sets for a kind.
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

  /// The largest relative step of θ in an hour of log time, once an instance has had many events.
  private static let stepMax = 0.1
  /// The multiple of `stepMax` that is added for an instance without events. It falls as 32 / (32 + events).
  private static let stepBoost = 4.0
  private static let stepBoostEvents = 32.0
  /// The factor by which θ may be above or below the policy's base price.
  private static let thetaRange = 256.0

  /// Returns the state after θ has followed the spending. θ rises while fewer tokens are left than planned, and falls while
  /// more are. So a lasting deviation, which the scarcity ratio alone would not remove, is corrected over time.
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

  /// The number of events over which the mean flow is taken: two days at 120 events a day.
  private static let flowEventsMax: UInt8 = 250

  /// Returns (m + 2f) / (2m + f), ½…2; 1 if no event came yet.
  @inline(__always)
  private func crowding(_ state: PriceState, _ kind: KindSlot, now: Timestamp) -> Double {
    let mean = Double(state.flowMean)
    if mean <= 0 { return 1 }
    let flow = flow(state, kind, now: now)
    return (mean + 2 * flow) / (2 * mean + flow)
  }

  /// Returns the flow now: the relevance of past events times the chance of a look when they came, halved with each
  /// half-life. Events that were delivered count, too.
  @inline(__always)
  private func flow(_ state: PriceState, _ kind: KindSlot, now: Timestamp) -> Double {
    let elapsed = Self.second(now) &- state.flowAt
    return Double(state.flow)
      * Decay.factor(halfLives: Double(elapsed) * 1_000_000 * curves[kind.index].inverseHalfLife)
  }

  /// Learns from an event that an instance might show. The kind learns the hour's share of the day, the instance its flow.
  /// - Parameters:
  ///   - state: The instance's state.
  ///   - kind: The kind of the instance.
  ///   - relevance: The relevance of the event.
  ///   - timeOfDay: The local time.
  ///   - habits: The habits of the device; nil if it sent no views.
  ///   - now: Log time.
  /// - Returns: The instance's next state.
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

  /// Learns from an instance whose window has ended: the θ of its kind, with which new instances begin, follows the θ of the
  /// instance. An instance whose θ was not calibrated in that window teaches nothing.
  /// - Parameters:
  ///   - state: The instance's state.
  ///   - kind: The kind of the instance.
  ///   - end: The end of the window.
  ///   - now: Log time.
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

  /// Traps if an invariant is broken that holds between any two records. Looks at everything; for tests.
  /// - Parameter isUsed: Returns whether a device exists.
  func checkInvariants(isUsed: (DeviceSlot) -> Bool) {
    for curve in curves { curve.checkInvariants() }
    for device in viewHabits.keys { precondition(isUsed(device), "views of a device that is gone") }
  }
}
