import Domain
import Policies
import Testing

@testable import Planning

/// The expected figures were computed by a script in another language from the formulas in the documentation of `DemandProfile`,
/// `KindDemand` and `TokenPrice`, with the C library's `exp`.
@Suite("The worth of reloads and the price of tokens, without a planner")
struct KindDemandTests {
  private static let weights = [
    0.571, 0.214, 0.071, 0.036, 0, 0.036, 0, 0.179, 0.393, 0.429, 0.536, 0.75, 0.714, 0.679, 0.643, 0.857, 0.714, 1, 1,
    0.893, 0.786, 0.714, 0.714, 0.607,
  ]
  private static let curve = LookCurve(weights: weights)
  private static let now = Timestamp(microseconds: 1_782_907_200_000_000)

  private static func time(_ hours: Double) -> TimeOfDay { TimeOfDay(microseconds: Int64(hours * 3_600_000_000)) }

  private static func demand(perDay: Int = 20, minInterval: TimeSpan = .minutes(5)) -> KindDemand {
    var demand = KindDemand()
    demand.configure(curve, anchorMinute: 240, perDay: perDay, minInterval: minInterval, measure: 1)
    return demand
  }

  /// Returns a kind that has learnt from nine instances, of which three ran out of tokens in hour 17.
  private static func learnt() -> KindDemand {
    var demand = demand()
    for hour in 0..<24 {
      let place = DayPlace(hour: hour, part: 0)
      for _ in 0..<hour * 7 % 13 * 3 { _ = demand.noteChange(DemandState(), at: place, now: now) }
      _ = demand.notePush(DemandState(), worth: Double(hour * 5 % 11) / 4, at: place, now: now)
      demand.hourEnded(hour, instances: hour < 14 ? 9_000_000 : 8_000_000)
    }
    for _ in 0..<3 {
      demand.countDry(1, at: DayPlace(hour: 17, part: 0), now: now)
    }
    pass(hours: 24, of: &demand)
    demand.freeze()
    return demand
  }

  /// Ends hours of the log for the instances without tokens, from `now` on.
  private static func pass(hours: Int64, of demand: inout KindDemand) {
    let hour = now.microseconds / LocalZone.hour.microseconds
    for passed in hour..<hour + hours { demand.dryHourEnded(passed) }
  }

  /// Returns the state of an instance whose memories are `ago` hours old.
  private static func state(
    sums: (need: Float, worth: Float, days: Float) = (0, 0, 0), today: (need: Float, worth: Float) = (0, 0),
    recent: (need: Float, worth: Float) = (0, 0), ago: Double = 0, startHours: Float = 0, silent: Double? = nil
  ) -> DemandState {
    var state = DemandState()
    (state.needSum, state.worthSum, state.days) = sums
    (state.needToday, state.worthToday) = today
    (state.needRecent, state.worthRecent) = recent
    state.startHours = startHours
    state.recentAt = UInt32(now.microseconds / 1_000_000 - Int64(ago * 3600))
    if let silent { state.countedAt = UInt32(now.microseconds / 1_000_000 - Int64(silent * 3600)) }
    return state
  }

  private static func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 2e-6 * max(1, abs(b)) }

  @Test("the looks ahead are the rate of the hour, or fewer where fewer people look after the full hour")
  func looks() {
    let expected = [
      (8.0, 0.522495214), (23.75, 0.795043608), (3.9, 0.014358647), (16.9, 0.949266114), (18.8, 1.272601574),
    ]
    for (hours, looks) in expected { #expect(abs(Self.curve.ahead(Self.time(hours)) - looks) < 1e-8, "\(hours)") }
    let worth = ReloadWorth.looks(distance: 0.64, ahead: Self.curve.ahead(Self.time(8)))
    #expect(abs(worth - 0.267517549) < 1e-8)
    for anchor in [0, 240, 270, 1380] {
      #expect(abs(Self.curve.shares(from: anchor).reduce(0, +) - 1) < 1e-12)
    }
    #expect(LookCurve(weights: Array(repeating: 0, count: 24)).ahead(Self.time(5.5)) == 50.0 / 24 / 3)
  }

  /// The expected N, A and λ of one instance.
  struct Expected: Sendable, CustomTestStringConvertible {
    var name: String
    var learnt: Bool
    var state: DemandState
    var left: Int
    var hours: Double
    var (need, worth, looks): (Double, Double, Double)
    var testDescription: String { name }
  }

  static let expected: [Expected] = [
    Expected(
      name: "nothing known", learnt: false, state: state(), left: 20, hours: 0, need: 30, worth: 2.5, looks: 0.052083),
    Expected(
      name: "noon of the first day", learnt: false,
      state: state(today: (4, 1.5), recent: (2, 0.5), ago: 0.5, startHours: 6.5), left: 20, hours: 8.25,
      need: 32.129059, worth: 9.438370, looks: 0.222693),
    Expected(
      name: "a morning", learnt: true,
      state: state(sums: (96, 12, 2.5), today: (3, 0.25), recent: (1.5, 0.125), ago: 0.25), left: 20, hours: 3.5,
      need: 85.228697, worth: 5.033376, looks: 0.240764),
    Expected(
      name: "a surge", learnt: true, state: state(sums: (96, 12, 2.5), today: (70, 6), recent: (20, 3), ago: 0.125),
      left: 5, hours: 12.75, need: 81.134582, worth: 11.308470, looks: 2.652894),
    surge(silent: 1.0 / 12, need: 81.134582, worth: 11.308470, looks: 2.652894),
    surge(silent: 0.25, need: 73.916063, worth: 10.219326, looks: 2.382012),
    surge(silent: 0.5, need: 42.196531, worth: 5.433423, looks: 1.197400),
    surge(silent: 1.5, need: 21.569670, worth: 2.321202, looks: 0.445783),
    Expected(
      name: "an evening with few tokens", learnt: true,
      state: state(sums: (24, 3, 4), today: (22, 2.75), recent: (1, 0.25), ago: 1.75), left: 2, hours: 20,
      need: 2.610499, worth: 0.248845, looks: 0.036372),
    Expected(
      name: "tokens for everything", learnt: true,
      state: state(sums: (24, 3, 4), today: (6, 0.75), recent: (1, 0.25), ago: 1.75), left: 30, hours: 20,
      need: 0.754144, worth: 0.093898, looks: 0),
    Expected(
      name: "the last minutes", learnt: true, state: state(sums: (96, 12, 2.5), today: (70, 6), recent: (9, 1)),
      left: 1, hours: 23.875, need: 0.207445, worth: 0.021709, looks: 0),
  ]

  /// The surge of the table, without a change for some hours since the last one that was counted.
  private static func surge(silent: Double, need: Double, worth: Double, looks: Double) -> Expected {
    Expected(
      name: "a surge, silent for \(silent) h", learnt: true,
      state: state(sums: (96, 12, 2.5), today: (70, 6), recent: (20, 3), ago: 0.125, silent: silent), left: 5,
      hours: 12.75, need: need, worth: worth, looks: looks)
  }

  @Test("both ways to compute a price agree, for the kind's looks and for the device's own", arguments: expected)
  func bothWays(_ expected: Expected) {
    let demand = expected.learnt ? Self.learnt() : Self.demand()
    let place = DayPlace(hours: expected.hours)
    let usual = UsualCourse(
      at: Self.now, place: place, need: demand.need.course(at: place, from: .start),
      worth: demand.worth.course(at: place, from: .start), ahead: 1)
    let faded = KindDemand.faded(expected.state, Self.now)
    let looks = demand.looks(ofToken: expected.state, left: expected.left, usual: usual, faded: faded)
    #expect(Self.isNear(looks, expected.looks))
  }

  @Test("N, A and λ are those of an independent computation", arguments: expected)
  func prices(_ expected: Expected) {
    let demand = expected.learnt ? Self.learnt() : Self.demand()
    let price = demand.price(expected.state, left: expected.left, at: DayPlace(hours: expected.hours), now: Self.now)
    #expect(Self.isNear(price.need, expected.need), "\(price)")
    #expect(Self.isNear(price.worth, expected.worth), "\(price)")
    #expect(Self.isNear(price.looks, expected.looks), "\(price)")
  }

  @Test("a token costs nothing while there is one for each change that is expected, and more the fewer are left")
  func scarcity() {
    let demand = Self.learnt()
    let state = Self.state(sums: (96, 12, 2.5), today: (30, 3), recent: (5, 0.5))
    let prices = (1...100).map { demand.price(state, left: $0, at: DayPlace(hour: 8, part: 0.5), now: Self.now) }
    for (left, price) in zip(1...100, prices) { #expect((price.looks == 0) == (price.need <= Double(left)), "\(left)") }
    #expect(zip(prices, prices.dropFirst()).allSatisfy { $0.looks >= $1.looks } && prices[0].looks > 0)
    #expect(prices[99].looks == 0)
  }

  @Test("need counts a change once in each minimum interval")
  func need() {
    var demand = Self.demand()
    var state = DemandState()
    for second in [0, 1, 299, 300, 301, 599, 600] {
      state = demand.noteChange(state, at: .start, now: Self.now + .seconds(Int64(second)))
    }
    #expect(state.needToday == 3 && demand.need.counted[0] == 3_000_000)
    var free = Self.demand(minInterval: .zero)
    state = DemandState()
    for _ in 0..<4 { state = free.noteChange(state, at: .start, now: Self.now) }
    #expect(state.needToday == 4)
  }

  @Test("the memory of two hours fades by e in two hours")
  func memory() {
    var demand = Self.demand()
    let place = DayPlace(hour: 8, part: 0)
    var state = demand.notePush(DemandState(), worth: 1, at: place, now: Self.now)
    state = demand.notePush(state, worth: 0, at: place, now: Self.now + .hours(2))
    #expect(abs(state.worthRecent - 0.367_879_44) < 1e-6 && state.worthToday == 1)
  }

  @Test("a day that ran out of tokens counts as a whole one, at most five times what it brought")
  func dried() {
    var demand = Self.demand()
    let usual = demand.worth
    for hour in [3, 12, 23] {
      var state = demand.notePush(DemandState(), worth: 3, at: DayPlace(hour: hour, part: 0.5), now: Self.now)
      state = demand.dried(state, at: DayPlace(hour: hour, part: 0.5))
      demand.countDry(1, at: DayPlace(hour: hour, part: 0.5), now: Self.now)
      let share = usual.before[hour + 1] / usual.before[24]
      let next = demand.dayEnded(state)
      #expect(Self.isNear(Double(next.worthSum), 3 * min(5, 1 / share)), "hour \(hour)")
      #expect(next.unseenShare == 0 && next.worthToday == 0 && next.days == 1)
    }
    // The hours after that tell nothing about worth.
    Self.pass(hours: 24, of: &demand)
    #expect(demand.unseen[3] == 0 && demand.unseen[4] == 1_000_000 && demand.unseen[13] == 2_000_000)
  }

  @Test("hours without tokens are left out of what is known about worth when they have passed, not before")
  func dryHours() {
    var demand = Self.demand()
    let place = DayPlace(hour: 10, part: 0)
    for hour in 0...10 { demand.hourEnded(hour, instances: 2_000_000) }
    demand.freeze()
    let usual = demand.worth.usual
    demand.countDry(1, at: place, now: Self.now)
    demand.freeze()
    #expect(demand.worth.usual == usual)
    Self.pass(hours: 3, of: &demand)
    #expect(demand.unseen[10...13].elementsEqual([0, 1_000_000, 1_000_000, 0]))
    // Half of the hour at hand.
    demand.hourGoesOn(13, instances: 1_000_000)
    demand.dryHourGoesOn(Self.now.microseconds / LocalZone.hour.microseconds + 3, part: 500_000)
    demand.freeze()
    #expect(demand.unseen[13] == 0 && demand.worth.usual[13] > 0)
    // The next day begins with tokens.
    Self.pass(hours: 48, of: &demand)
    #expect(demand.unseen[11...].allSatisfy { $0 == 1_000_000 } && demand.unseen[...10].allSatisfy { $0 == 0 })
    #expect(demand.dry.isEmpty)
  }

  @Test("on its first day an instance without tokens has seen a share of what it could see, not of the whole day")
  func driedOnTheFirstDay() {
    var demand = Self.demand()
    let start = DayPlace(hour: 12, part: 0.5)
    var state = demand.notePush(DemandState(start: start), worth: 2, at: DayPlace(hour: 14, part: 0), now: Self.now)
    state = demand.dried(state, at: DayPlace(hour: 14, part: 0.25))
    demand.countDry(1, at: DayPlace(hour: 14, part: 0.25), now: Self.now)
    let worth = demand.worth
    let came = worth.before[12] + worth.usual[12] / 2
    let seen = (worth.before[15] - came) / (worth.before[24] - came)
    #expect(Self.isNear(Double(demand.dayEnded(state).worthSum), 2 / seen))
  }

  @Test("after a refund the hours tell about worth again")
  func refilled() {
    var demand = Self.demand()
    var state = demand.notePush(DemandState(), worth: 2, at: DayPlace(hour: 8, part: 0), now: Self.now)
    state = demand.dried(state, at: DayPlace(hour: 8, part: 0))
    demand.countDry(1, at: DayPlace(hour: 8, part: 0), now: Self.now)
    Self.pass(hours: 3, of: &demand)
    state = demand.dried(state, by: -1, at: DayPlace(hour: 11, part: 0.5))
    demand.countDry(-1, at: DayPlace(hour: 11, part: 0.5), now: Self.now + .hours(3) + .minutes(30))
    let worth = demand.worth
    let unseen = (worth.before[12] - worth.before[9]) / worth.before[24]
    #expect(abs(Double(state.unseenShare) - unseen) < 1e-6)
    #expect(Self.isNear(Double(demand.dayEnded(state).worthSum), 2 / (1 - unseen)))
    let hour = Self.now.microseconds / LocalZone.hour.microseconds
    for passed in hour + 3..<hour + 27 { demand.dryHourEnded(passed) }
    #expect(demand.unseen[9...12].elementsEqual([1_000_000, 1_000_000, 1_000_000, 0]) && demand.dry.isEmpty)
  }

  @Test(
    "a budget day that begins at another time keeps what was learnt of each hour of the clock",
    arguments: [0, 600, 1380])
  func otherDayStart(anchorMinute: Int) throws {
    var demand = Self.demand()
    for place in 0..<24 {
      demand.hourEnded(place, instances: Int64(place + 1) * 1_000_000)
      for _ in 0...place {
        _ = demand.noteChange(DemandState(), at: DayPlace(hour: place, part: 0), now: Self.now)
        _ = demand.notePush(DemandState(), worth: 2, at: DayPlace(hour: place, part: 0), now: Self.now)
      }
    }
    demand.countDry(1, at: DayPlace(hour: 8, part: 0), now: Self.now)
    demand.freeze()
    let hours = (anchorMinute - 240) / 60
    func same(_ moved: KindDemand) {
      for place in 0..<24 {
        let old = ((place + hours) % 24 + 24) % 24
        #expect(moved.observed[place] == demand.observed[old] && moved.need.counted[place] == demand.need.counted[old])
        #expect(moved.worth.usual[place] == demand.worth.usual[old])
      }
      #expect(moved.need.before[24] == moved.need.usual.reduce(0, +))
    }
    var moved = demand
    func configure(_ demand: inout KindDemand) {
      demand.configure(Self.curve, anchorMinute: anchorMinute, perDay: 20, minInterval: .minutes(5), measure: 1)
    }
    configure(&moved)
    same(moved)
    // The hours without tokens stay the same hours of the log.
    let hour = Self.now.microseconds / LocalZone.hour.microseconds
    for passed in hour..<hour + 24 {
      demand.dryHourEnded(passed)
      moved.dryHourEnded(passed)
    }
    for place in 0..<24 { #expect(moved.unseen[place] == demand.unseen[((place + hours) % 24 + 24) % 24], "\(place)") }
    #expect(demand.unseen.contains { $0 > 0 })
    // A kind that was configured before it is restored moves what it reads.
    var writer = BinaryWriter()
    demand.write(to: &writer)
    var reader = BinaryReader(writer.bytes)
    var restored = KindDemand()
    configure(&restored)
    try restored.read(from: &reader)
    same(restored)
  }

  @Test("a larger budget ends the hours without tokens, so that a second drying counts them once")
  func raised() {
    var demand = Self.demand()
    demand.countDry(1, at: DayPlace(hour: 8, part: 0), now: Self.now)
    demand.configure(Self.curve, anchorMinute: 240, perDay: 30, minInterval: .minutes(5), measure: 1)
    demand.countDry(1, at: DayPlace(hour: 10, part: 0), now: Self.now + .hours(2))
    let hour = Self.now.microseconds / LocalZone.hour.microseconds
    for passed in hour..<hour + 24 { demand.dryHourEnded(passed) }
    #expect(demand.unseen[...10].allSatisfy { $0 == 0 } && demand.unseen[11...].allSatisfy { $0 == 1_000_000 })
  }

  @Test("past days fade by 0.85 each, idle ones too, and the first one counts as the share of looks that was seen")
  func days() {
    var demand = Self.demand(minInterval: .zero)
    var state = DemandState(start: DayPlace(hour: 14, part: 0.5))
    for _ in 0..<8 { state = demand.noteChange(state, at: DayPlace(hour: 15, part: 0), now: Self.now) }
    state = demand.dayEnded(state, idle: 2)
    #expect(Self.isNear(Double(state.needSum), 8 * 0.85 * 0.85))
    let shares = Self.curve.shares(from: 240)
    let seen = shares[14] / 2 + shares[15..<24].reduce(0, +)
    #expect(Self.isNear(Double(state.days), (seen * 0.85 + 1) * 0.85 + 1))
    #expect(state.startHours == 0)
    #expect(demand.dayEnded(state, idle: .max).days.isFinite)
  }

  @Test("the order in which instances teach changes no price, and a restored kind goes on with the same bits")
  func order() throws {
    var lessons: [(hour: Int, worth: Double?)] = []
    for hour in 0..<24 {
      for i in 0..<5 { lessons.append((hour, i < 2 ? nil : Double(hour * 37 % 19 + i) / 7)) }
    }
    func taught(_ lessons: [(hour: Int, worth: Double?)]) -> KindDemand {
      var demand = Self.demand()
      for (hour, worth) in lessons {
        let place = DayPlace(hour: hour, part: 0.25)
        if let worth {
          _ = demand.notePush(DemandState(), worth: worth, at: place, now: Self.now)
        } else {
          _ = demand.noteChange(DemandState(), at: place, now: Self.now)
        }
        demand.hourEnded(hour, instances: 1_000_000)
      }
      return demand
    }
    func bytes(_ demand: KindDemand) -> [UInt8] {
      var writer = BinaryWriter()
      demand.write(to: &writer)
      return writer.bytes
    }
    var (first, second) = (taught(lessons), taught(lessons.reversed()))
    var reader = BinaryReader(bytes(first))
    var restored = Self.demand()
    try restored.read(from: &reader)
    // Nothing is frozen anew by a restore: the prices within the hour stay.
    let state = Self.state(sums: (96, 12, 2.5), today: (9, 1), recent: (2, 0.25), ago: 0.5)
    let place = DayPlace(hour: 9, part: 0.75)
    #expect(
      restored.price(state, left: 9, at: place, now: Self.now) == first.price(state, left: 9, at: place, now: Self.now))
    for hour in 0..<3 { first.hourEnded(hour, instances: 7) }
    for hour in 0..<3 { second.hourEnded(hour, instances: 7) }
    for hour in 0..<3 { restored.hourEnded(hour, instances: 7) }
    first.freeze()
    second.freeze()
    restored.freeze()
    #expect(bytes(first) == bytes(second) && bytes(first) == bytes(restored))
  }

  @Test("damaged records of a kind's demand are refused, not computed with")
  func damaged() {
    var writer = BinaryWriter()
    Self.learnt().write(to: &writer)
    for cut in 0..<writer.bytes.count {
      #expect(throws: BinaryError.self) {
        var (reader, demand) = (BinaryReader(Array(writer.bytes[..<cut])), KindDemand())
        try demand.read(from: &reader)
      }
    }
    var negative = BinaryWriter()
    for _ in 0..<24 { negative.zigzag(-1) }
    for _ in 0..<24 { negative.double(0) }
    #expect(throws: BinaryError.self) {
      var (reader, demand) = (BinaryReader(negative.bytes), KindDemand())
      try demand.read(from: &reader)
    }
  }

  @Test("with the kind's hours as its own a device has the same price")
  func sameHours() {
    let demand = Self.learnt()
    let state = Self.state(sums: (96, 12, 2.5), today: (9, 1), recent: (2, 0.25), ago: 0.5, startHours: 1.5)
    for hours in stride(from: 2.0, to: 23.9, by: 0.7) {
      let place = DayPlace(hours: hours)
      let usual = demand.price(state, left: 3, at: place, now: Self.now)
      let own = demand.price(state, left: 3, at: place, own: InlineArray(repeating: 1), now: Self.now)
      #expect(abs(usual.worth - own.worth) < 0.02 * usual.worth && usual.need == own.need, "\(hours)")
    }
  }

  @Test("a device with its own hours has the kind's worth at those hours")
  func ownHours() {
    let demand = Self.learnt()
    var night = InlineArray<24, Double>(repeating: 0)
    for hour in 18..<24 { night[hour] = 4 }
    let whole = demand.worth.usual[18...].reduce(0, +) * 4
    let place = DayPlace(hour: 2, part: 0)
    let price = demand.price(Self.state(), left: 5, at: place, own: night, now: Self.now)
    #expect(Self.isNear(price.worth, whole))
  }
}
