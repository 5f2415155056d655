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

  // MARK: The foreground

  /// A policy by which a difference of 60 minutes is wholly wrong.
  private static let perHour = Policy.flights {
    $0.displays = [DisplayField(path: "data.delay", per: .units(60), initial: .number(0))]
    $0.rules = [Rule(event: "flight.delay.changed")]
  }

  /// A phone whose app is in the foreground from noon on, and on which delays come that the app shows at once.
  /// - Parameter delays: The delays, one each minute after noon.
  private static func foreground(_ delays: [Double], policy: Policy = perHour) -> PlannerHarness {
    var h = H(policy)
    h.register(.phone())
    h.signal(.appForegrounded, at: H.noon)
    for (place, delay) in delays.enumerated() {
      h.event(.delay(delay, id: "f\(place)", at: H.noon + Int64(place + 1) * H.minute))
      #expect(h.only?.reason == .appForeground || h.only?.reason == .notVisible)
    }
    return h
  }

  private static func wrong(_ h: PlannerHarness) -> Double {
    h.planner.facts().wrong
  }

  @Test(
    "what changed between the app's leaving and its late signal is a difference, and leads to a push",
    arguments: [(30, 0.75), (90, 0.5), (150, 0.25), (210, 0)] as [(Int64, Double)])
  func leftLate(second: Int64, distance: Double) {
    var h = Self.foreground([15, 30, 45])
    let (left, heard) = (H.noon + second * H.minute / 60, H.noon + 10 * H.minute)
    h.losesPlanner = { true }
    h.tick(at: heard - H.minute)
    send(.appBackgrounded, of: left, at: heard, to: &h)
    #expect(abs(Self.wrong(h) - distance) < 1e-6)
    h.drain(until: heard + 2 * H.minute)
    #expect(h.commands.count == (distance > 0 ? 1 : 0))
    #expect(h.commands.allSatisfy { $0.serves.map(\.reason) == [.caughtUp] })
    #expect(Self.wrong(h) == 0)
    h.event(.delay(45, id: "again", at: heard + H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("what was undone after the app had left is no difference")
  func undone() {
    var h = Self.foreground([15, 45, 15])
    send(.appBackgrounded, of: H.noon + 90_000_000, at: H.noon + 10 * H.minute, to: &h)
    #expect(Self.wrong(h) == 0)
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.isEmpty)
  }

  @Test("a fetch after the app had left shows what came before the fetch")
  func fetched() {
    var h = Self.foreground([15, 30, 45])
    send(.widgetFetched(instance: "w1"), of: H.noon + 150_000_000, at: H.noon + 4 * H.minute, to: &h)
    send(.appBackgrounded, of: H.noon + 90_000_000, at: H.noon + 10 * H.minute, to: &h)
    #expect(abs(Self.wrong(h) - 0.25) < 1e-6)
  }

  @Test("a second visit to the app forgets the first one")
  func secondVisit() {
    var h = Self.foreground([15, 30])
    h.signal(.appForegrounded, at: H.noon + 5 * H.minute)
    h.event(.delay(45, id: "g1", at: H.noon + 6 * H.minute))
    send(.appBackgrounded, of: H.noon + 5 * H.minute, at: H.noon + 10 * H.minute, to: &h)
    #expect(abs(Self.wrong(h) - 0.25) < 1e-6)
  }

  @Test("a push after the app had left shows everything until the push")
  func pushed() {
    var h = Self.foreground([15, 30])
    // Without a signal the app counts as in the background after two hours.
    h.event(.delay(60, id: "p1", at: H.noon + 3 * H.hour))
    #expect(h.only?.reason == .emitted)
    send(.appBackgrounded, of: H.noon + 90_000_000, at: H.noon + 4 * H.hour, to: &h)
    #expect(Self.wrong(h) == 0)
  }

  @Test("of more changes than are kept, the first ones count as shown")
  func tooMany() {
    var h = Self.foreground((1...100).map { Double($0 % 2) * 30 })
    send(.appBackgrounded, of: H.noon + 30_000_000, at: H.noon + 110 * H.minute, to: &h)
    h.planner.checkInvariants()
    #expect(Self.wrong(h) <= 0.5)
  }

  @Test("a board that changed after the app had left does not count as right")
  func board() {
    var h = H()
    h.register(.phone(widgets: [.flight(interests: ["airport/EWR"])]))
    h.signal(.appForegrounded, at: H.noon)
    for (place, status) in ["boarding", "cancelled", "diverted"].enumerated() {
      h.event(
        .delay(0, id: "f\(place)", at: H.noon + Int64(place + 1) * H.minute, type: "flight.cancelled", status: status))
      #expect(h.only?.reason == .appForeground)
    }
    h.losesPlanner = { true }
    h.tick(at: H.noon + 5 * H.minute)
    send(.appBackgrounded, of: H.noon + 90_000_000, at: H.noon + 10 * H.minute, to: &h)
    h.event(.delay(0, id: "e1", at: H.noon + 11 * H.minute, type: "flight.cancelled", status: "diverted"))
    #expect(h.only?.reason == .emitted)
  }
}
