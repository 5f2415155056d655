import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the tables that would grow with traffic if the planner did not bound them.
@Suite("Bounds of a planner's memory")
struct BoundsTests {
  @Test("outdated timers are removed, however often a waiting instance is examined")
  func timers() throws {
    var h = H(
      .flights { kind in
        kind.budget = InstanceBudget(perDay: 1, minInterval: .zero)
        kind.halfLife = .hours(4)
        kind.displays = []
        kind.rules = [
          Rule(event: "flight.delay.changed", relevance: RelevanceFormula(base: 0.5)),
          Rule(event: "flight.boarding", relevance: RelevanceFormula(base: 0.9), maxAge: .seconds(5)),
        ]
      })
    h.register(.phone())
    h.event(.delay(10, id: "e0", at: H.noon + 1))
    try #require(h.only?.reason == .emitted)
    h.event(.delay(20, id: "e1", at: H.noon + 2))
    try #require(h.only?.reason == .budgetInstance)
    // Each event leads to an examination, after which the instance waits for the same time as before.
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

  @Test("subjects of broadcasts are forgotten like starts, and their number stays within the bound")
  func starts() throws {
    var bounds = PlannerBounds()
    bounds.startsPerTokenMax = 20
    var h = H(ActivityTests.policy())
    h.planner = Planner(policy: ActivityTests.policy(), bounds: bounds)
    func register(_ subjects: [Identifier], at time: Int64) {
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
    // A subject whose activity still runs is forgotten last.
    h.event(.delay(10, id: "e1", at: last + 100 * H.minute, type: "flight.boarding"))
    #expect(h.only?.reason == .alreadyStarted)
  }

  @Test("an app without charges is removed with its last device, and the next app gets its slot")
  func appsOfOneDevice() {
    var h = H()
    for i in 0..<100 {
      let time = H.noon + Int64(i) * H.minute
      h.register(.phone(at: time, app: "com.example.build\(i)"), at: time)
      #expect(h.planner.census.apps == 1 && h.planner.census.strays == 0)
    }
    #expect(h.planner.appSlots == 2)
    h.register(.phone("d2", at: H.noon, app: "com.example.build99"))
    // The ledgers of its widget are full, so the forgotten device is removed with the next record.
    h.apply(.forget(device: "d1"), at: H.noon + 3 * H.hour)
    h.tick(at: H.noon + 3 * H.hour)
    #expect(h.planner.deviceCount == 1 && h.planner.census.apps == 1)
    h.apply(.forget(device: "d2"), at: H.noon + 3 * H.hour)
    h.tick(at: H.noon + 3 * H.hour)
    #expect(h.planner.census.apps == 0)
  }

  @Test("an app without devices is kept until the day of its charges is over, and is then removed from the state, too")
  func appsWithSpentTokens() {
    let day = 24 * H.hour
    var decisions: [[Decision]] = []
    for isLost in [false, true] {
      var h = H(.flights(also: { $0.apps = [AppBudget(app: "com.example.build0", perDay: 2)] }))
      h.losesPlanner = { isLost }
      var topic: [[UInt8]: [UInt8]] = [:]
      func appRecords() -> Set<String> {
        if isLost { topic = h.state }
        h.planner.takeChanges { key, value in topic[Array(key)] = value.map(Array.init) }
        return Set(topic.keys.map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix("a/") })
      }
      func send(as app: Int, _ id: Identifier, at time: Int64) {
        h.register(.phone(at: time, app: "com.example.build\(app)"), at: time)
        h.event(.delay(Double(h.offset) * 5, id: id, at: time + 1))
      }
      for app in 0..<5 { send(as: app, "e\(app)", at: H.noon + Int64(app) * H.minute) }
      #expect(h.commands.map(\.app) == (0..<5).map { "com.example.build\($0)" })
      #expect(h.planner.census.apps == 5 && h.planner.census.strays == 0)
      #expect(appRecords() == Set((0..<5).map { "a/com.example.build\($0)" }))
      // The app had no device for a while, and the tokens that it spent today stay spent.
      send(as: 0, "e5", at: H.noon + H.hour)
      #expect(h.only?.reason == .emitted && h.only?.tokensLeft.app == 0)
      send(as: 1, "e6", at: H.noon + 2 * H.hour)
      #expect(h.planner.census.apps == 5)
      h.tick(at: H.noon + day)
      #expect(h.planner.census.apps == 1 && h.planner.census.strays == 0)
      #expect(appRecords() == ["a/com.example.build1"])
      send(as: 0, "e7", at: H.noon + day + H.minute)
      #expect(h.only?.reason == .emitted && h.only?.tokensLeft.app == 1)
      // Build 1 spent nothing on this day, so it has no record.
      #expect(h.planner.census.apps == 1 && h.planner.census.strays == 0)
      #expect(appRecords() == ["a/com.example.build0"])
      #expect(h.planner.appSlots == 5 || isLost)
      decisions.append(h.decisions)
    }
    #expect(decisions[0] == decisions[1])
  }

  @Test("an app that is removed and made again between two commits leaves no outdated record")
  func appComesBack() {
    let day = 24 * H.hour
    var h = H()
    var topic: [[UInt8]: [UInt8]] = [:]
    h.register(.phone(app: "com.example.old"))
    h.event(.delay(5, id: "e1", at: H.noon + 1))
    h.planner.takeChanges { key, value in topic[Array(key)] = value.map(Array.init) }
    #expect(topic[Array("a/com.example.old".utf8)] != nil)
    h.register(.phone(at: H.noon + day, app: "com.example.new"), at: H.noon + day)
    h.register(.phone(at: H.noon + day + 1, app: "com.example.old"), at: H.noon + day + 1)
    h.planner.takeChanges { key, value in topic[Array(key)] = value.map(Array.init) }
    #expect(topic[Array("a/com.example.old".utf8)] == nil)
    h.register(.phone(at: H.noon + day + 2, app: "com.example.new"), at: H.noon + day + 2)
    h.register(.phone(at: H.noon + day + 3, app: "com.example.old"), at: H.noon + day + 3)
    h.event(.delay(50, id: "e2", at: H.noon + day + 4))
    h.planner.takeChanges { key, value in topic[Array(key)] = value.map(Array.init) }
    #expect(topic[Array("a/com.example.old".utf8)] != nil)
  }

  @Test("kinds that only registrations name are bounded and counted, and the policy's kinds find room all the same")
  func kinds() {
    var h = PlannerHarness()
    func phone(_ number: Int) -> Registration {
      .phone(
        Identifier("d\(number)"),
        widgets: (0..<8).map { .flight(Identifier("w\($0)"), kind: "made-up-\(number)-\($0)") })
    }
    for number in 0..<100 { h.register(phone(number)) }
    #expect(h.planner.census.kinds == PlannerBounds().kindsMax + 1)
    #expect(h.planner.takeInstancesOfOtherKinds() == 800 - PlannerBounds().kindsMax)
    // A registration that says the same changes nothing.
    for number in 0..<100 { h.register(phone(number)) }
    #expect(h.planner.takeInstancesOfOtherKinds() == 0)
    h.register(.phone("real"))
    h.event(.delay(30, id: "e1", at: PlannerHarness.noon))
    #expect(h.last.contains { $0.device == "real" && $0.verdict == .emit })
  }
}
