import Domain
import Policies
import Testing

@testable import Planning

/// A random sequence of records about a few devices: registrations, removals, moves between time zones, signals,
/// events, policy changes and jumps of time.
struct RandomLife {
  var random: SeededRandom
  var harness: PlannerHarness
  var time = PlannerHarness.noon
  var version = 0
  /// The pairs of an event and an instance that subscribed to its subject when it arrived, as "event device/instance".
  var reachable: [[String]] = []
  /// The policy in force before the first policy record.
  let initialPolicy: Policy
  private var registered: [Identifier: [(id: Identifier, interests: [Identifier])]] = [:]
  private var previous: DomainEvent?

  private let refunds: Bool
  private let changesPolicy: Bool

  init(seed: UInt64, policy: Policy = RandomLife.policy(), refunds: Bool = true, changesPolicy: Bool = true) {
    random = SeededRandom(seed: seed)
    self.refunds = refunds
    self.changesPolicy = changesPolicy
    initialPolicy = policy
    harness = PlannerHarness(policy, demand: .standard)
  }

  /// The policies between which policy records switch: other budgets, windows and prices, kinds disabled or
  /// unknown, a limit for the app, no rates. No policy gives an instance more than six tokens.
  static let documents = Result {
    try texts.map { try PolicyDocument(yaml: $0, file: "policy").text }
  }
  private static let texts = [
    """
    version: tight
    apps: { com.example.flights: { perDay: 12 } }
    kinds:
      FlightStatus: { surface: widget, budget: { perDay: 3, minInterval: 5m, window: rolling, reserve: { share: 0.4, aboveRelevance: 0.9 } }, halfLife: 40m, rules: [ { event: "flight.*", relevance: { base: 0.7 } } ] }
    """,
    """
    version: loose
    quietHours: { from: "22:00", to: "05:00", exceptRelevance: 0.9 }
    limits: { devicePushes: { limit: 5, window: 1h, burst: 3 }, backgroundPushes: { limit: 2, window: 1h, burst: 1 } }
    kinds:
      FlightStatus: { surface: widget, budget: { perDay: 6, minInterval: 1m, dayStart: "16:00" }, halfLife: 20m, displays: [ { field: data.delay, round: 5 } ], rules: [ { event: flight.delay.changed, relevance: { base: 0.9 } }, { event: "flight.*", relevance: { base: 0.4 } } ] }
      Airport: { surface: widget, enabled: false, budget: { perDay: 4 }, halfLife: 2h, rules: [ { event: "flight.*", relevance: { base: 0.4 } } ] }
    """,
  ]

  static func policy(perDay: Int = 6, rolling: Bool = false) -> Policy {
    var second = Policy.flights().kinds[0]
    second.name = "Airport"
    second.halfLife = .hours(2)
    second.budget = InstanceBudget(perDay: 4, minInterval: .minutes(3), window: .rolling)
    let activity = ActivityTests.policy().kinds.first { $0.name == "FlightActivity" } ?? second
    return .flights(
      {
        $0.budget = InstanceBudget(
          perDay: perDay, minInterval: .minutes(5), window: rolling ? .rolling : .localDay(anchorMinute: 240),
          reserve: InstanceBudget.Reserve(share: 0.3, aboveRelevance: 0.8))
      },
      also: {
        $0.kinds += [second, activity]
        $0.kinds.sort { $0.name < $1.name }
        $0.quietHours = QuietHours(fromMinute: 23 * 60, toMinute: 6 * 60, exceptRelevance: 0.9)
        $0.apps = [AppBudget(app: "com.example.flights", perDay: 40)]
        $0.profile.devicePushes.limit = 5
        $0.profile.devicePushes.burst = 3
        $0.profile.backgroundPushes.limit = 2
        $0.profile.controlPushes = $0.profile.devicePushes
        $0.profile.activityPushes = $0.profile.devicePushes
        $0.profile.activityStarts = $0.profile.devicePushes
      })
  }

  mutating func step() {
    time += Int64.random(in: 0...(8 * PlannerHarness.minute), using: &random)
    if Int.random(in: 0..<60, using: &random) == 0 {
      time += Int64.random(in: 0...30, using: &random) * PlannerHarness.hour
    }
    let device: Identifier = "d\(Int.random(in: 0..<4, using: &random))"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: register(device)
    case 12..<14:
      registered[device] = nil
      harness.apply(.forget(device: device), at: time)
    case 14..<17:
      let cause = Bool.random(using: &random) ? nil : Signal.FetchCause.allCases.randomElement(using: &random)
      harness.signal(
        .widgetFetched(instance: Bool.random(using: &random) ? "w1" : nil, cause: cause), device: device, at: time)
    case 17..<19: harness.signal(.appForegrounded, device: device, at: time)
    case 19..<21:
      // Every other signal comes late.
      let late = Bool.random(using: &random) ? Int64.random(in: 0...(20 * PlannerHarness.minute), using: &random) : 0
      let left = Timestamp(microseconds: time - late)
      harness.apply(.signal(Signal(device: device, id: "b\(version)", time: left, kind: .appBackgrounded)), at: time)
    case 21..<23:
      guard let command = harness.commands.last else { return }
      let outcome: Signal.DeliveryOutcome = refunds && Bool.random(using: &random) ? .refused : .accepted
      harness.signal(.deliveryCompleted(command: command.command, outcome: outcome), device: command.device, at: time)
    case 23..<24: harness.signal(.tokenRejected(token: Registration.token(of: device)), device: device, at: time)
    case 24..<27: harness.tick(at: time)
    case 27..<29: harness.signal(.widgetViewed(instance: nil), device: device, at: time)
    case 29 where changesPolicy:
      do {
        harness.apply(.policy(document: try Self.documents.get().randomElement(using: &random) ?? ""), at: time)
      } catch { Issue.record(error) }
    default: event()
    }
  }

  private mutating func register(_ device: Identifier) {
    version += 1
    var widgets: [Registration.Widget] = []
    for i in 0..<Int.random(in: 0...3, using: &random) {
      var interests: [Identifier] = ["flight/UA\(Int.random(in: 0..<3, using: &random))"]
      if Bool.random(using: &random) { interests.append("airport/EWR") }
      let next: Int64? = Int.random(in: 0..<8, using: &random) == 0 ? time + 20 * PlannerHarness.minute : nil
      widgets.append(
        .flight(
          "w\(i)", kind: Bool.random(using: &random) ? "FlightStatus" : "Airport", interests: interests,
          pushEnabled: Int.random(in: 0..<5, using: &random) != 0, nextReload: next))
    }
    let zones = ["GMT", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "America/St_Johns"]
    var phone = Registration.phone(
      device, widgets: widgets, os: Bool.random(using: &random) ? 26 : 18,
      tokens: Registration.Tokens(
        widgets: Int.random(in: 0..<6, using: &random) == 0 ? nil : Registration.token(of: device),
        background: Bool.random(using: &random) ? Registration.token(of: device, "bb22") : nil),
      zone: zones.randomElement(using: &random) ?? "GMT", at: time,
      // Most devices have the same app, and some have one of several builds of it.
      app: Int.random(in: 0..<4, using: &random) > 0 ? "com.example.flights" : "com.example.build\(version % 5)")
    addressed(&phone)
    // Which events interest a push-to-start token, the policy says.
    registered[device] =
      phone.widgets.map { ($0.id, $0.interests) } + phone.controls.map { ($0.id, $0.interests) }
      + phone.activities.map { ($0.id, $0.interests) }
    harness.register(phone, at: time)
  }

  /// Returns random controls, activities and push-to-start tokens.
  private mutating func addressed(_ phone: inout Registration) {
    let device = phone.device
    let subject: Identifier = "flight/UA\(Int.random(in: 0..<3, using: &random))"
    if Bool.random(using: &random) {
      phone.controls = [
        Registration.Control(
          id: "c1", kind: "FlightStatus", token: Registration.token(of: device, "cc\(version % 3)"),
          interests: [subject, "airport/EWR"])
      ]
    } else if Int.random(in: 0..<4, using: &random) == 0 {
      phone.widgets.append(.flight("c1", interests: [subject]))
    }
    if Bool.random(using: &random) {
      phone.activities = [
        Registration.Activity(
          id: "a\(Int.random(in: 0..<2, using: &random))", kind: "FlightActivity",
          address: .token(Registration.token(of: device, "dd")),
          interests: [subject],
          startedAt: Timestamp(microseconds: time - Int64.random(in: 0...PlannerHarness.hour, using: &random)),
          frequentPushes: Bool.random(using: &random))
      ]
    }
    if Bool.random(using: &random) {
      phone.pushToStart = [
        Registration.PushToStart(
          kind: "FlightActivity", token: Registration.token(of: device, "ee"), interests: [subject])
      ]
    }
  }

  private mutating func event() {
    version += 1
    let type: Identifier =
      ["flight.delay.changed", "flight.cancelled", "flight.boarding", "flight.gate.changed", "x.unknown"]
      .randomElement(using: &random) ?? "x.unknown"
    let late = Int64.random(in: 0...(3 * PlannerHarness.minute), using: &random)
    // A publisher that retries sends the same event again.
    if let previous, Int.random(in: 0..<20, using: &random) == 0 {
      harness.event(previous, at: time)
      return
    }
    let event = DomainEvent.delay(
      Double(Int.random(in: 0..<12, using: &random) * 5), id: "e\(version)",
      subject: "flight/UA\(Int.random(in: 0..<3, using: &random))", at: time - late, type: type,
      status: ["delayed", "cancelled"].randomElement(using: &random) ?? "delayed")
    previous = event
    reachable.append(
      registered.flatMap { device, widgets in
        widgets.filter { $0.interests.contains(event.subject) }.map { "\(event.id) \(device)/\($0.id)" }
      })
    harness.event(event, at: time)
  }
}

@Suite struct PropertyTests {
  /// Returns the times at which each owner of a ledger was charged, in µs.
  private func charges(_ commands: [Command], _ ledger: Command.Ledger) -> [Identifier: [Int64]] {
    var times: [Identifier: [Int64]] = [:]
    for command in commands {
      for charge in command.charged where charge.ledger == ledger {
        let owner = ledger == .instance ? "\(command.device)/\(charge.owner)" : charge.owner
        times[owner, default: []].append(command.at.microseconds)
      }
    }
    return times
  }

  /// Returns the largest number of times within one span that is shorter than `window`, in µs.
  private func densest(_ times: [Int64], window: Int64) -> Int {
    var first = 0
    var most = 0
    for last in times.indices {
      while times[last] - times[first] >= window { first += 1 }
      most = max(most, last - first + 1)
    }
    return most
  }

  @Test("no ledger is ever overspent, for any records", arguments: 0..<24)
  func neverOverspent(seed: UInt64) {
    var life = RandomLife(seed: seed)
    for _ in 0..<1500 { life.step() }
    let refused = life.harness.decisions.isEmpty
    #expect(!refused, "seed \(seed): nothing was decided")
    for command in life.harness.commands {
      for charge in command.charged {
        #expect(
          charge.left >= 0, "seed \(seed): \(command.command) left \(charge.left) of \(charge.ledger) \(charge.owner)")
      }
    }
    for decision in life.harness.decisions {
      #expect((decision.tokensLeft.instance ?? 0) >= 0, "seed \(seed): \(decision)")
      if decision.verdict == .emit, decision.reason != .emittedFree, decision.surface != .liveActivity {
        #expect(decision.value >= decision.price, "seed \(seed): \(decision)")
      }
      #expect(decision.final == (decision.verdict != .defer && decision.reason != .duplicate), "seed \(seed)")
    }
  }

  @Test("recomputed from the commands alone, every ledger keeps its limit", arguments: 100..<116)
  func recomputed(seed: UInt64) {
    var life = RandomLife(seed: seed, refunds: false)
    for _ in 0..<1500 { life.step() }
    #expect(!life.harness.commands.isEmpty, "seed \(seed): nothing was sent")
    for (owner, times) in charges(life.harness.commands, .device) {
      // GCRA admits at most the burst plus the tokens that refill: 3 at once, then one every 12 min, so 3 + 4 in
      // less than an hour.
      #expect(densest(times, window: 60 * PlannerHarness.minute) <= 3 + 4, "seed \(seed): device \(owner)")
      #expect(densest(times, window: 12 * PlannerHarness.minute) <= 3, "seed \(seed): device \(owner)")
    }
    for (owner, times) in charges(life.harness.commands, .background) {
      #expect(densest(times, window: 60 * PlannerHarness.minute) <= 2, "seed \(seed): \(owner)")
      #expect(densest(times, window: 30 * PlannerHarness.minute) <= 1, "seed \(seed): \(owner)")
    }
    for (owner, times) in charges(life.harness.commands, .instance) {
      // A window of one local day lasts at least 23 h, so 22 h overlap at most two windows.
      #expect(densest(times, window: 22 * PlannerHarness.hour) <= 2 * 6, "seed \(seed): \(owner)")
    }
  }

  @Test("every event that reached an instance ends in exactly one final decision", arguments: 200..<216)
  func exactlyOneFinal(seed: UInt64) {
    var life = RandomLife(seed: seed)
    for _ in 0..<1200 { life.step() }
    life.harness.drain()
    var finals: [String: Int] = [:]
    var reached: Set<String> = []
    for decision in life.harness.decisions {
      let key = "\(decision.event) \(decision.device)/\(decision.instance)"
      if decision.reason != .duplicate { reached.insert(key) }
      if decision.final { finals[key, default: 0] += 1 }
    }
    for key in reached { #expect(finals[key] == 1, "seed \(seed): \(key) has \(finals[key] ?? 0) final decisions") }
    #expect(
      Set(life.harness.decisions.map(\.decision)).count == life.harness.decisions.count, "seed \(seed): ids repeat")
    #expect(life.harness.planner.census.causes == 0, "seed \(seed): a cause leaked")
    for step in life.reachable {
      for key in step where finals[key] == nil { Issue.record("seed \(seed): \(key) was never decided") }
    }
  }

  @Test(
    "every command is named by exactly one emit decision, and every event that it delivers by a decision",
    arguments: 300..<308)
  func commandsMatchDecisions(seed: UInt64) {
    var life = RandomLife(seed: seed)
    for _ in 0..<1200 { life.step() }
    let byCommand = Dictionary(grouping: life.harness.decisions.filter { $0.command != nil }, by: { $0.command ?? "" })
    for command in life.harness.commands {
      if command.serves.allSatisfy({ $0.reason.outcome == .onCommands }) {
        // No event causes it. Events at its instant may join it.
        let joined = byCommand[command.command] ?? []
        #expect(joined.allSatisfy { $0.reason == .emittedCoalesced && $0.at == command.at }, "seed \(seed)")
        continue
      }
      let decisions = byCommand[command.command] ?? []
      #expect(decisions.filter { $0.verdict == .emit }.count == 1, "seed \(seed): \(command.command)")
      let served = Set(command.serves.flatMap { s in s.events.map { "\($0) \(s.instance)" } })
      // Events at the instant of the command may have joined it later.
      let told = Set(decisions.map { "\($0.event) \($0.instance)" })
      #expect(told.isSuperset(of: served), "seed \(seed): \(command.command)")
      let joined = decisions.filter { !served.contains("\($0.event) \($0.instance)") }
      #expect(joined.allSatisfy { $0.reason == .emittedCoalesced && $0.at == command.at }, "seed \(seed): \(joined)")
      let isFree =
        command.apns.headers.contains(Command.Header(name: "apns-priority", value: "5"))
        && command.surface == .liveActivity
      #expect(command.charged.filter { $0.ledger != .app }.isEmpty == isFree, "seed \(seed): \(command)")
    }
  }

  @Test("a screen is wrong without anything that waits only for a reason that says so")
  func standingDifferences() {
    var caughtUp = 0
    for seed in UInt64(700)..<708 {
      var standing = StandingScreens(seed: seed)
      for _ in 0..<1200 { standing.step() }
      caughtUp += standing.life.harness.commands.count { $0.serves.first?.reason == .caughtUp }
    }
    #expect(caughtUp > 2, "\(caughtUp) pushes without an event")
  }

  @Test("activity timestamps strictly increase and starts keep their rate, for any records", arguments: 500..<512)
  func activities(seed: UInt64) {
    var life = RandomLife(seed: seed, refunds: false, changesPolicy: false)
    for _ in 0..<1500 { life.step() }
    var last: [String: Int64] = [:]
    for command in life.harness.commands where command.surface == .liveActivity {
      guard let served = command.serves.first,
        let timestamp = command.apns.payload.firstMatch(of: /"timestamp":(\d+)/).flatMap({ Int64($0.1) })
      else {
        Issue.record("seed \(seed): \(command)")
        continue
      }
      let key = "\(command.device)/\(served.instance)"
      if !served.instance.hasPrefix("start/") { #expect(timestamp > last[key] ?? 0, "seed \(seed): \(key)") }
      last[key] = timestamp
    }
    #expect(!last.isEmpty, "seed \(seed): no activity was told of anything")
    for (owner, times) in charges(life.harness.commands, .start) {
      #expect(densest(times, window: 12 * PlannerHarness.minute) <= 3, "seed \(seed): \(owner)")
    }
  }

  @Test(
    "a planner lost at any step and restored from its state decides as if nothing had happened", arguments: 400..<424)
  func restored(seed: UInt64) {
    var undisturbed = RandomLife(seed: seed)
    var lost = RandomLife(seed: seed)
    var dice = SeededRandom(seed: seed &* 31)
    let often = UInt64.random(in: 2...40, using: &dice)
    lost.harness.losesPlanner = { dice.next() % often == 0 }
    for step in 0..<800 {
      undisturbed.step()
      lost.step()
      guard undisturbed.harness.last == lost.harness.last, undisturbed.harness.lastCommands == lost.harness.lastCommands
      else {
        Issue.record("seed \(seed), step \(step): \(brief(undisturbed)) became \(brief(lost))")
        return
      }
    }
    #expect(lost.harness.restarts > 5, "seed \(seed)")
  }

  private func brief(_ life: RandomLife) -> [String] {
    life.harness.last.map {
      "\($0.decision) \($0.event)→\($0.device)/\($0.instance) \($0.verdict) \($0.reason.rawValue) \($0.value) \($0.price) \($0.tokensLeft)"
    }
  }
}

/// A random life, and the reasons for which its events have left differences for which nothing waits.
private struct StandingScreens {
  let seed: UInt64
  var life: RandomLife
  /// The reasons of the decisions about each instance since its screen was right.
  private var reasons: [String: Set<Reason>] = [:]

  /// The reasons for which a difference may stand until the next event, or until a push that something else causes.
  private static let leaving: Set<Reason> = [.cosmetic, .staleEvent, .kindDisabled, .noMatch, .payloadTooLarge]

  init(seed: UInt64) {
    self.seed = seed
    life = RandomLife(seed: seed)
  }

  mutating func step() {
    life.step()
    for decision in life.harness.last {
      reasons["\(decision.device)/\(decision.instance)", default: []].insert(decision.reason)
    }
    for instance in life.harness.planner.instances where !instance.surface.isActivity && !instance.isRetired {
      check(instance)
    }
  }

  private mutating func check(_ instance: Planner.InstanceFacts) {
    let name = instance.name
    guard instance.wrong > 0 else {
      reasons[name] = nil
      return
    }
    if instance.isDisabled { reasons[name, default: []].insert(.kindDisabled) }
    if !instance.hasPolicy { reasons[name, default: []].insert(.noMatch) }
    // A registration that makes it reachable examines it.
    if instance.due != .distantFuture || !instance.isReachable { return }
    let known = reasons[name] ?? []
    #expect(!Self.leaving.isDisjoint(with: known), "seed \(seed): nothing waits for \(name), \(known)")
  }
}
