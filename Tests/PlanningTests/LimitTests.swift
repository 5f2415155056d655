import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the hard limits: quiet hours, intervals, budgets, the reserve and refunds.
@Suite("Hard limits")
struct LimitTests {
  @Test("quiet hours hold back all but the most relevant changes until they end")
  func quietHours() throws {
    let quiet = Policy.flights(also: {
      $0.quietHours = QuietHours(fromMinute: 11 * 60, toMinute: 12 * 60 + 30, exceptRelevance: 0.9)
    })
    var h = H(quiet)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .quietHours)
    // The end of quiet hours is spread over ten minutes, by device.
    let end = try #require(h.only?.until).microseconds - H.noon
    #expect(end >= 30 * H.minute && end < 40 * H.minute)
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
    #expect(h.decisions.last?.at == Timestamp(microseconds: H.noon + end))
    h.event(.delay(30, id: "e2", at: H.noon + 24 * H.hour, type: "flight.cancelled", status: "cancelled"))
    #expect(h.only?.reason == .emitted)
  }

  @Test("two reloads keep the minimum interval, and the second delivers every waiting change")
  func minInterval() {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .minInterval)
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 15 * H.minute))
    h.event(.delay(30, id: "e3", at: H.noon + 4 * H.minute))
    h.drain(until: H.noon + H.hour)
    let closing = h.decisions.suffix(2)
    #expect(closing.map(\.reason) == [.emittedAfterDefer, .emittedCoalesced])
    #expect(closing.first?.events == ["e2", "e3"])
    #expect(closing.map(\.event) == ["e3", "e2"])
    #expect(h.commands.count == 2)
  }

  @Test("the daily limit is counted exactly and starts again with the device's budget day")
  func budgetInstance() {
    var h = H(.flights { $0.budget.perDay = 3 })
    h.register(.phone())
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)) }
    #expect(h.commands.count == 3)
    #expect(h.only?.reason == .budgetInstance)
    #expect(h.only?.tokensLeft.instance == 0)
    // The screen stays wrong until tokens are there again, at 04:00 of the next day and up to ten minutes later.
    h.drain(until: H.noon + 16 * H.hour + 10 * H.minute)
    #expect(h.last.map(\.reason) == [.emittedAfterDefer, .emittedCoalesced])
    #expect(h.last.first?.tokensLeft.instance == 2)
  }

  @Test("a device is pushed to at its rate, with a burst")
  func budgetDevice() {
    var h = H(
      .flights(also: {
        $0.profile.devicePushes.limit = 5
        $0.profile.devicePushes.burst = 3
      }))
    h.register(.phone())
    for i in 0..<4 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * 1000)) }
    #expect(h.commands.count == 3)
    #expect(h.only?.reason == .budgetDevice)
    #expect(h.only?.tokensLeft.device == 0)
    // T = 12 min, and three tokens were taken at noon, so the next is available at noon + T.
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 12 * H.minute))
  }

  @Test("the partitions' shares add up to an app's daily limit")
  func budgetApp() {
    var emitted = 0
    for partition in 0..<4 {
      var h = H(
        .flights(also: { $0.apps = [AppBudget(app: "com.example.flights", perDay: 6)] }), partition: Int32(partition),
        partitionCount: 4)
      h.register(.phone())
      for i in 0..<4 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
      emitted += h.commands.count
      #expect(h.only?.reason == .budgetApp)
    }
    #expect(emitted == 6)
  }

  @Test("the reserve is for changes that are relevant enough, and is released before the day ends")
  func reserve() {
    var h = H(
      .flights {
        $0.budget.perDay = 4
        $0.budget.reserve = InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.8)
        $0.halfLife = .hours(24)
      })
    h.register(.phone())
    for i in 0..<3 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)) }
    #expect(h.commands.count == 2)
    #expect(h.only?.reason == .reserveHeld)
    h.event(.delay(0, id: "boarding", at: H.noon + 5 * H.minute, type: "flight.boarding"))
    #expect(h.only == nil, "the reserve delivers what waited, too")
    #expect(h.last.map(\.reason) == [.emitted, .emittedCoalesced])
    h.event(.delay(77, id: "late", at: H.noon + 6 * H.minute))
    #expect(h.only?.reason == .reserveHeld)
    h.drain(until: H.noon + 16 * H.hour - 1)
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
  }

  @Test("what a rolling window keeps in reserve for ever is not examined again", arguments: [(48, 1), (1, 0.2)])
  func reserveForEver(perDay: Int, share: Double) {
    var h = H(
      .flights {
        $0.budget = InstanceBudget(
          perDay: perDay, minInterval: .zero, window: .rolling,
          reserve: InstanceBudget.Reserve(share: share, aboveRelevance: 0.9))
        $0.halfLife = nil
      })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .reserveHeld)
    #expect(h.only?.until == nil)
    #expect(h.planner.nextTimer == nil)
    h.event(.delay(30, id: "e2", at: H.noon + H.minute, type: "flight.cancelled", status: "cancelled"))
    #expect(h.commands.count == 1, "what is relevant enough is sent, and takes along what waits")
  }

  @Test("a reserve of all tokens that is released in quiet hours only does not change between two reasons")
  func reserveReleasedAtNight() {
    var h = H(
      .flights(
        { $0.budget.reserve = InstanceBudget.Reserve(share: 1, aboveRelevance: 0.9) },
        also: { $0.quietHours = QuietHours(fromMinute: 23 * 60, toMinute: 7 * 60, exceptRelevance: 0.9) }))
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.drain(until: H.noon + 10 * 24 * H.hour)
    #expect(h.decisions.map(\.reason) == [.reserveHeld])
  }

  @Test("what quiet hours hold back is examined before they begin again, however soon that is")
  func aMinuteWithoutQuiet() throws {
    for device in 1...20 {
      var h = H(.flights(also: { $0.quietHours = QuietHours(fromMinute: 721, toMinute: 720, exceptRelevance: 2) }))
      h.register(.phone("d\(device)"))
      h.event(.delay(30, id: "e1", at: H.noon + 2 * H.minute))
      let until = try #require(h.only?.until).microseconds - H.noon - 24 * H.hour
      #expect(h.only?.reason == .quietHours && until >= 0 && until < H.minute)
      h.drain(until: H.noon + 25 * H.hour)
      #expect(h.commands.count == 1)
    }
  }

  @Test("a device that is forgotten and registered again has no more tokens than before")
  func noRefillByReregistration() {
    var h = H(.flights { $0.budget.perDay = 1 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .emitted)
    h.apply(.forget(device: "d1"), at: H.noon + H.minute)
    h.register(.phone(at: H.noon + 2), at: H.noon + 2 * H.minute)
    h.event(.delay(60, id: "e2", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .budgetInstance)
  }

  @Test("behind a removal an older registration counts; behind a newer one that has nothing it does not")
  func olderBehindRemoval() {
    let (old, new) = (Registration.phone(at: H.noon), H.noon + 5 * H.minute)
    var removed = H()
    removed.register(old)
    removed.apply(.forget(device: "d1"), at: H.noon + 6 * H.minute)
    // A request from before comes late.
    removed.register(old, at: H.noon + 7 * H.minute)
    removed.event(.delay(30, id: "e1", at: H.noon + 8 * H.minute))
    #expect(removed.commands.count == 1)

    var emptied = H()
    emptied.register(old)
    var empty = Registration.phone(at: new)
    (empty.tokens, empty.widgets) = (Registration.Tokens(), [])
    emptied.register(empty, at: H.noon + 6 * H.minute)
    emptied.register(old, at: H.noon + 7 * H.minute)
    emptied.event(.delay(30, id: "e1", at: H.noon + 8 * H.minute))
    #expect(emptied.commands.isEmpty && emptied.decisions.isEmpty)
    emptied.register(.phone(at: H.noon + 9 * H.minute), at: H.noon + 9 * H.minute)
    emptied.event(.delay(60, id: "e2", at: H.noon + 10 * H.minute))
    #expect(emptied.commands.count == 1, "the device comes back")
  }

  @Test("a forgotten device is removed once its ledgers are full again")
  func forgotten() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.apply(.forget(device: "d1"), at: H.noon + H.minute)
    h.drain()
    #expect(h.planner.deviceCount == 0)
    #expect(h.planner.census.devices == 0)
    #expect(h.planner.census.instances == 0)
    #expect(h.planner.sizes.interests == 0)
  }

  @Test("a push that APNs permanently refused is refunded once")
  func refund() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    for _ in 0..<2 { h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.minute) }
    h.event(.delay(60, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.tokensLeft.instance == 47)
  }

  /// Plans an event every five minutes, each about a change, and reports each push as refused a minute later.
  private static func refuseAll(_ h: inout H, events: Range<Int>, device: Identifier = "d1") {
    for i in events {
      let now = H.noon + Int64(i) * 5 * H.minute
      h.event(.delay(Double(i % 11 + 1) * 5, id: "\(device)-\(i)", subject: "flight/\(device)", at: now))
      for command in h.lastCommands {
        h.signal(.deliveryCompleted(command: command.command, outcome: .refused), device: device, at: now + H.minute)
      }
    }
  }

  @Test(
    "at most a quarter of a day's reloads is refunded to a device in 24 hours, however it registers",
    arguments: [false, true])
  func refundsOfADevice(forgets: Bool) {
    var h = H(.flights { $0.budget.perDay = 20 })
    let phone = Registration.phone(widgets: [.flight(interests: ["flight/d1"])])
    h.register(phone)
    Self.refuseAll(&h, events: 0..<12)
    if forgets {
      h.apply(.forget(device: "d1"), at: H.noon + H.hour)
      h.tick(at: H.noon + H.hour + 1)
      h.register(.phone(widgets: [.flight(interests: ["flight/d1"])], at: H.noon + H.hour + 2))
    }
    Self.refuseAll(&h, events: 13..<70)
    // Every push was refused. Those beyond the bound count as delivered, so some later events change no screen.
    let beyond = h.planner.takeRefusedRefunds()
    #expect(h.commands.count - beyond == 12 && (10...20).contains(beyond), "\(beyond)")
    #expect(h.planner.takeRefusedRefunds() == 0)
  }

  @Test("a push that is refused when the device has had its refunds counts as delivered")
  func refusedBeyondTheBound() throws {
    var h = H(.flights { $0.budget.perDay = 20 })
    h.register(.phone("d1", widgets: [.flight(interests: ["flight/d1"])]))
    Self.refuseAll(&h, events: 0..<12)
    h.event(.delay(200, id: "beyond", subject: "flight/d1", at: H.noon + 12 * H.hour))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + 12 * H.hour + H.minute)
    h.drain(until: H.noon + 14 * H.hour)
    #expect(h.commands.count == 13, "it is not pushed again")
    h.event(.delay(200, id: "same", subject: "flight/d1", at: H.noon + 14 * H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("the refunds of an app in a UTC day are bounded by the policy, over all its devices")
  func refundsOfAnApp() {
    let app = AppBudget(app: "com.example.flights", perDay: 1000, refundsPerDay: 5)
    var h = H(.flights({ $0.budget.perDay = 4 }, also: { $0.apps = [app] }))
    // The first device takes all five refunds; none is left for the second one.
    for (device, refunds) in [("d1", 5), ("d2", 0)] as [(Identifier, Int)] {
      let before = h.commands.count
      h.register(.phone(device, widgets: [.flight(interests: ["flight/\(device)"])]))
      Self.refuseAll(&h, events: 0..<20, device: device)
      let beyond = h.planner.takeRefusedRefunds()
      #expect(h.commands.count - before - beyond == refunds && (1...4).contains(beyond), "\(device): \(beyond)")
    }
  }

  @Test("an app whose only push of the day was refunded is kept without devices until the day is over")
  func refundsOfAnAppWithoutDevices() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.minute)
    // The device registers as another app's, so its refund does not keep the first app.
    h.register(.phone(at: H.noon + 2 * H.minute, app: "com.example.other"), at: H.noon + 2 * H.minute)
    #expect(h.planner.census.apps == 2 && h.planner.census.strays == 0)
    h.tick(at: H.noon + 24 * H.hour)
    #expect(h.planner.census.apps == 1 && h.planner.census.strays == 0)
  }

  @Test("a refused push gives back the minimum interval that it began, and no other one")
  func refundedInterval() throws {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.minute)
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted)
    h.event(.delay(30, id: "e3", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .minInterval)
    // The widget fetched after the push, so the interval is that of the fetch.
    let second = try #require(h.commands.last?.command)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 4 * H.minute)
    h.signal(.deliveryCompleted(command: second, outcome: .refused), at: H.noon + 5 * H.minute)
    h.event(.delay(40, id: "e4", at: H.noon + 6 * H.minute))
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 19 * H.minute))
  }

  @Test("a device that registers another token is pushed to a minute later, whatever a push to the old token held back")
  func anotherToken() throws {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .minInterval)
    h.signal(.tokenRejected(token: "aa11"), at: H.noon + 2 * H.minute)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + 2 * H.minute)
    let tokens = Registration.Tokens(widgets: "bb22", background: nil)
    h.register(.phone(tokens: tokens, at: H.noon + 3 * H.minute), at: H.noon + 3 * H.minute)
    h.drain(until: H.noon + 4 * H.minute)
    #expect(h.last.map(\.reason) == [.emittedAfterDefer])
  }

  @Test("developer mode is free and without limits")
  func developerMode() {
    var h = H(.flights { $0.budget.perDay = 1 }, demand: .high)
    h.register(.phone(developerMode: true))
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
    #expect(h.commands.count == 5)
    #expect(h.commands.allSatisfy { $0.charged.isEmpty })
  }

  @Test("a device that keeps registering new widgets stays within bounds")
  func manyWidgets() {
    var h = H()
    for round in 0..<40 {
      h.register(.phone(widgets: (0..<64).map { .flight("w\(round)-\($0)", kind: "K\(round)-\($0)") }))
    }
    h.tick(at: H.noon)
    #expect(h.planner.census.instances == 64)
  }

  @Test("a rolling window with a reserve waits until the oldest charge leaves the window")
  func rollingReserve() {
    var h = H(
      .flights {
        $0.budget = InstanceBudget(
          perDay: 2, minInterval: .zero, window: .rolling,
          reserve: InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.95))
        $0.halfLife = .hours(24)
      })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + H.hour))
    #expect(h.only?.reason == .reserveHeld)
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 24 * H.hour))
    let before = h.offset
    h.drain(until: H.noon + 25 * H.hour)
    #expect(h.offset - before < 5, "no storm of ticks")
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
  }

  @Test("a bound of 0.9 admits relevance 0.9")
  func bound() {
    var h = H(
      .flights(also: { $0.quietHours = QuietHours(fromMinute: 0, toMinute: 1439, exceptRelevance: 0.9) }))
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    #expect(h.only?.reason == .emitted)
  }

  @Test("an app limit that begins at noon counts the whole day")
  func lateAppLimit() {
    var h = H()
    h.register(.phone())
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
    h.activate(.flights(also: { $0.apps = [AppBudget(app: "com.example.flights", perDay: 5)] }))
    h.event(.delay(99, id: "late", at: H.noon + H.minute))
    #expect(h.only?.reason == .budgetApp)
  }
}
