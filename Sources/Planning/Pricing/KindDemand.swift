import Domain

/// The demand of the instances of one kind: how much is usual, how much one instance has, and the price that follows.
///
/// Two quantities are learnt. The *need* is the number of changes that people could see, at most one for each minimum
/// interval: the tokens that would be spent if every change were pushed at once. The *worth* is what the pushes
/// brought, in looks.
struct KindDemand {
  /// The usual need.
  private(set) var need = DemandProfile()
  /// The usual worth of pushes.
  private(set) var worth = DemandProfile()
  /// The instance-days observed of each hour of the budget day, in millionths: an instance that is there for the hour
  /// on one day adds one million.
  private(set) var observed = ContiguousArray<Int64>(repeating: 0, count: 24)
  /// Those of `observed` that tell nothing about worth, because the instance had no tokens, or because worth has since
  /// been measured by other display settings. In millionths.
  private(set) var unseen = ContiguousArray<Int64>(repeating: 0, count: 24)
  /// The instance-days of the part of the current hour that has passed, in millionths; all 0 outside of
  /// `Pricing.passTime`.
  private var going = ContiguousArray<Int64>(repeating: 0, count: 24)
  /// Those of `going` that tell nothing about worth.
  private var goingUnseen = ContiguousArray<Int64>(repeating: 0, count: 24)
  /// The hours ahead in which instances have no tokens.
  private(set) var dry = DryHours()
  /// The share of looks of each hour of the budget day.
  private(set) var shares = ContiguousArray<Double>(repeating: 1.0 / 24, count: 24)
  /// The tokens of an instance in a day.
  private(set) var perDay = 48
  /// The minimum interval between two reloads of an instance, in seconds; 0 if there is none.
  private(set) var intervalSeconds: UInt32 = 0

  /// The weight of the kind's usual day against an instance's own days, in days.
  private static let usualDays = 1.5
  /// The weight of a past day, relative to that of the day after it.
  private static let fading = 0.85
  /// The number of changes that is added to both the observed and the expected need, so that a few of them prove little.
  private static let needCaution = 0.5
  /// The number of pushes of usual worth that is added to both the observed and the expected worth. It is larger than that of
  /// the need, because pushes differ in worth: a single large one says little about those to come. Measured: 0.75…1.5 make
  /// little difference, 0.5 keeps tokens after a goal for goals that do not come.
  private static let worthCaution = 0.9
  /// The rate at which a burst of changes ends, per hour: it lasts three hours on average. Measured: two to four hours make
  /// little difference.
  private static let burstEndsPerHour = 1.0 / 3
  /// The largest factor by which the worth of a day that ran out of tokens is raised.
  private static let driedMax = 5.0
  /// The number of idle days from which on their number does not matter: 0.85^64 is 0.00003.
  private static let idleDaysMax = 64

  private let prior: DemandPrior
  /// The hash of the display settings by which the worth was measured (`KindPricing.measure`); 0 if none was.
  private var measure: UInt64 = 0
  /// The local time at which the budget day begins by whose hours everything was learnt, in minutes after midnight; nil
  /// before the first `configure`.
  private var anchorMinute: Int?

  /// Creates the demand of a kind of which nothing is known. Call `configure` before use.
  init(prior: DemandPrior = .standard) { self.prior = prior }

  /// Takes over the settings of a policy. What was learnt stays, except for worth if `measure` has changed, and moves to
  /// the hours of the new budget day if that begins at another time.
  /// - Parameters:
  ///   - looks: The looks of the kind.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  ///   - perDay: The tokens of an instance in a day.
  ///   - minInterval: The minimum interval between two reloads of an instance; zero if there is none.
  ///   - measure: The hash of the display settings by which the kind measures how wrong a screen is. If it differs from
  ///     that of the last policy, the worth that was learnt is forgotten.
  mutating func configure(
    _ looks: LookCurve, anchorMinute: Int, perDay: Int, minInterval: TimeSpan, measure: UInt64
  ) {
    follow(measure: measure)
    follow(anchorMinute: anchorMinute)
    // Instances that had spent all tokens have one again. Those that have none even now count as if they had.
    if perDay > self.perDay { dry = DryHours() }
    shares = looks.shares(from: anchorMinute)
    self.perDay = perDay
    intervalSeconds = UInt32(clamping: minInterval.microseconds / 1_000_000)
    // Amounts that are known stay until the next `freeze`. A restored planner is configured after it has read them.
    if need.before[24] == 0 { freeze() }
  }

  private mutating func follow(measure: UInt64) {
    if self.measure != 0, self.measure != measure { forgetWorth() }
    self.measure = measure
  }

  private mutating func follow(anchorMinute: Int) {
    let old = self.anchorMinute ?? anchorMinute
    self.anchorMinute = anchorMinute
    let hours = Int((Double(anchorMinute - old) / 60).rounded())
    if hours == 0 { return }
    need.rotate(by: hours)
    worth.rotate(by: hours)
    observed.rotateDay(by: hours)
    unseen.rotateDay(by: hours)
    dry.rotate(by: hours)
  }

  // MARK: Hours

  /// Notes that an hour of the budget day has ended for instances.
  /// - Parameters:
  ///   - hour: The hour of the budget day, 0…23.
  ///   - instances: The number of instances, in millionths: one that came within the hour counts as the part that it saw.
  mutating func hourEnded(_ hour: Int, instances: Int64) { observed[hour] &+= instances }

  /// Notes the part that has passed of an hour of the budget day which is not over, until the next `freeze`.
  mutating func hourGoesOn(_ hour: Int, instances: Int64) { going[hour] &+= instances }

  /// Notes that an hour of the log has ended for the instances that had no tokens in it.
  mutating func dryHourEnded(_ hour: Int64) {
    // The hours are taken out, because the function that reports them holds them.
    var ended = DryHours()
    swap(&ended, &dry)
    ended.report(hour, takes: true) { unseen[$0] &+= $1 &* Int64(DemandProfile.unit) }
    swap(&ended, &dry)
  }

  /// Notes, for instances without tokens, the part that has passed of an hour of the log which is not over. It counts
  /// until the next `freeze`.
  /// - Parameters:
  ///   - hour: The hour of the log.
  ///   - part: The part, in millionths.
  mutating func dryHourGoesOn(_ hour: Int64, part: Int64) {
    var going = DryHours()
    swap(&going, &dry)
    going.report(hour, takes: false) { goingUnseen[$0] &+= $1 &* part }
    swap(&going, &dry)
  }

  /// Computes the usual amounts anew. Called every ten minutes of log time, after `hourEnded` and `hourGoesOn`.
  mutating func freeze() {
    var (observed, seen) = (observed, observed)
    for hour in 0..<24 {
      observed[hour] &+= going[hour]
      seen[hour] = observed[hour] &- unseen[hour] &- goingUnseen[hour]
      (going[hour], goingUnseen[hour]) = (0, 0)
    }
    let hourMax = intervalSeconds == 0 ? Double.infinity : 3600 / Double(intervalSeconds)
    need.freeze(days: observed, shares: shares, prior: prior.need, hourMax: hourMax)
    worth.freeze(days: seen, shares: shares, prior: prior.worth(perDay: perDay), hourMax: .infinity)
  }

  /// Forgets the worth that was counted, because another policy measures it in another way.
  mutating func forgetWorth() {
    worth.forget()
    for hour in 0..<24 { unseen[hour] = observed[hour] }
  }

  // MARK: Prices

  /// Returns the price of one token of an instance.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - left: The tokens that it has left.
  ///   - place: The place in its budget day.
  ///   - own: The device's share of looks in each hour of the budget day, divided by the kind's; nil to use the kind's
  ///     looks.
  ///   - now: Log time.
  func price(
    _ state: DemandState, left: Int, at place: DayPlace, own: InlineArray<24, Double>? = nil, now: Timestamp
  ) -> TokenPrice {
    let start = DayPlace(hours: Double(state.startHours))
    let course =
      own.map { worth.course(at: place, from: start, own: $0) } ?? worth.course(at: place, from: start)
    let faded = Self.faded(state, now)
    let needs = needs(state, need.course(at: place, from: start))
    return price(state, left: left, needs, course, at: place, faded, now: now)
  }

  @inline(__always)
  private func price(
    _ state: DemandState, left: Int, _ needs: DemandCourse, _ course: DemandCourse, at place: DayPlace, _ faded: Double,
    now: Timestamp
  ) -> TokenPrice {
    let lasting = lasting(state, faded, now: now)
    return TokenPrice(
      need: needLeft(state, needs, at: place, faded, lasting), worth: worthLeft(state, needs, course, faded, lasting),
      left: left)
  }

  /// Returns the looks of `price` for an instance whose device has no habits of its own. Computes no more than they need: most tokens
  /// cost nothing.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - left: The tokens that it has left.
  ///   - usual: The usual demand of the kind in the zone of the instance at `now`.
  ///   - faded: The factor by which the instance's memory of the last two hours has faded until `now`, 0…1.
  @inline(__always)
  func looks(ofToken state: DemandState, left: Int, usual: UsualCourse, faded: Double) -> Double {
    // So many changes at most are to come, whatever was learnt.
    if intervalSeconds != 0, intervalsLeft(usual.place) <= Double(max(1, left)) { return 0 }
    let start = DayPlace(hours: Double(state.startHours))
    let isFirstDay = state.startHours != 0
    let needs = needs(state, isFirstDay ? need.since(start, usual.need, at: usual.place) : usual.need)
    // Silence only lowers the need. If the tokens suffice without it, nothing else is computed.
    if needLeft(state, needs, at: usual.place, faded, 1) <= Double(max(1, left)) { return 0 }
    let course = isFirstDay ? worth.since(start, usual.worth, at: usual.place) : usual.worth
    return price(state, left: left, needs, course, at: usual.place, faded, now: usual.at).looks
  }

  @inline(__always)
  private func needs(_ state: DemandState, _ usual: DemandCourse) -> DemandCourse {
    scaled(usual, sum: Double(state.needSum), days: Double(state.days))
  }

  /// Returns N, the need to come in the rest of the budget day: at most one change for each minimum interval that is
  /// left.
  @inline(__always)
  private func needLeft(
    _ state: DemandState, _ needs: DemandCourse, at place: DayPlace, _ faded: Double, _ lasting: Double
  ) -> Double {
    let left =
      needs.rest
      * surge(
        needs, today: Double(state.needToday), recent: Double(state.needRecent) * faded, caution: Self.needCaution,
        lasting)
    return intervalSeconds == 0 ? left : min(left, intervalsLeft(place))
  }

  /// Returns the number of minimum intervals in the rest of the budget day. There must be a minimum interval.
  private func intervalsLeft(_ place: DayPlace) -> Double { (24 - place.hours) * 3600 / Double(intervalSeconds) }

  /// Returns A, the worth in looks of the pushes to come in the rest of the budget day.
  @inline(__always)
  private func worthLeft(
    _ state: DemandState, _ needs: DemandCourse, _ usual: DemandCourse, _ faded: Double, _ lasting: Double
  ) -> Double {
    let worths = scaled(usual, sum: Double(state.worthSum), days: Double(state.days))
    let pushes = max(1, min(Double(perDay), needs.passed + needs.rest))
    let unit = (worths.passed + worths.rest) / pushes
    return worths.rest
      * surge(
        worths, today: Double(state.worthToday), recent: Double(state.worthRecent) * faded,
        caution: Self.worthCaution * unit, lasting)
  }

  /// Returns the usual course times the instance's own factor g = (m + 1.5 B) / (n + 1.5) / B. B is the kind's usual
  /// amount of a day, m the sum over the instance's past days, and n their number.
  @inline(__always)
  private func scaled(_ usual: DemandCourse, sum: Double, days: Double) -> DemandCourse {
    let whole = max(1e-9, usual.whole)
    let own = (sum + Self.usualDays * whole) / (days + Self.usualDays) / whole
    return DemandCourse(
      whole: usual.whole * own, passed: usual.passed * own, rest: usual.rest * own, recent: usual.recent * own)
  }

  /// Returns ρ, the larger of two ratios of the observed to the expected amount: that of today and that of the last two
  /// hours. What exceeds 1 counts by the chance that the burst still lasts.
  @inline(__always)
  private func surge(
    _ expected: DemandCourse, today: Double, recent: Double, caution: Double, _ lasting: Double
  ) -> Double {
    let caution = max(1e-9, caution)
    let ratio = max((today + caution) / (expected.passed + caution), (recent + caution) / (expected.recent + caution))
    return ratio > 1 ? 1 + (ratio - 1) * lasting : ratio
  }

  /// Returns the chance that a burst of changes still lasts although none came since the last one that was counted, 0…1.
  ///
  /// While it lasts, changes come at a rate r, that of the last two hours. It ends at a rate of one in three hours. After a
  /// silence s the chance is e / (e + (1 − e) / (3 r)) with e = e^(−r s): a silence that is long against the usual distance of
  /// changes says that the burst is over.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - faded: The factor by which its memory of the last two hours has faded.
  ///   - now: Log time.
  @inline(__always)
  private func lasting(_ state: DemandState, _ faded: Double, now: Timestamp) -> Double {
    let passed = Self.second(now) &- state.countedAt
    // A change within the minimum interval would not have been counted.
    if state.countedAt == 0 || passed <= intervalSeconds { return 1 }
    let silence = Double(passed - intervalSeconds) / 3600
    // A memory of two hours holds twice what comes in an hour.
    let rate = (Double(state.needRecent) * faded + Self.needCaution) / 2
    let none = Decay.factor(halfLives: rate * silence * Self.halfLivesPerUnit)
    return none / (none + Self.burstEndsPerHour / rate * (1 - none))
  }

  /// 1 / ln 2: e^(−x) is 2^(−x · 1 / ln 2).
  private static let halfLivesPerUnit = 1 / 0.693_147_180_559_945_309

  /// Returns the factor by which an instance's memory of the last two hours has faded since it was updated, 0…1.
  @inline(__always)
  static func faded(_ state: DemandState, _ now: Timestamp) -> Double {
    FadingMemory.factor(hours: Double(second(now) &- state.recentAt) / 3600)
  }

  /// Returns the need and the worth of about the last two hours, faded to now. Worth is in looks.
  static func recent(_ state: DemandState, now: Timestamp) -> (need: Double, worth: Double) {
    let faded = faded(state, now)
    return (Double(state.needRecent) * faded, Double(state.worthRecent) * faded)
  }

  // MARK: Learning

  /// Learns that a change came which people could see. At most one in each minimum interval is counted.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - place: The place in its budget day.
  ///   - now: Log time.
  /// - Returns: The instance's next state; `state` itself if the change is not counted.
  mutating func noteChange(_ state: DemandState, at place: DayPlace, now: Timestamp) -> DemandState {
    if state.countedAt != 0, Self.second(now) &- state.countedAt < intervalSeconds { return state }
    var next = remembered(state, now)
    next.countedAt = max(1, Self.second(now))
    next.needToday += 1
    next.needRecent += 1
    need.count(1, hour: place.hour)
    return next
  }

  /// Learns the worth that a charged push brought to one of the instances that it reloaded.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - looks: W of the instance, in looks; 0 if nothing had changed for it.
  ///   - place: The place in its budget day.
  ///   - now: Log time.
  /// - Returns: The instance's next state.
  mutating func notePush(
    _ state: DemandState, worth looks: Double, at place: DayPlace, now: Timestamp
  ) -> DemandState {
    var next = remembered(state, now)
    // All sums take the worth as it is kept for a refund, so that a refund takes the same out again.
    next.lastWorth = Float(looks)
    next.lastWorthSum = 0
    next.lastHour = UInt8(truncatingIfNeeded: place.hour)
    next.worthToday += next.lastWorth
    next.worthRecent += next.lastWorth
    worth.count(Double(next.lastWorth), hour: place.hour)
    return next
  }

  /// Takes the worth of the newest push to an instance out of what was learnt, because the push brought nothing.
  /// - Parameters:
  ///   - state: The demand of the instance so far. The push can still be refunded.
  ///   - second: The log time of the push, in seconds since 1970.
  /// - Returns: The instance's next state.
  mutating func noteRefund(_ state: DemandState, pushedAt second: UInt32) -> DemandState {
    var next = state
    worth.uncount(Double(state.lastWorth), hour: min(23, Int(state.lastHour)))
    if state.lastWorthSum > 0 {
      next.worthSum = max(0, state.worthSum - state.lastWorthSum)
    } else {
      let faded = FadingMemory.factor(hours: Double(state.recentAt &- second) / 3600)
      next.worthToday = max(0, state.worthToday - state.lastWorth)
      next.worthRecent = max(0, state.worthRecent - state.lastWorth * Float(faded))
    }
    (next.lastWorth, next.lastWorthSum) = (0, 0)
    return next
  }

  /// Changes the share of the day that an instance does not see because it has no tokens. The current hour counts as seen.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - change: 1 when its last token was spent; −1 when a refund gives one back.
  ///   - place: The place in its budget day.
  ///   - end: The hour of the budget day until which it has, or would have had, no token; 24 for the next day.
  /// - Returns: The instance's next state.
  func dried(_ state: DemandState, by change: Int32 = 1, at place: DayPlace, until end: Int = 24) -> DemandState {
    var next = state
    next.unseenShare = max(0, state.unseenShare + Float(change) * unseenShare(state, from: place, until: end))
    return next
  }

  /// Adds instances to those without tokens, or takes them away if `change` is negative.
  mutating func countDry(_ change: Int32, at place: DayPlace, until end: Int = 24, now: Timestamp) {
    let ahead = place.hour + 1..<max(place.hour + 1, min(end, 24))
    let hour = now.microseconds / LocalZone.hour.microseconds
    let passed = Double(now.microseconds - hour * LocalZone.hour.microseconds) / Double(LocalZone.hour.microseconds)
    // An hour of the log counts as the hour of the day that holds its middle.
    dry.add(change, ahead, at: hour, place: Int((place.hours + 24.5 - passed + 1e-6).rounded(.down)) % 24)
  }

  private func unseenShare(_ state: DemandState, from place: DayPlace, until end: Int) -> Float {
    let start = DayPlace(hours: Double(state.startHours))
    let whole = worth.course(at: start, from: .start).rest
    let unseen = worth.before[max(place.hour + 1, min(end, 24))] - worth.before[place.hour + 1]
    return Float(min(1, unseen / max(1e-9, whole)))
  }

  private func remembered(_ state: DemandState, _ now: Timestamp) -> DemandState {
    let faded = Float(Self.faded(state, now))
    var next = state
    next.needRecent *= faded
    next.worthRecent *= faded
    next.recentAt = Self.second(now)
    return next
  }

  /// Ends the budget day of an instance. The worth of a day that ran out of tokens is raised to that of a whole day.
  /// - Parameters:
  ///   - state: The demand of the instance so far.
  ///   - idle: The number of whole days that have passed since that day, in which nothing happened.
  /// - Returns: The instance's next state.
  func dayEnded(_ state: DemandState, idle: Int = 0) -> DemandState {
    var next = DemandState()
    next.countedAt = state.countedAt
    let seen = max(1 / Float(Self.driedMax), 1 - state.unseenShare)
    let worth = state.worthToday / seen
    (next.lastWorth, next.lastHour) = (state.lastWorth, state.lastHour)
    next.lastWorthSum =
      state.lastWorthSum > 0 ? state.lastWorthSum * Float(Self.fading) : state.lastWorth / seen
    next.needSum = state.needSum * Float(Self.fading) + state.needToday
    next.worthSum = state.worthSum * Float(Self.fading) + worth
    next.days = state.days * Float(Self.fading) + Float(lookShare(from: DayPlace(hours: Double(state.startHours))))
    for _ in 0..<max(0, min(idle, Self.idleDaysMax)) {
      next.needSum *= Float(Self.fading)
      next.worthSum *= Float(Self.fading)
      next.lastWorthSum *= Float(Self.fading)
      next.days = next.days * Float(Self.fading) + 1
    }
    return next
  }

  private func lookShare(from start: DayPlace) -> Double {
    var share = shares[start.hour] * (1 - start.part)
    for hour in start.hour + 1..<24 { share += shares[hour] }
    return start == .start ? 1 : share
  }

  /// Returns the whole seconds of log time. They wrap after 136 years, and so do their differences.
  @inline(__always)
  private static func second(_ instant: Timestamp) -> UInt32 {
    UInt32(truncatingIfNeeded: instant.microseconds / 1_000_000)
  }

  // MARK: State

  /// Writes what was learnt, not the policy's settings.
  func write(to writer: inout BinaryWriter) {
    writer.varint(measure)
    writer.varint(UInt64(anchorMinute.map { $0 + 1 } ?? 0))
    need.write(to: &writer)
    worth.write(to: &writer)
    for hour in 0..<24 { writer.zigzag(observed[hour]) }
    for hour in 0..<24 { writer.zigzag(unseen[hour]) }
    dry.write(to: &writer)
  }

  /// Reads what `write` wrote. What a configured kind reads moves to the hours of its budget day, and worth that was measured by
  /// other display settings is forgotten.
  /// - Throws: `BinaryError` if the bytes end early or hold numbers that no planner writes.
  mutating func read(from reader: inout BinaryReader) throws(BinaryError) {
    let (ownMeasure, ownAnchor) = (measure, anchorMinute)
    measure = try reader.varint("a hash of distances")
    let anchor: Int = try reader.integer("the beginning of a day")
    guard anchor <= 24 * 60 else { throw .corrupt(offset: reader.offset, what: "the beginning of a day") }
    anchorMinute = anchor == 0 ? nil : anchor - 1
    try need.read(from: &reader)
    try worth.read(from: &reader)
    for hour in 0..<24 { observed[hour] = try reader.zigzag("instance-days") }
    for hour in 0..<24 { unseen[hour] = try reader.zigzag("instance-days") }
    dry = try DryHours(from: &reader)
    if ownMeasure != 0 { follow(measure: ownMeasure) }
    if let ownAnchor { follow(anchorMinute: ownAnchor) }
  }
}
