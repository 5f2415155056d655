import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests that a refunded push is taken out of what was learnt: it brought nothing.
@Suite("The worth of refunded pushes")
struct RefundedWorthTests {
  private static let rate = BudgetProfile.Rate(
    limit: 5, window: .hours(1), burst: 3, provenance: BudgetProfile.Provenance(source: "test", confidence: "high"))

  private static func policy(_ change: (inout KindPolicy) -> Void = { _ in }) -> Policy {
    .flights(
      {
        $0.displays = [DisplayField(path: "data.delay", per: .units(100), initial: .number(0))]
        $0.rules = [Rule(event: "flight.delay.changed")]
        change(&$0)
      },
      also: {
        $0.profile.devicePushes = rate
        $0.profile.backgroundPushes = rate
      })
  }

  /// A phone with two widgets, one of them about another flight, after a push worth 0.4^1.5 · 0.69 looks at noon.
  private static func pushed(_ policy: Policy = policy(), os: UInt16 = 26) -> H {
    var h = H(policy, demand: .standard)
    h.register(
      .phone(
        widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA2"])], os: os,
        tokens: Registration.Tokens(widgets: "aa11", background: "bb22")))
    h.event(.delay(40, id: "e1", at: H.noon))
    return h
  }

  private static func demand(_ h: H, _ instance: UInt32 = 0) -> DemandState {
    h.planner.demand(of: instance)
  }

  private static func surplus(_ h: H, at time: Int64, _ rate: ChargedRate = .widgetPushes) -> Double {
    h.planner.surplus(rate, at: Timestamp(microseconds: time))
  }

  private static func counted(_ h: H) -> [Int64] { Array(h.planner.demand.worth.counted) }

  private static func refund(_ command: Identifier, at time: Int64, _ h: inout H) {
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: time)
  }

  @Test("a refunded push is in no sum any more, however often it is reported", arguments: [26, 18] as [UInt16])
  func forgotten(os: UInt16) throws {
    var h = Self.pushed(os: os)
    let rate: ChargedRate = os == 26 ? .widgetPushes : .backgroundPushes
    let command = try #require(h.lastCommands.first?.command)
    #expect(Self.demand(h).worthToday > 0.1 && Self.demand(h).worthRecent > 0.1)
    #expect(Self.surplus(h, at: H.noon, rate) > 0.1 && Self.counted(h).contains { $0 > 100_000 })
    h.losesPlanner = { true }
    h.tick(at: H.noon + H.minute)
    for minute in [30, 31] as [Int64] {
      Self.refund(command, at: H.noon + minute * H.minute, &h)
      #expect(Self.demand(h).worthToday == 0)
      #expect(abs(Self.demand(h).worthRecent) < 1e-6)
      #expect(Self.surplus(h, at: H.noon + minute * H.minute, rate) == 0)
      #expect(Self.counted(h).allSatisfy { $0 == 0 })
    }
    #expect(Self.demand(h).needToday == 1, "the change has come all the same")
  }

  @Test("what earlier pushes brought stays as if the refunded one had never been made")
  func others() throws {
    var (once, twice) = (Self.pushed(), Self.pushed())
    for h in [0, 1] {
      let event = DomainEvent.delay(100, id: "e2", at: H.noon + H.hour + 5 * H.minute)
      if h == 0 { once.tick(at: event.time.microseconds) } else { twice.event(event) }
    }
    let command = try #require(twice.lastCommands.first?.command)
    let later = H.noon + 2 * H.hour + 10 * H.minute
    Self.refund(command, at: later, &twice)
    once.tick(at: later)
    #expect(Self.counted(once) == Self.counted(twice))
    let (left, right) = (Self.demand(once), Self.demand(twice))
    #expect(abs(left.worthToday - right.worthToday) < 1e-6)
    let now = Timestamp(microseconds: later)
    #expect(abs(KindDemand.recent(left, now: now).worth - KindDemand.recent(right, now: now).worth) < 1e-6)
    #expect(abs(Self.surplus(once, at: later) - Self.surplus(twice, at: later)) < 1e-6)
  }

  @Test("a refund on a later day takes the worth out of the sum of past days", arguments: [0, 3] as [Int64])
  func laterDay(idleDays: Int64) throws {
    var h = Self.pushed()
    let command = try #require(h.lastCommands.first?.command)
    // The budget day ends at four. An event that changes nothing begins the next one.
    let later = H.noon + (17 + 24 * idleDays) * H.hour
    h.event(.delay(40, id: "e2", at: later))
    #expect(h.only?.reason == .notVisible && Self.demand(h).worthSum > 0.01)
    h.losesPlanner = { true }
    h.event(.delay(40, id: "e3", at: later + 24 * H.hour))
    #expect(Self.demand(h).worthSum > 0.01)
    for minute in [30, 50] as [Int64] {
      Self.refund(command, at: later + 24 * H.hour + minute * H.minute, &h)
      #expect(abs(Self.demand(h).worthSum) < 1e-6 && Self.demand(h).worthToday == 0)
      #expect(Self.counted(h).allSatisfy { $0 == 0 })
    }
  }

  @Test("the refund of a push that reloaded nothing wrong on a second widget takes nothing from it")
  func rider() throws {
    var h = Self.pushed()
    h.event(.delay(80, id: "e2", subject: "flight/UA2", at: H.noon + H.hour))
    let command = try #require(h.lastCommands.first?.command)
    let before = Self.demand(h).worthToday
    Self.refund(command, at: H.noon + H.hour + H.minute, &h)
    #expect(Self.demand(h).worthToday == before && before > 0.1)
    #expect(Self.demand(h, 1).worthToday == 0)
  }
}
