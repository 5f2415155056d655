import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of which decisions count for the objective of a kind, and how.
@Suite("Objectives")
struct ObjectiveTests {
  /// A kind with an objective of ten minutes for changes of a quarter of an hour and more.
  private static func policy(_ change: (inout KindPolicy) -> Void = { _ in }) -> Policy {
    .slowDelays {
      $0.objective = FreshnessObjective(freshWithin: .minutes(10), share: 0.95, wrongAtLeast: 0.25)
      change(&$0)
    }
  }

  private func harness(_ change: (inout KindPolicy) -> Void = { _ in }) -> PlannerHarness {
    var h = H(Self.policy(change))
    h.register(.phone())
    return h
  }

  private func results(_ decisions: [Decision]) -> [String] {
    decisions.map { "\($0.reason.rawValue) \($0.objective?.rawValue ?? "-")" }
  }

  @Test("a change that is pushed at once meets the objective, and a smaller one does not count")
  func atOnce() {
    var h = harness()
    h.event(.delay(15, id: "e1", at: H.noon))
    #expect(results(h.last) == ["EMITTED met"])
    h.event(.delay(29, id: "e2", at: H.noon + H.hour))
    #expect(results(h.last) == ["EMITTED -"])
  }

  @Test(
    "a change that waits longer than freshWithin misses it, one that comes later and goes with the same push meets it")
  func waiting() {
    var h = harness()
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(40, id: "e2", at: H.noon + H.minute))
    h.event(.delay(60, id: "e3", at: H.noon + 8 * H.minute))
    #expect(results(h.last) == ["MIN_INTERVAL -"], "only a final decision counts")
    h.drain(until: H.noon + H.hour)
    #expect(results(h.last) == ["EMITTED_AFTER_DEFER met", "EMITTED_COALESCED missed"])
    #expect(h.last.map(\.event) == ["e3", "e2"])
  }

  @Test("a change that is undone counts by the time for which the screen was wrong")
  func undone() {
    var h = harness()
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    h.event(.delay(10, id: "e3", at: H.noon + 3 * H.minute))
    #expect(results(h.last) == ["SUPERSEDED met", "NOT_VISIBLE -"])
    h.event(.delay(60, id: "e4", at: H.noon + 4 * H.minute))
    h.event(.delay(10, id: "e5", at: H.noon + 14 * H.minute + 1))
    #expect(results(h.last) == ["SUPERSEDED missed", "NOT_VISIBLE -"])
  }

  @Test("news that expires unshown misses the objective, however soon")
  func expired() {
    var h = harness {
      $0.displays = []; $0.rules[0].relevance = RelevanceFormula(base: 0.9)
    }
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute, type: "flight.cancelled"))
    h.drain(until: H.noon + H.hour)
    #expect(results(h.last) == ["EXPIRED missed"])
  }

  @Test("a reload that a signal tells of shows what waited")
  func freshened() {
    var h = harness()
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    h.signal(.appForegrounded, at: H.noon + 5 * H.minute)
    #expect(results(h.last) == ["FRESHENED met"])
    h.event(.delay(10, id: "e3", at: H.noon + 6 * H.minute))
    #expect(results(h.last) == ["APP_FOREGROUND -"], "what is shown for free at once is no matter of budgets")
  }

  @Test("what can no longer be shown does not count: a dead token, a kind that is switched off, a removed widget")
  func unreachable() {
    var h = harness()
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    h.activate(Self.policy { $0.enabled = false })
    h.drain(until: H.noon + H.hour)
    #expect(results(h.last) == ["KIND_DISABLED -"])
  }

  @Test("devices in developer mode, and kinds without an objective, do not count")
  func without() {
    var h = H(Self.policy())
    h.register(.phone(developerMode: true))
    h.event(.delay(60, id: "e1", at: H.noon))
    #expect(results(h.last) == ["EMITTED -"])
    h = harness { $0.objective = nil }
    h.event(.delay(60, id: "e1", at: H.noon))
    #expect(results(h.last) == ["EMITTED -"])
  }

  @Test("an objective changes no decision")
  func neutral() {
    func run(_ objective: FreshnessObjective?) -> [Decision] {
      var h = harness { $0.objective = objective }
      for round in 0..<200 {
        h.event(.delay(Double(round * 17 % 60), id: Identifier("e\(round)"), at: H.noon + Int64(round) * 3 * H.minute))
      }
      h.drain(until: H.noon + 24 * H.hour)
      return h.decisions
    }
    let with = run(FreshnessObjective(freshWithin: .minutes(10), share: 0.95))
    var without = with
    for place in without.indices { without[place].objective = nil }
    #expect(without == run(nil))
    #expect(with.contains { $0.objective == .met } && with.contains { $0.objective == .missed })
    #expect(with.allSatisfy { $0.objective == nil || $0.final })
  }

  @Test("a sweep counts the screens that are late by the objective, and does not count smaller errors")
  func late() throws {
    var h = harness()
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    func late(_ planner: borrowing Planner, at instant: Int64) throws -> Int {
      var sweep = ScreenSweep()
      let figures = try #require(planner.sweep(&sweep, at: Timestamp(microseconds: instant)))
      let kind = try #require(figures.kinds.first)
      #expect(kind.objective?.share == 0.95 && kind.wrong == 1)
      return kind.late
    }
    #expect(try late(h.planner, at: H.noon + 11 * H.minute) == 0)
    #expect(try late(h.planner, at: H.noon + 11 * H.minute + 1) == 1)
    h.event(.delay(20, id: "e3", at: H.noon + 12 * H.minute))
    #expect(try late(h.planner, at: H.noon + 14 * H.minute) == 0)
  }
}
