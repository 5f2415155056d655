import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// What would grow with traffic if nobody looked after it.
@Suite("Bounds of a planner's memory")
struct BoundsTests {
  @Test("outdated timers are let go, whatever wakes an instance that waits for long")
  func timers() throws {
    var h = H(
      .flights { kind in
        kind.budget = InstanceBudget(perDay: 1, minInterval: .zero)
        kind.halfLife = .hours(4)
        kind.displays = []
        kind.rules = [
          Rule(on: "flight.delay.changed", relevance: RelevanceFormula(base: 0.5)),
          Rule(on: "flight.boarding", relevance: RelevanceFormula(base: 0.9), maxAge: .seconds(5)),
        ]
      })
    h.register(.phone())
    h.event(.delay(10, id: "e0", at: H.noon + 1))
    try #require(h.only?.reason == .emitted)
    h.event(.delay(20, id: "e1", at: H.noon + 2))
    try #require(h.only?.reason == .budgetInstance)
    // Each wakes the instance, which then waits for what the first one waits for.
    for i in 0..<500 {
      let at = H.noon + Int64(i + 1) * 10_000_000
      h.event(.delay(30, id: "b\(i)", at: at, type: "flight.boarding"))
      h.tick(at: at + 5_000_000)
    }
    #expect(h.decisions.count { $0.reason == .expired } == 500)
    let census = h.planner.census
    #expect(census.causes == 1 && census.waiting == 1)
    #expect(census.timers <= TimerQueue.entriesMax(waiting: 1), "\(census.timers) timers")
    h.drain(until: H.noon + 48 * H.hour)
    #expect(h.planner.census.timers <= 1)
  }

  @Test("subjects that broadcasts told of are forgotten as starts are, and are never more than the bound")
  func starts() throws {
    var bounds = PlannerBounds()
    bounds.startsPerTokenMax = 20
    var h = H(ActivityTests.policy())
    h.planner = Planner(policy: ActivityTests.policy(), bounds: bounds)
    func register(_ subjects: [String], at time: Int64) {
      let match = Registration.Activity(
        id: "m1", kind: "FlightActivity", address: .channel("chan=="), interests: subjects,
        startedAt: Timestamp(microseconds: time))
      h.register(
        ActivityTests.phone(activities: [match], starters: [ActivityTests.starter], at: time), at: time)
    }
    for day in 0..<30 { register(["day\(day)"], at: H.noon + Int64(day) * 24 * H.hour) }
    #expect(h.planner.census.startsPerToken == 1)
    let last = H.noon + 30 * 24 * H.hour
    for i in 0..<100 { register(["flight/UA1", "match/\(i)"], at: last + Int64(i) * H.minute) }
    #expect(h.planner.census.startsPerToken == 20)
    // What still runs is the last to go.
    h.event(.delay(10, id: "e1", at: last + 100 * H.minute, type: "flight.boarding"))
    #expect(h.only?.reason == .alreadyStarted)
  }
}
