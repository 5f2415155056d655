import Domain
import Policies
import Testing

@testable import Planning

@Suite("The ends of log time")
struct EndOfTimeTests {
  private static let end = Fleet.latestTime.microseconds

  @Test("the planner reports no timer that is due after the year 9999", arguments: [0, 3600, 86_400])
  func unreachable(secondsBefore: Int64) throws {
    var harness = PlannerHarness(.flights { $0.budget = InstanceBudget(perDay: 1, minInterval: .zero) })
    let time = Self.end - secondsBefore * 1_000_000 - 1
    harness.register(.phone(at: time), at: time)
    harness.event(.delay(10, id: "e1", at: time))
    try #require(harness.only?.reason == .emitted)
    harness.event(.delay(60, id: "e2", at: time + 1))
    try #require(harness.only?.reason == .budgetInstance)
    let due = try #require(harness.planner.fleet.pending.nextTimer)
    // The harness fails after a million ticks.
    harness.drain()
    #expect(harness.planner.nextTimer == nil)
    #expect(harness.planner.now <= Fleet.latestTime)
    // The day ends once more before the end of time, or not at all.
    #expect((harness.planner.now >= due) == (due <= Fleet.latestTime))
  }

  @Test("a timer that is due at the last instant of log time still fires")
  func last() throws {
    var harness = PlannerHarness(
      .flights {
        $0.budget = InstanceBudget(perDay: 1, minInterval: .zero)
        $0.displays = []
        $0.rules = [Rule(event: "flight.boarding", relevance: RelevanceFormula(base: 0.9), maxAge: .seconds(10))]
      })
    let time = Self.end - 10_000_000
    harness.register(.phone(at: time), at: time)
    harness.event(.delay(10, id: "e1", at: time, type: "flight.boarding"))
    harness.event(.delay(20, id: "e2", at: time, type: "flight.boarding"), at: time + 1)
    #expect(harness.planner.nextTimer?.microseconds == Self.end)
    harness.drain()
    #expect(harness.decisions.last?.reason == .expired && harness.planner.nextTimer == nil)
  }

  @Test("a planner reads the clock that a record from before all calendars leaves")
  func beforeAllCalendars() {
    var harness = PlannerHarness()
    harness.losesPlanner = { true }
    // The harness fails if the state does not restore.
    harness.tick(at: .min / 2)
    #expect(harness.restarts == 1 && harness.planner.now.microseconds == -Self.end)
    harness.register(.phone())
    harness.event(.delay(10, id: "e1", at: PlannerHarness.noon))
    #expect(harness.only?.reason == .emitted)
  }
}
