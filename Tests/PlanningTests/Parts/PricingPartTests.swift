import Domain
import Foundation
import Policies
import Testing

@testable import Planning

@Suite("The price of tokens, without a planner")
struct PricingPartTests {
  private static let kind = KindSlot(0)
  /// 2026-07-01T00:00:00Z.
  private static let midnight = Timestamp(microseconds: 1_782_864_000_000_000)

  private static func pricing(_ change: (inout KindPolicy) -> Void = { _ in }) -> Pricing {
    var policy = KindPolicy(
      name: "K", budget: InstanceBudget(perDay: 48, minInterval: .zero), halfLife: .minutes(20), rules: [],
      price: PricePrior(base: 0.5))
    change(&policy)
    var pricing = Pricing()
    pricing.addKind(policy)
    return pricing
  }

  private static func time(hours: Double) -> TimeOfDay { TimeOfDay(microseconds: Int64(hours * 3_600_000_000)) }

  @Test("decay halves with each half-life, to a billionth")
  func decay() {
    var random = SeededRandom(seed: 21)
    for _ in 0..<2000 {
      let halfLives = random.unit() * 59.9
      #expect(abs(Decay.factor(halfLives: halfLives) / pow(2, -halfLives) - 1) < 1e-9, "seed 21, \(halfLives)")
    }
    #expect([-1, 0, 1, 2, 60, 1e9].map { Decay.factor(halfLives: $0) } == [1, 1, 0.5, 0.25, 0, 0])
    #expect(Decay.factor(age: .minutes(40), inverseHalfLife: 1 / 1_200_000_000) == 0.25)
  }

  @Test("the share of the day that is to come falls from 1 to 0, from anchor to anchor", arguments: [0, 240, 1380])
  func shareToCome(anchor: Int) {
    var random = SeededRandom(seed: 22)
    var curve = KindCurve()
    curve.configure(
      KindPolicy(
        name: "K",
        budget: InstanceBudget(perDay: 48, minInterval: .zero, window: .localDay(anchorMinute: anchor)),
        halfLife: .minutes(20), rules: []))
    for day in 0..<8 {
      var last = 1.0
      for quarter in 0..<96 {
        let hour = (Double(anchor) / 60 + Double(quarter) / 4).truncatingRemainder(dividingBy: 24)
        let share = curve.shareToCome(Self.time(hours: hour))
        #expect(share <= last + 1e-12 && share >= 0, "seed 22, day \(day), hour \(hour)")
        if quarter == 0 { #expect(abs(share - 1) < 1e-12) }
        last = share
      }
      let end = (Double(anchor) / 60 + 23.999_999).truncatingRemainder(dividingBy: 24)
      #expect(curve.shareToCome(Self.time(hours: end)) < 1e-6)
      for hour in 0..<24 {
        if random.chance(1, in: 2) { curve.noteArrival(hour: hour, relevance: random.unit()) }
        curve.hourPassed()
      }
      curve.checkInvariants()
    }
  }

  @Test("a curve learns the hours in which events come")
  func learning() {
    var curve = KindCurve()
    curve.configure(Policy.flights().kinds[0])
    let before = curve.shareToCome(Self.time(hours: 20))
    for _ in 0..<10 {
      curve.noteArrival(hour: 21, relevance: 5)
      for _ in 0..<24 { curve.hourPassed() }
    }
    // Experience counts four fifths, and all of it is still to come at 20:00.
    #expect(curve.shareToCome(Self.time(hours: 20)) > 0.8 && before < 0.5)
  }

  @Test("the learnt numbers of a kind are read back as they were written")
  func codec() throws {
    for seed in 1...5 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var (curve, copy) = (KindCurve(), KindCurve())
      for _ in 0..<100 {
        curve.noteArrival(hour: random.below(24), relevance: random.unit())
        curve.follow(theta: random.unit() + 0.5)
      }
      curve.configure(Policy.flights().kinds[0])
      for _ in 0..<50 { curve.hourPassed() }
      copy.configure(Policy.flights().kinds[0])
      var writer = BinaryWriter()
      curve.write(to: &writer)
      var reader = BinaryReader(writer.bytes)
      try copy.read(from: &reader)
      #expect(copy.theta == curve.theta, "seed \(seed)")
      for hour in 0..<24 {
        let time = Self.time(hours: Double(hour) + random.unit())
        #expect(copy.shareToCome(time) == curve.shareToCome(time), "seed \(seed), hour \(hour)")
      }
    }
  }

  @Test("a token costs more the fewer are left, and less the later it is")
  func scarcity() {
    let pricing = Self.pricing { $0.price.hourlyShare = Array(repeating: 1, count: 24) }
    let state = PriceState(theta: 1, calibratedAt: 0, flow: 0, flowMean: 0, flowCount: 0, flowAt: 0)
    func price(left: Int, hours: Double) -> Double {
      pricing.priceAhead(state, Self.kind, left: left, Self.time(hours: hours), nil, now: Self.midnight)
    }
    let byTokens = stride(from: 48, through: 0, by: -1).map { price(left: $0, hours: 12) }
    #expect(zip(byTokens, byTokens.dropFirst()).allSatisfy { $0 < $1 })
    let byHour = (4..<24).map { price(left: 20, hours: Double($0)) }
    #expect(zip(byHour, byHour.dropFirst()).allSatisfy { $0 > $1 })
    // On plan the price is θ: all tokens at the anchor, half of them twelve hours later.
    #expect(abs(price(left: 48, hours: 4) - 0.5) < 1e-9 && abs(price(left: 24, hours: 16) - 0.5) < 1e-9)
  }

  @Test("θ follows the spending by bounded steps and stays within its range")
  func calibration() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let pricing = Self.pricing()
      var state = PriceState()
      var now = Self.midnight
      let left = random.chance(1, in: 2) ? 0 : 48
      for step in 0..<400 {
        now = now + .minutes(Int64(random.below(180)))
        let quote = pricing.quote(state, Self.kind, left: left, Self.time(hours: 12), nil, now: now)
        #expect(quote.price >= 0, "seed \(seed), step \(step)")
        if state.theta > 0 {
          let ratio = Double(quote.next.theta / state.theta)
          // At most half of θ in an hour for a new instance.
          #expect(ratio <= 1.500_001 && ratio >= 1 / 1.500_001, "seed \(seed), step \(step)")
          #expect(left == 0 ? ratio >= 1 : ratio <= 1, "seed \(seed), step \(step)")
        }
        state = quote.next
        #expect((1 / 256.0...256).contains(Double(state.theta)), "seed \(seed), step \(step)")
        let again = pricing.quote(state, Self.kind, left: left, Self.time(hours: 12), nil, now: now)
        #expect(again.next == state, "seed \(seed), step \(step): the same instant calibrates once")
      }
    }
  }

  @Test("a device's own habits count more the more days they rest on")
  func habits() {
    var random = SeededRandom(seed: 23)
    var pricing = Self.pricing()
    let device = DeviceSlot(0)
    let noon = Self.time(hours: 12)
    var habits: ViewHabits?
    var last = pricing.view(Self.kind, noon, nil)
    for day in 0..<20 as Range<Int64> {
      // Looks come at 21:00 only, so noon counts less and less.
      let hour = Self.midnight.microseconds / 3_600_000_000 + day * 24 + 21
      let counts = (0..<2).map { _ in pricing.noteLook(device, localHour: hour) }
      #expect(counts == [true, false], "day \(day)")
      habits = pricing.viewHabits[device]
      let view = pricing.view(Self.kind, noon, habits)
      #expect(view < last && view >= 0, "day \(day)")
      last = view
      for hour in 0..<24 {
        let time = Self.time(hours: Double(hour) + random.unit())
        let own = pricing.view(Self.kind, time, habits)
        #expect((0...1).contains(own), "seed 23, day \(day), hour \(hour)")
      }
    }
    #expect(last < 0.1)
    pricing.checkInvariants { $0 == device }
    pricing.forget(device)
    #expect(pricing.viewHabits.isEmpty)
    pricing.checkInvariants { _ in false }
  }

  @Test("hours pass once each, and a day of log time ends at midnight UTC")
  func hours() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var pricing = Self.pricing()
      var now = Self.midnight
      #expect(pricing.passHours(now: now) == false)
      for step in 0..<60 {
        let before = now
        now = now + .minutes(Int64(random.below(10 * 60)))
        let isNewDay = now.microseconds / 86_400_000_000 > before.microseconds / 86_400_000_000
        #expect(pricing.passHours(now: now) == isNewDay, "seed \(seed), step \(step)")
        #expect(pricing.hour == now.microseconds / 3_600_000_000, "seed \(seed), step \(step)")
        #expect(pricing.passHours(now: before) == false, "log time never goes back")
      }
    }
  }

  @Test("a gap of centuries passes as quickly as one of a fortnight")
  func gap() {
    var pricing = Self.pricing()
    _ = pricing.passHours(now: Self.midnight)
    #expect(pricing.passHours(now: Planner.latestTime) == true)
    pricing.checkInvariants { _ in true }
  }

  @Test("a kind is written when something was learnt, once")
  func touched() {
    var pricing = Self.pricing()
    #expect(pricing.takeTouchedKinds() == [Self.kind])
    #expect(pricing.takeTouchedKinds().isEmpty)
    let state = pricing.noteArrival(
      PriceState(), Self.kind, relevance: 0.5, Self.time(hours: 12), nil, now: Self.midnight)
    #expect(pricing.takeTouchedKinds() == [Self.kind])
    #expect(state.flowCount == 1 && state.flow == state.flowMean && state.flow > 0)
    pricing.touchKinds()
    pricing.untouchKinds()
    #expect(pricing.takeTouchedKinds().isEmpty)
  }

  @Test("the mean flow is taken over a bounded number of arrivals")
  func flow() {
    var pricing = Self.pricing { $0.views = Array(repeating: 1, count: 24) }
    var state = PriceState()
    for arrival in 0..<400 as Range<Int64> {
      state = pricing.noteArrival(
        state, Self.kind, relevance: 0.5, Self.time(hours: 12), nil, now: Self.midnight + .minutes(20 * arrival))
      #expect(Int(state.flowCount) == min(250, Int(arrival) + 1))
    }
    // Half of what came before is left after each half-life, so a half each time makes one.
    #expect(abs(state.flow - 1) < 1e-3 && abs(state.flowMean - 1) < 0.01)
  }

  @Test("a kind follows the θ of an instance whose window has just ended, and not that of one unused for days")
  func windows() {
    let calibrated = PriceState(
      theta: 3, calibratedAt: UInt32(Self.midnight.seconds), flow: 0, flowMean: 0, flowCount: 0, flowAt: 0)
    let end = Self.midnight + .hours(4)
    for (days, theta) in [(0, 2), (3, 2), (60, 2)] as [(Int64, Double)] {
      var pricing = Self.pricing()
      pricing.learnFromWindow(calibrated, Self.kind, endedAt: end, now: end + .hours(24 * days))
      #expect(pricing.curves[0].theta == theta)
    }
    var pricing = Self.pricing()
    pricing.learnFromWindow(calibrated, Self.kind, endedAt: end + .hours(72), now: end + .hours(73))
    pricing.learnFromWindow(PriceState(), Self.kind, endedAt: end, now: end)
    #expect(pricing.curves[0].theta == 1)
  }
}
