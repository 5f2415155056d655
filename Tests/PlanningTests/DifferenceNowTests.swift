import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of differences that changed while they waited: exceptions and prices read how wrong the screen is now.
@Suite("Differences as they are now")
struct DifferenceNowTests {
  /// A kind that shows a delay in proportion, up to an hour, and whose rule states no relevance.
  private static func policy(
    weight: Double = 1, _ change: (inout KindPolicy) -> Void = { _ in }, also: (inout Policy) -> Void = { _ in }
  ) -> Policy {
    .flights(
      {
        $0.budget.minInterval = .minutes(15)
        $0.displays = [DisplayField(path: "data.delay", per: .units(60), weight: weight, initial: .number(0))]
        $0.rules = [
          Rule(event: "flight.delay.changed"),
          Rule(event: "flight.cancelled", relevance: RelevanceFormula(base: 0.95)),
        ]
        change(&$0)
      }, also: also)
  }

  private static let twoSubjects: [Identifier] = ["flight/UA1", "flight/UA2"]

  // MARK: The reserve

  private static let reserving = policy {
    $0.budget.perDay = 2
    $0.budget.reserve = InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.7)
  }

  @Test("a difference that was large when it came and is small now does not use the reserve")
  func fallen() {
    var h = H(Self.reserving)
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(70, id: "e2", at: H.noon + H.minute))
    h.event(.delay(13, id: "e3", at: H.noon + 2 * H.minute))
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.map(\.reason) == [.emitted, .minInterval, .minInterval, .reserveHeld])
  }

  @Test("a difference that another policy has made large uses the reserve")
  func grown() {
    func policy(per: Double) -> Policy {
      Self.policy {
        $0.budget.perDay = 2
        $0.budget.reserve = InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.7)
        $0.displays = [DisplayField(path: "data.delay", per: .units(per), initial: .number(0))]
      }
    }
    var h = H(policy(per: 60))
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(40, id: "e2", at: H.noon + H.minute))
    h.activate(policy(per: 30))
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.map(\.reason) == [.emitted, .minInterval, .emittedAfterDefer])
  }

  @Test("differences that are small one by one do not use the reserve together")
  func several() {
    var h = H(Self.reserving)
    h.register(.phone(widgets: [.flight(interests: Self.twoSubjects)]))
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(40, id: "e2", at: H.noon + H.minute))
    h.event(.delay(30, id: "e3", subject: "flight/UA2", at: H.noon + 20 * H.minute))
    #expect(h.decisions.map(\.reason) == [.emitted, .minInterval, .reserveHeld, .reserveHeld])
  }

  @Test("a relevance that the rule states opens the reserve, however small the difference is by now")
  func stated() {
    var h = H(Self.reserving)
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(70, id: "e2", at: H.noon + H.minute, type: "flight.cancelled"))
    h.event(.delay(13, id: "e3", at: H.noon + 2 * H.minute))
    h.losesPlanner = { true }
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.last?.reason == .emittedCoalesced && h.commands.count == 2)
  }

  @Test("a difference that became small before quiet hours waits for their end")
  func quiet() {
    let quiet = QuietHours(fromMinute: 12 * 60 + 5, toMinute: 18 * 60, exceptRelevance: 0.9)
    var h = H(Self.policy(also: { $0.quietHours = quiet }))
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(70, id: "e2", at: H.noon + H.minute))
    h.event(.delay(13, id: "e3", at: H.noon + 2 * H.minute))
    h.losesPlanner = { true }
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.map(\.reason) == [.emitted, .minInterval, .minInterval, .quietHours])
  }

  // MARK: Another policy

  /// So much demand that a token costs 0.3 looks at noon. The looks of 20 minutes are 0.69.
  private static let threeTenths = DemandPrior(need: 1e6, worth: 17.28, worthPerToken: .infinity)

  private static func costly(_ field: DisplayField) -> Policy {
    policy {
      $0.budget.minInterval = .zero
      $0.displays = [field]
    }
  }

  private static let light = DisplayField(path: "data.delay", per: .units(60), weight: 0.1, initial: .number(0))
  private static let heavy = DisplayField(path: "data.delay", per: .units(60), weight: 1, initial: .number(0))

  @Test(
    "weights of a new policy count from the next examination on",
    arguments: [
      heavy, DisplayField(path: "data.delay", per: .units(30), weight: 0.9, initial: .number(0)),
      DisplayField(path: "data.delay", weight: 0.9, initial: .number(0)),
    ])
  func weighedAnew(field: DisplayField) {
    var h = H(Self.costly(Self.light), demand: Self.threeTenths)
    h.register(.phone())
    h.event(.delay(60, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice)
    h.activate(Self.costly(field))
    h.losesPlanner = { true }
    h.drain(until: H.noon + 30 * H.minute)
    #expect(h.decisions.last.map { $0.reason == .emittedAfterDefer && $0.wrong >= 0.89 } == true)
    #expect(h.commands.first.map { $0.at.microseconds <= H.noon + 10 * H.minute } == true)
  }

  @Test("what a screen shows stays known under other weights")
  func shownStays() {
    var h = H(Self.policy())
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(70, id: "e2", at: H.noon + H.minute))
    h.activate(Self.policy(weight: 0.5))
    h.event(.delay(10, id: "e3", at: H.noon + 2 * H.minute))
    #expect(h.last.map(\.reason) == [.superseded, .notVisible])
  }

  @Test("a screen that was wrong under one policy and is set right under another is right under both")
  func weightsBackAndForth() {
    var h = H(Self.costly(Self.light), demand: Self.threeTenths)
    h.register(.phone())
    h.event(.delay(60, id: "e1", at: H.noon))
    h.activate(Self.costly(Self.heavy))
    h.drain(until: H.noon + 15 * H.minute)
    #expect(h.commands.count == 1)
    h.activate(Self.costly(Self.light))
    h.event(.delay(60, id: "e2", at: H.noon + 30 * H.minute))
    #expect(h.only?.reason == .notVisible)
    h.event(.delay(50, id: "e3", at: H.noon + 40 * H.minute))
    #expect(h.only.map { abs($0.relevance - 0.1 / 6) < 1e-6 } == true)
  }
}
