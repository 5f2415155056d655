import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of what reloads cost that no push led to.
@Suite("Reloads of a widget's own timeline")
struct TimelineReloadTests {
  private static let charged = Policy.flights()
  private static let free = Policy.flights(also: { $0.profile.timelineReloads.areCharged = false })

  /// Returns the tokens that a decision about a change at a time says are left.
  private static func left(_ h: inout H, at time: Int64) -> Int? {
    h.event(.delay(Double(h.offset % 7) * 5 + 5, id: "look-\(h.offset)", at: time))
    return h.only?.tokensLeft.instance
  }

  @Test("each fetch that no push explains costs a token, down to none, if the profile says so")
  func fetches() {
    for (policy, fetches, left) in [(Self.charged, 40, 7), (Self.charged, 60, 0), (Self.free, 40, 47)] {
      var h = H(policy)
      h.register(.phone())
      for i in 0..<fetches { h.signal(.widgetFetched(instance: "w1"), at: H.noon + Int64(i) * 15 * H.minute) }
      #expect(Self.left(&h, at: H.noon + 15 * H.hour + 1) == left)
    }
  }

  @Test("a fetch within 15 minutes of a push is that push's, once")
  func receipt() {
    var h = H(Self.charged)
    h.register(.phone())
    #expect(Self.left(&h, at: H.noon) == 47)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 15 * H.minute)
    #expect(h.planner.tokensLeft() == 47)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 15 * H.minute + 1)
    #expect(h.planner.tokensLeft() == 46)
    #expect(Self.left(&h, at: H.noon + H.hour) == 45)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.hour + 15 * H.minute + 1)
    #expect(h.planner.tokensLeft() == 44)
  }

  @Test(
    "a scheduled reload that came costs one token, whether and when a fetch tells of it",
    arguments: [nil, -5, 5, 20] as [Int64?])
  func scheduled(minutes: Int64?) {
    var h = H(Self.charged)
    h.register(.phone(widgets: [.flight(nextReload: H.noon + H.hour)]))
    if let minutes { h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.hour + minutes * H.minute) }
    // 20 minutes later it is a reload of its own.
    #expect(Self.left(&h, at: H.noon + 2 * H.hour) == (minutes == 20 ? 45 : 46))
  }

  @Test("a registration after each scheduled reload charges it, once, however often it is repeated", arguments: [1, 3])
  func renamed(times: Int) {
    var h = H(Self.charged)
    for i in 0..<41 as Range<Int64> {
      let now = H.noon + i * 15 * H.minute
      for _ in 0..<times { h.register(.phone(widgets: [.flight(nextReload: now + 14 * H.minute)], at: now), at: now) }
    }
    #expect(h.planner.tokensLeft() == 8)
    h.register(.phone(widgets: [.flight(nextReload: H.noon)], at: H.noon + 11 * H.hour), at: H.noon + 11 * H.hour)
    h.tick(at: H.noon + 11 * H.hour + 1)
    #expect(
      h.planner.tokensLeft() == 7,
      "the last one that was named has come, and the one that is past is known")
  }

  @Test(
    "a fetch that says that it is the timeline's is the scheduled reload's, if that was charged", arguments: [-2, 2])
  func scheduledAndStated(seconds: Int64) {
    var h = H(Self.charged)
    let second = H.minute / 60
    h.register(.phone(widgets: [.flight(nextReload: H.noon + H.hour)]))
    #expect(Self.left(&h, at: H.noon + H.hour + 5 * second) == 46, "the scheduled reload and the push")
    let time = Timestamp(microseconds: H.noon + H.hour + seconds * second)
    let fetch = Signal(device: "d1", id: "s", time: time, kind: .widgetFetched(instance: "w1", cause: .timeline))
    h.apply(.signal(fetch), at: H.noon + H.hour + 10 * second)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.hour + 20 * second)
    #expect(h.planner.tokensLeft() == 46, "both have been told")
    h.signal(.widgetFetched(instance: "w1", cause: .timeline), at: H.noon + H.hour + 30 * second)
    #expect(h.planner.tokensLeft() == 45)
  }

  @Test("a scheduled reload of a neighbour costs before a push does")
  func neighbour() {
    var h = H(Self.charged)
    h.register(
      .phone(widgets: [.flight(), .flight("w2", interests: ["flight/other"], nextReload: H.noon + H.hour)]))
    h.event(.delay(10, id: "e1", at: H.noon + 2 * H.hour))
    #expect(h.lastCommands.first?.charged.map(\.left) == [47, 46])
  }

  @Test(
    "what the app, the person or the system caused is free, and so is what a push caused",
    arguments: [Signal.FetchCause.push, .intent, .foreground, .session, .system, .timeline, nil])
  func causes(_ cause: Signal.FetchCause?) {
    var h = H(Self.charged)
    h.register(.phone())
    h.signal(.widgetFetched(instance: "w1", cause: cause), at: H.noon)
    #expect(Self.left(&h, at: H.noon + H.hour) == (cause == .timeline || cause == nil ? 46 : 47))
  }

  @Test("a reload is free while the app is in the foreground, and in developer mode")
  func free() {
    var h = H(Self.charged)
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 10 * H.minute)]))
    h.signal(.appForegrounded, at: H.noon)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute)
    h.tick(at: H.noon + 11 * H.minute)
    h.signal(.widgetFetched(instance: "w1", cause: .timeline), at: H.noon + 12 * H.minute)
    h.signal(.appBackgrounded, at: H.noon + 20 * H.minute)
    #expect(Self.left(&h, at: H.noon + H.hour) == 47)
    var developer = H(Self.charged)
    developer.register(.phone(developerMode: true))
    developer.signal(.widgetFetched(instance: "w1"), at: H.noon)
    #expect(developer.planner.tokensLeft() == 48)
  }

  @Test("a fetch that is told of on a later day costs nothing of that day")
  func late() {
    var h = H(Self.charged)
    h.register(.phone())
    let fetched = Timestamp(microseconds: H.noon)
    h.apply(
      .signal(Signal(device: "d1", id: "s", time: fetched, kind: .widgetFetched(instance: "w1"))),
      at: H.noon + 20 * H.hour)
    #expect(Self.left(&h, at: H.noon + 21 * H.hour) == 47)
  }

  @Test(
    "an instance that its own timeline has emptied does not hold back a push for its neighbours, and is not charged by it"
  )
  func emptied() throws {
    var h = H(.flights { $0.budget.perDay = 4 })
    h.register(.phone(widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA1", "flight/UA2"])]))
    for i in 0..<6 { h.signal(.widgetFetched(instance: "w1"), at: H.noon + Int64(i) * H.minute) }
    h.event(.delay(10, id: "e1", subject: "flight/UA2", at: H.noon + H.hour))
    #expect(h.only?.reason == .emitted)
    #expect(h.lastCommands.first?.charged.map(\.owner) == ["w2"])
    // A change that both show is sent to the one that can be reloaded, and waits for the other one's next day.
    h.event(.delay(10, id: "e2", at: H.noon + 2 * H.hour))
    #expect(Set(h.last.map { "\($0.instance) \($0.reason.rawValue)" }) == ["w1 BUDGET_INSTANCE", "w2 EMITTED"])
    let until = try #require(h.last.first { $0.instance == "w1" }?.until).microseconds - H.noon
    #expect(until >= 16 * H.hour && until < 16 * H.hour + 10 * H.minute)
    h.drain(until: H.noon + 17 * H.hour)
    #expect(h.last.map(\.reason) == [.emittedAfterDefer])
  }

  @Test("an instance that pushes have emptied still holds back the push")
  func emptiedByPushes() {
    var h = H(.flights { $0.budget.perDay = 2 })
    h.register(.phone(widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA2"])]))
    for i in 0..<2 { h.event(.delay(Double(i) * 10 + 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)) }
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + H.hour))
    #expect(h.only?.reason == .budgetInstance)
  }
}
