import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of what a planner learns about the demand of a kind, and of the prices that follow.
@Suite("Demand of kinds, instances and devices")
struct DemandTests {
  /// A counter on the screen: a difference of 100 is wholly wrong.
  private static func counter(_ change: (inout KindPolicy) -> Void = { _ in }, also: (inout Policy) -> Void = { _ in })
    -> Policy
  {
    .flights(
      {
        $0.displays = [DisplayField(path: "data.delay", per: .units(100), initial: .number(0))]
        $0.rules = [Rule(event: "flight.delay.changed")]
        change(&$0)
      }, also: also)
  }

  private static func observed(_ h: H) -> ContiguousArray<Int64> { h.planner.demand.observed }

  @Test("instances that no push can reach are not among those whose demand is known")
  func unreachable() {
    var (alone, among) = (H(Self.counter()), H(Self.counter()))
    alone.register(.phone())
    among.register(.phone())
    for i in 0..<9 {
      among.register(.phone("silent\(i)", tokens: Registration.Tokens(widgets: nil, background: nil)))
    }
    among.register(.phone("old", os: 25))
    among.register(.phone("closed", widgets: [.flight(pushEnabled: false)]))
    for place in 0..<12 as Range<Int64> {
      for h in [0, 1] {
        let event = DomainEvent.delay(Double(place * 10 + 10), id: "e\(place)", at: H.noon + place * H.hour)
        if h == 0 { alone.event(event) } else { among.event(event) }
      }
    }
    #expect(Self.observed(alone)[10] == 1_000_000)
    #expect(Self.observed(alone) == Self.observed(among))
    #expect(
      alone.planner.demand.need.usual == among.planner.demand.need.usual)
  }

  @Test("hours count until APNs refuses the token, and again with another one")
  func rejected() {
    var h = H(Self.counter())
    h.register(.phone())
    h.signal(.tokenRejected(token: "aa11"), at: H.noon + H.hour)
    h.tick(at: H.noon + 3 * H.hour)
    h.register(
      .phone(tokens: Registration.Tokens(widgets: "bb22", background: nil), at: H.noon + 3 * H.hour),
      at: H.noon + 3 * H.hour)
    h.tick(at: H.noon + 5 * H.hour)
    // The budget day begins at four.
    #expect(Self.observed(h)[8...12].elementsEqual([1_000_000, 0, 0, 1_000_000, 1_000_000]))
    h.planner.checkInvariants()
  }

  @Test("the hours of a kind that the policy does not decide about teach nothing", arguments: [false, true])
  func undecided(isNamed: Bool) {
    let policy = Self.counter()
    var idle = policy
    if isNamed { idle.kinds[0].enabled = false } else { idle.kinds = [] }
    var h = H(idle)
    h.register(.phone())
    h.tick(at: H.noon + 30 * 24 * H.hour)
    #expect(Self.observed(h).allSatisfy { $0 == 0 })
    h.activate(policy)
    h.tick(at: H.noon + 31 * 24 * H.hour)
    #expect(Self.observed(h).allSatisfy { $0 == 1_000_000 })
  }

  @Test("a refund after its token was rejected takes no other instance's hours without tokens away")
  func refundAfterRejection() throws {
    var h = Self.spent()
    let command = try #require(h.lastCommands.first?.command)
    h.event(.delay(100, id: "e2", subject: "flight/UA2", at: H.noon + 1))
    h.signal(.tokenRejected(token: "aa11"), at: H.noon + H.minute)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + 2 * H.minute)
    let left = h.planner.demand.dry
    var second = DryHours()
    second.add(1, 9..<24, at: H.noon / H.hour, place: 8)
    #expect(left == second)
  }

  /// Returns a planner with two devices, of which the first one spent its only token at noon.
  private static func spent() -> H {
    var h = H(counter({ $0.budget.perDay = 1 }), demand: .standard)
    h.register(.phone())
    h.register(.phone("d2", widgets: [.flight(interests: ["flight/UA2"])]))
    h.event(.delay(100, id: "e1", at: H.noon))
    return h
  }

  @Test("that one device has no tokens left raises no price of another one")
  func dry() {
    var h = Self.spent()
    #expect(h.lastCommands.count == 1)
    let demand = h.planner.demand
    #expect(demand.unseen.allSatisfy { $0 == 0 } && !demand.dry.isEmpty)
    h.tick(at: H.noon + 2 * H.hour)
    #expect(h.planner.demand.unseen[8...10].elementsEqual([0, 1_000_000, 0]))
    // The day ends at four.
    h.tick(at: H.noon + 40 * H.hour)
    let unseen = h.planner.demand.unseen
    #expect(unseen[9...].allSatisfy { $0 == 1_000_000 } && unseen[...8].allSatisfy { $0 == 0 })
  }

  @Test("another registration and a tombstone take the hours without tokens along", arguments: [false, true])
  func dryNoMore(isForgotten: Bool) {
    var h = Self.spent()
    let later = H.noon + H.hour + H.hour / 2
    if isForgotten {
      h.apply(.forget(device: "d1"), at: later)
    } else {
      h.register(.phone(at: later, developerMode: true), at: later)
    }
    // Only the hour at hand is left, which has begun without tokens.
    var hourAtHand = DryHours()
    hourAtHand.add(1, 9..<10, at: H.noon / H.hour, place: 8)
    #expect(h.planner.demand.dry == hourAtHand)
    h.tick(at: H.noon + 40 * H.hour)
    #expect(h.planner.demand.dry.isEmpty)
    h.planner.checkInvariants()
  }

  @Test("a refund gives back the hours without tokens but that at hand")
  func dryUntilRefund() throws {
    var h = Self.spent()
    let command = try #require(h.lastCommands.first?.command)
    h.tick(at: H.noon + H.hour + H.hour / 2)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.hour + H.hour / 2)
    var dry = h.planner.demand.dry
    var hours: [[Int]] = []
    for hour in H.noon / H.hour..<H.noon / H.hour + 24 {
      dry.report(hour, takes: true) { hours.append([$0, Int($1)]) }
    }
    #expect(hours == [[9, 1]])
    // Whenever the next push takes it, no hour is counted twice.
    h.tick(at: H.noon + 40 * H.hour)
    #expect(h.planner.demand.unseen.allSatisfy { $0 <= 1_000_000 })
  }

  @Test("the tokens of a rolling window that come back before the next anchor count, too")
  func rolling() throws {
    var prices: [Double] = []
    for window in [InstanceBudget.Window.localDay(anchorMinute: 240), .rolling] {
      var h = H(
        Self.counter { $0.budget = InstanceBudget(perDay: 4, minInterval: .zero, window: window) },
        demand: DemandPrior(need: 30, worth: 0.4))
      h.register(.phone())
      // Two tokens are spent in the evening; they come back a day later.
      h.event(.delay(100, id: "e1", at: H.noon + 5 * H.hour))
      h.event(.delay(200, id: "e2", at: H.noon + 6 * H.hour))
      #expect(h.commands.count == 2)
      h.event(.delay(203, id: "small", at: H.noon + 20 * H.hour))
      let decision = try #require(h.only)
      #expect(decision.reason == .belowPrice && decision.price > 0)
      prices.append(decision.price)
    }
    #expect(prices[0] == prices[1])
  }

  private static let fivePerHour = BudgetProfile.Rate(
    limit: 5, window: .hours(1), burst: 3, provenance: BudgetProfile.Provenance(source: "test", confidence: "high"))

  /// Returns a planner after a busy quarter of an hour in which its device spent the burst of its rate on large
  /// changes. The screen is right again at its end.
  /// - Returns: The planner, and the delay that the screen shows.
  private static func busy(_ rate: BudgetProfile.Rate?) throws -> (H, shown: Double) {
    var h = H(counter({ $0.budget.perDay = 20_000 }, also: { if let rate { $0.profile.devicePushes = rate } }))
    h.register(.phone())
    var delays: [Identifier: Double] = [:]
    for place in 0..<30 as Range<Int64> {
      h.drain(until: H.noon + place * H.minute / 2)
      let event = DomainEvent.delay(Double(place % 2) * 100, id: "e\(place)", at: H.noon + place * H.minute / 2)
      delays[event.id] = Double(place % 2) * 100
      h.event(event)
    }
    let newest = try #require(h.commands.last?.serves.last?.events.last)
    let shown = try #require(delays[newest])
    h.event(.delay(shown, id: "back", at: H.noon + 15 * H.minute))
    // The timer of what waited finds nothing wrong any more.
    h.drain(until: H.noon + 39 * H.minute)
    return (h, shown)
  }

  @Test("a device keeps the pushes of its hour for changes that are worth more than a small one")
  func rate() throws {
    var (h, shown) = try Self.busy(Self.fivePerHour)
    let pushes = h.commands.count
    h.event(.delay(shown + 5, id: "small", at: H.noon + 40 * H.minute))
    let held = try #require(h.only)
    #expect(held.reason == .belowPrice && held.price > held.value && held.value > 0)
    #expect(held.tokensLeft.device ?? 0 >= 1)
    // The rate fills up, and a full one gains nothing by waiting.
    h.drain(until: H.noon + 2 * H.hour)
    let sent = try #require(h.decisions.last { $0.event == "small" })
    #expect(sent.reason == .emittedAfterDefer && h.commands.count == pushes + 1)
    // A large change is worth a token at any time.
    (h, shown) = try Self.busy(Self.fivePerHour)
    h.event(.delay(100 - shown, id: "large", at: H.noon + 40 * H.minute))
    #expect(h.only?.reason == .emitted)
  }

  @Test("without a limit of the device, or with one that cannot save pushes, the device has no price")
  func noRate() throws {
    var single = Self.fivePerHour
    single.burst = 1
    for rate in [nil, single] {
      var (h, shown) = try Self.busy(rate)
      h.event(.delay(shown + 5, id: "small", at: H.noon + 40 * H.minute))
      let decision = try #require(h.only)
      #expect(decision.reason == .emitted && decision.price == 0, "\(decision.reason)")
    }
  }

  @Test("a restored planner remembers what the pushes to a device brought")
  func restored() throws {
    var (h, _) = try Self.busy(Self.fivePerHour)
    var restarted = h
    restarted.losesPlanner = { true }
    var records: [[UInt8]: [UInt8]] = [:]
    restarted.planner.takeChanges { records[Array($0)] = $1.map(Array.init) }
    restarted.state = records
    for place in 0..<4 as Range<Int64> {
      let event = DomainEvent.delay(Double(90 - place), id: "f\(place)", at: H.noon + (40 + place) * H.minute)
      #expect(h.event(event) == restarted.event(event))
    }
    #expect(restarted.restarts > 0)
  }
}
