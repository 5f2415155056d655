import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

@Suite("Repeats of events")
struct RepeatTests {
  @Test(
    "an event that comes again after more newer ones than are remembered is not decided again",
    arguments: [false, true])
  func forgotten(restarts: Bool) {
    var h = H()
    h.losesPlanner = { restarts }
    h.register(.phone())
    let first = DomainEvent.delay(10, id: "f0", at: H.noon)
    h.event(first)
    #expect(h.only?.reason == .emitted)
    for i in 1...18 { h.event(.delay(10 + 5 * Double(i), id: "f\(i)", at: H.noon + Int64(i) * H.minute)) }
    h.event(first, at: H.noon + H.hour)
    #expect(!h.last.contains { $0.event == "f0" })
    #expect(h.planner.eventsTooOld == EventsTooOld(events: 1, newest: "f0") || restarts)
    #expect(h.decisions.filter { $0.event == "f0" }.count == 1)
    // A remembered event is still a duplicate, and a late event that is newer than the forgotten ones is stale.
    h.event(.delay(100, id: "f18", at: H.noon + 18 * H.minute), at: H.noon + H.hour)
    #expect(h.only?.reason == .duplicate)
    h.event(.delay(100, id: "late", at: H.noon + 10 * H.minute + 1), at: H.noon + H.hour)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test("an event that may be a repeat is not counted when nobody subscribes to it")
  func withoutSubscribers() {
    var h = H()
    h.register(.phone())
    for i in 0...18 { h.event(.delay(10, id: "f\(i)", subject: "flight/other", at: H.noon + Int64(i) * H.minute)) }
    h.event(.delay(10, id: "f0", subject: "flight/other", at: H.noon), at: H.noon + H.hour)
    #expect(h.planner.eventsTooOld.events == 0)
  }

  @Test("many events of one and the same time are all decided")
  func sameTime() {
    var h = H()
    h.register(.phone())
    for i in 0..<40 { h.event(.delay(Double(i) * 10, id: "f\(i)", at: H.noon), at: H.noon + Int64(i)) }
    #expect(h.decisions.count == 40 && h.planner.eventsTooOld.events == 0)
    #expect(h.decisions.allSatisfy { $0.reason == .emitted || $0.reason == .notVisible })
  }

  @Test("an event that is repeated at any later time is decided once", arguments: 0..<20)
  func decidedOnce(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var h = H()
    h.losesPlanner = { seed % 2 == 1 }
    h.register(.phone(widgets: [.flight(interests: ["flight/UA1", "flight/UA2"])]))
    var earlier: [DomainEvent] = []
    var time = H.noon
    // Half an hour at most without an event, so that the memory of a day forgets no subject.
    for i in 0..<400 {
      time += Int64.random(in: 1...(30 * H.minute), using: &random)
      if Int.random(in: 0..<3, using: &random) == 0, let again = earlier.randomElement(using: &random) {
        h.event(again, at: time)
        continue
      }
      // Publishers are late, and their clocks run ahead.
      let shift = Int64.random(in: -6...1, using: &random) * Int64.random(in: 0...(10 * H.minute), using: &random)
      let event = DomainEvent.delay(
        Double(i % 7) * 10, id: "e\(i)", subject: "flight/UA\(Int.random(in: 1...2, using: &random))", at: time + shift)
      earlier.append(event)
      h.event(event, at: time)
    }
    h.drain(until: time + 48 * H.hour)
    var finals: [Identifier: Int] = [:]
    for decision in h.decisions where decision.final { finals[decision.event, default: 0] += 1 }
    #expect(finals.values.allSatisfy { $0 == 1 }, "seed \(seed): \(finals.filter { $0.value > 1 })")
    #expect(finals.count > 200, "seed \(seed): \(finals.count)")
    #expect(h.decisions.contains { $0.reason == .duplicate } && h.decisions.contains { $0.reason == .staleEvent })
  }
}
