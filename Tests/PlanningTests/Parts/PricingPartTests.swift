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
      name: "K", budget: InstanceBudget(perDay: 48, minInterval: .zero), halfLife: .minutes(20),
      rules: [Rule(event: "e")])
    change(&policy)
    var pricing = Pricing()
    pricing.addKind(policy)
    return pricing
  }

  /// The local time in a zone without an offset.
  private static func local(_ zone: ZoneSlot, _ instant: Timestamp) -> TimeOfDay {
    TimeOfDay(microseconds: instant.microseconds % LocalZone.day.microseconds)
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

  @Test("hours pass once each, and a day of log time ends at midnight UTC")
  func hours() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var pricing = Self.pricing()
      var now = Self.midnight
      #expect(pricing.passTime(now: now, Self.local) == false)
      for step in 0..<60 {
        let before = now
        now = now + .minutes(Int64(random.below(10 * 60)))
        let isNewDay = now.microseconds / 86_400_000_000 > before.microseconds / 86_400_000_000
        #expect(pricing.passTime(now: now, Self.local) == isNewDay, "seed \(seed), step \(step)")
        #expect(pricing.period == now.microseconds / 600_000_000, "seed \(seed), step \(step)")
        #expect(pricing.passTime(now: before, Self.local) == false, "log time never goes back")
      }
    }
  }

  @Test("a gap of centuries passes as quickly as one of a fortnight")
  func gap() {
    var pricing = Self.pricing()
    _ = pricing.passTime(now: Self.midnight, Self.local)
    #expect(pricing.passTime(now: Fleet.latestTime, Self.local) == true)
    pricing.checkInvariants { _ in true }
  }

  @Test("a kind is written when something was learnt, once")
  func touched() {
    var pricing = Self.pricing()
    #expect(pricing.takeTouchedKinds() == [Self.kind])
    #expect(pricing.takeTouchedKinds().isEmpty)
    let state = pricing.noteChange(DemandState(), Self.kind, Self.time(hours: 12), now: Self.midnight)
    #expect(pricing.takeTouchedKinds() == [Self.kind])
    #expect(state.needToday == 1)
    pricing.touchKinds()
    pricing.untouchKinds()
    #expect(pricing.takeTouchedKinds().isEmpty)
  }

  @Test("an instance counts as the part of an hour that it was there, and not at all once it is gone")
  func population() {
    var pricing = Self.pricing()
    let zone = ZoneSlot(0)
    _ = pricing.passTime(now: Self.midnight + .hours(12), Self.local)
    pricing.count(1, Self.kind, zone, now: Self.midnight + .hours(12) + .minutes(15), Self.local)
    _ = pricing.passTime(now: Self.midnight + .hours(14), Self.local)
    pricing.count(-1, Self.kind, zone, now: Self.midnight + .hours(14) + .minutes(30), Self.local)
    _ = pricing.passTime(now: Self.midnight + .hours(16), Self.local)
    let observed = pricing.kinds[0].demand.observed
    // The budget day begins at four.
    #expect(observed[8] == 750_000 && observed[9] == 1_000_000 && observed[10] == 500_000 && observed[11] == 0)
  }
}
