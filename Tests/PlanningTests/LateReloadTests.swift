import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of reloads that the planner hears of late: what they showed is what was true when they happened.
@Suite("Late reloads")
struct LateReloadTests {
  /// A phone whose screen shows a delay of 10 since noon, while 40 minutes are true since 12:10. No change waits,
  /// because the rule of the second event says that it matters to nobody.
  private func overtaken() -> PlannerHarness {
    var h = H()
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(40, id: "e2", at: H.noon + 10 * H.minute, type: "flight.gate.changed"))
    #expect(h.only?.reason == .cosmetic)
    return h
  }

  /// Sends a signal that says when something happened, later than it happened.
  private func send(_ kind: Signal.Kind, of time: Int64, at arrival: Int64, to h: inout PlannerHarness) {
    let signal = Signal(device: "d1", id: "late", time: Timestamp(microseconds: time), kind: kind)
    h.apply(.signal(signal), at: arrival)
  }

  @Test(
    "a signal that comes late shows the changes that came before its time, and no later one",
    arguments: [
      (Signal.Kind.widgetFetched(instance: "w1"), 5, Reason.emitted),
      (.widgetFetched(instance: "w1"), 12, .notVisible),
      (.appBackgrounded, 5, .emitted),
    ] as [(Signal.Kind, Int64, Reason)])
  func late(kind: Signal.Kind, minute: Int64, reason: Reason) {
    var h = overtaken()
    send(kind, of: H.noon + minute * H.minute, at: H.noon + 15 * H.minute, to: &h)
    h.event(.delay(40, id: "e3", at: H.noon + 20 * H.minute))
    #expect(h.only?.reason == reason)
  }

  @Test("a fetch that is reported late ends a change that came after it and says nothing new")
  func repeatedAfterTheFetch() {
    var h = H(.flights { $0.budget.minInterval = .hours(1) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 10 * H.minute))
    h.event(.delay(20, id: "e3", at: H.noon + 20 * H.minute))
    #expect(h.only?.reason == .minInterval)
    send(.widgetFetched(instance: "w1"), of: H.noon + 15 * H.minute, at: H.noon + 25 * H.minute, to: &h)
    #expect(h.last.map(\.event) == ["e2", "e3"])
    #expect(h.last.allSatisfy { $0.reason == .freshened })
    h.drain()
    #expect(h.commands.count == 1)
  }

  @Test(
    "a change that waits stays, if the screen is still wrong after a late fetch by a change for which nothing waits")
  func stillWrong() {
    var h = H(.flights { $0.budget.minInterval = .hours(1) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 10 * H.minute))
    h.event(.delay(30, id: "e3", at: H.noon + 11 * H.minute))
    h.event(.delay(40, id: "e4", at: H.noon + 20 * H.minute, type: "flight.gate.changed"))
    #expect(h.only?.reason == .cosmetic)
    send(.widgetFetched(instance: "w1"), of: H.noon + 15 * H.minute, at: H.noon + 25 * H.minute, to: &h)
    #expect(h.last.map(\.event) == ["e2"])
    h.drain()
    #expect(h.last.map(\.event) == ["e3"] && h.commands.count == 2)
  }

  @Test("a restart keeps the times at which truths changed")
  func restored() {
    var h = overtaken()
    h.losesPlanner = { true }
    h.tick(at: H.noon + 11 * H.minute)
    #expect(h.restarts > 0)
    h.losesPlanner = { false }
    send(.widgetFetched(instance: "w1"), of: H.noon + 5 * H.minute, at: H.noon + 15 * H.minute, to: &h)
    h.event(.delay(40, id: "e3", at: H.noon + 20 * H.minute))
    #expect(h.only?.reason == .emitted)
  }
}
