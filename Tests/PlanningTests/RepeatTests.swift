import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

@Suite("Repeats of events")
struct RepeatTests {
  /// Returns the reasons of the final decisions about each event, in order.
  private static func finals(_ decisions: [Decision]) -> [Identifier: [Reason]] {
    var finals: [Identifier: [Reason]] = [:]
    for decision in decisions where decision.final { finals[decision.event, default: []].append(decision.reason) }
    return finals
  }

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
    #expect(h.last.filter { $0.event == "f0" }.map(\.reason) == [.staleEvent])
    #expect(h.decisions.filter { $0.event == "f0" }.map(\.reason) == [.emitted, .staleEvent])
    // A remembered event is still a duplicate, and a late event that is newer than the forgotten ones is stale.
    h.event(.delay(100, id: "f18", at: H.noon + 18 * H.minute), at: H.noon + H.hour)
    #expect(h.only?.reason == .duplicate)
    h.event(.delay(100, id: "late", at: H.noon + 10 * H.minute + 1), at: H.noon + H.hour)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test(
    "the newest event is remembered although many older ones arrive after it, and each of those has a final decision",
    arguments: [false, true])
  func newestFirst(restarts: Bool) {
    var h = H()
    h.losesPlanner = { restarts }
    h.register(.phone())
    let newest = DomainEvent.delay(60, id: "newest", at: H.noon + H.hour)
    h.event(newest, at: H.noon + H.hour)
    #expect(h.only?.reason == .emitted)
    for i in 0..<40 {
      h.event(.delay(10, id: "f\(i)", at: H.noon + Int64(i) * H.minute), at: H.noon + 2 * H.hour)
      #expect(h.only?.reason == .staleEvent && h.only?.final == true, "older event \(i)")
    }
    h.event(newest, at: H.noon + 3 * H.hour)
    #expect(h.only?.reason == .duplicate)
    #expect(h.commands.count == 1)
  }

  @Test(
    "many events of one and the same time are all decided, and repeats of them are recognised",
    arguments: [false, true])
  func sameTime(restarts: Bool) {
    var h = H()
    h.losesPlanner = { restarts }
    h.register(.phone())
    let events = (0..<SubjectMemory.newestEventsMax).map {
      DomainEvent.delay(Double($0) * 10, id: "f\($0)", at: H.noon)
    }
    for (i, event) in events.enumerated() { h.event(event, at: H.noon + Int64(i)) }
    #expect(Set(h.decisions.map(\.event)).count == events.count)
    #expect(!h.decisions.contains { $0.reason == .staleEvent || $0.reason == .duplicate })
    for event in events {
      h.event(event, at: H.noon + H.minute)
      #expect(h.last.contains { $0.event == event.id && $0.reason == .duplicate })
    }
    h.event(.delay(0, id: "one more", at: H.noon), at: H.noon + H.minute)
    #expect(!h.last.contains { $0.event == "one more" && ($0.reason == .staleEvent || $0.reason == .duplicate) })
  }

  @Test("events ahead of the log do not make events of the present stale, and repeats of both are recognised")
  func ahead() {
    var h = H()
    h.register(.phone())
    let ahead = (0..<60).map { DomainEvent.delay(Double($0), id: "a\($0)", at: H.noon + H.hour + Int64($0)) }
    let present = (0..<10).map {
      DomainEvent.delay(Double($0) * 7, id: "p\($0)", at: H.noon + (Int64($0) + 1) * H.minute)
    }
    for event in ahead { h.event(event, at: H.noon) }
    for event in present {
      h.event(event, at: event.time.microseconds)
      #expect(h.only?.reason != .staleEvent, "\(event.id)")
      h.event(event, at: event.time.microseconds)
      #expect(h.only?.reason == .duplicate, "\(event.id)")
    }
    for event in ahead {
      h.event(event, at: H.noon + 2 * H.hour)
      #expect(h.last.contains { $0.event == event.id && $0.reason == .duplicate }, "\(event.id)")
    }
  }

  @Test(
    "a forgotten event that still waits is a duplicate when it comes again, so its one final decision is still to come")
  func forgottenAndWaiting() {
    var h = H(demand: .high)
    h.register(.phone())
    let first = DomainEvent.delay(60, id: "f0", at: H.noon)
    h.event(first)
    #expect(h.only?.reason == .belowPrice)
    for i in 1...20 { h.event(.delay(60 + 5 * Double(i), id: "f\(i)", at: H.noon + Int64(i) * 1_000_000)) }
    h.event(first, at: H.noon + H.minute)
    #expect(h.last.filter { $0.event == "f0" }.map(\.reason) == [.duplicate])
    h.drain(until: H.noon + 60 * H.hour)
    #expect(h.decisions.filter { $0.event == "f0" && $0.final }.count == 1)
  }

  @Test(
    "whatever the order of arrival, an event is charged once, and every event has a final decision", arguments: 0..<8)
  func anyOrder(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var h = H()
    h.losesPlanner = { seed % 2 == 1 }
    h.register(.phone(widgets: [.flight(interests: ["flight/UA1"])]))
    // Each event comes up to 60 places early or late, and one in three comes again, at any later time.
    let count = 300
    var arrivals: [(place: Int, event: DomainEvent)] = []
    for i in 0..<count {
      let event = DomainEvent.delay(Double(i % 7) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)
      arrivals.append((i + Int.random(in: -60...60, using: &random), event))
      if Int.random(in: 0..<3, using: &random) == 0 {
        arrivals.append((i + Int.random(in: 0...count, using: &random), event))
      }
    }
    arrivals = arrivals.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(
      \.element)
    for (place, arrival) in arrivals.enumerated() {
      h.event(arrival.event, at: H.noon + 2 * H.hour + Int64(place) * H.minute)
    }
    h.drain(until: H.noon + 60 * H.hour)
    let finals = Self.finals(h.decisions)
    #expect(finals.count == count, "seed \(seed): \(finals.count) events have a final decision")
    for (event, reasons) in finals {
      #expect(!reasons.dropFirst().contains { $0 != .staleEvent }, "seed \(seed): \(event) ended as \(reasons)")
    }
    #expect(h.decisions.contains { $0.reason == .duplicate } && h.commands.count > 3, "seed \(seed)")
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
    let finals = Self.finals(h.decisions)
    // A repeat of a forgotten event ends as stale once more.
    for (event, reasons) in finals {
      #expect(!reasons.dropFirst().contains { $0 != .staleEvent }, "seed \(seed): \(event) ended as \(reasons)")
    }
    #expect(finals.count > 200, "seed \(seed): \(finals.count)")
    #expect(h.decisions.contains { $0.reason == .duplicate } && h.decisions.contains { $0.reason == .staleEvent })
  }
}
