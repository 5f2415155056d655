import Domain
import Policies

@testable import Planning

/// Feeds records to a planner with simulated timestamps, and keeps its decisions and commands.
struct PlannerHarness {
  private var copied: CopiedPlanner
  var planner: Planner {
    _read { yield copied.planner }
    _modify { yield &copied.planner }
  }
  var offset: Int64 = 0
  var decisions: [Decision] = []
  var commands: [Command] = []
  /// The decisions and commands of the last record.
  var last: [Decision] = []
  var lastCommands: [Command] = []
  private var output = PlannerOutput()
  /// The records that `rouse.state` would hold after compaction.
  var state: [[UInt8]: [UInt8]] = [:]
  /// Returns whether the planner is lost and restored from its state at this point. Called after each step.
  var losesPlanner: () -> Bool = { false }
  var restarts = 0

  /// 2026-07-01T12:00:00Z, noon UTC of a day in summer, in µs.
  static let noon: Int64 = 1_782_907_200_000_000
  static let minute: Int64 = 60_000_000
  static let hour: Int64 = 60 * minute

  /// Creates a planner that expects no demand before it knows anything, so that tokens are free until many changes have come,
  /// unless the test says otherwise.
  init(
    _ policy: Policy = .flights(), partition: Int32 = 0, partitionCount: Int32 = 1, demand: DemandPrior = .none,
    hashKey: HashKey = .standard
  ) {
    copied = CopiedPlanner(
      Planner(
        partition: partition, partitionCount: partitionCount, policy: policy, bounds: .expecting(demand),
        hashKey: hashKey))
  }

  @discardableResult
  mutating func apply(_ content: LogRecord.Content, at time: Int64) -> [Decision] {
    var hashes: EventHashes?
    if case .event(let event) = content {
      let made = EventHashes(event, key: planner.hashKey)
      planner.prefetch([made].span)
      hashes = made
    }
    planner.begin(content, offset: offset, timestamp: Timestamp(microseconds: time), hashes: hashes)
    last = []
    lastCommands = []
    var done = false
    while !done {
      done = copied.planner.advance(into: &output, decisionsMax: 3)
      for i in 0..<output.decisionCount { last.append(planner.decision(i, of: output)) }
      for i in 0..<output.commandCount { lastCommands.append(planner.command(i, of: output)) }
      if losesPlanner() { restart(content, at: time) }
    }
    decisions += last
    commands += lastCommands
    offset += 1
    if offset % 16 == 0 { planner.checkInvariants() }
    return last
  }

  private mutating func restart(_ content: LogRecord.Content, at time: Int64) {
    restarts += 1
    copied.planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
    let cursor = planner.cursor
    var restore = PlannerRestore(
      partition: planner.partition, partitionCount: planner.partitionCount, bounds: planner.bounds,
      hashKey: .random())
    do {
      for (key, value) in topicOrder(state) { try restore.add(key: key, value: value) }
      planner = try restore.finish(initialPolicy: planner.policy)
    } catch {
      preconditionFailure("state does not restore: \(error)")
    }
    if let cursor { planner.resume(content, offset: offset, timestamp: Timestamp(microseconds: time), at: cursor) }
  }

  /// Puts a policy in force, as a policy record does with its document.
  mutating func activate(_ policy: Policy) { copied.planner.activate(policy) }

  @discardableResult
  mutating func register(_ registration: Registration, at time: Int64 = noon) -> [Decision] {
    apply(.registration(registration), at: time)
  }

  @discardableResult
  mutating func event(_ event: DomainEvent, at time: Int64? = nil) -> [Decision] {
    apply(.event(event), at: time ?? event.time.microseconds)
  }

  @discardableResult
  mutating func signal(_ kind: Signal.Kind, device: Identifier = "d1", at time: Int64) -> [Decision] {
    apply(
      .signal(Signal(device: device, id: "s\(offset)", time: Timestamp(microseconds: time), kind: kind)), at: time)
  }

  @discardableResult
  mutating func tick(at time: Int64) -> [Decision] { apply(.tick, at: time) }

  /// Sends a tick for each timer that is due, until no timer is left or `until` is reached.
  mutating func drain(until end: Int64 = .max) {
    var ticks = 0
    while let due = planner.nextTimer?.microseconds, due <= end {
      tick(at: due)
      ticks += 1
      precondition(ticks < 1_000_000, "timers keep coming")
    }
  }

  /// The decision of the last record; nil unless there was exactly one.
  var only: Decision? { last.count == 1 ? last[0] : nil }
}

extension DemandPrior {
  /// No demand is expected, so tokens are free until many changes have come.
  static let none = DemandPrior(need: 1e-9, worth: 1e-9)
  /// So much demand is expected that no reload is worth its token.
  static let high = DemandPrior(need: 1e6, worth: 1e6, worthPerToken: .infinity)
}

extension PlannerBounds {
  /// Returns the bounds of production with another demand before anything is known.
  static func expecting(_ demand: DemandPrior) -> PlannerBounds {
    var bounds = PlannerBounds()
    bounds.demandPrior = demand
    return bounds
  }
}

extension Policy {
  /// Returns a policy under which every matching change is emitted. A test restricts only what it is about.
  static func flights(_ change: (inout KindPolicy) -> Void = { _ in }, also: (inout Policy) -> Void = { _ in })
    -> Policy
  {
    var kind = KindPolicy(
      name: "FlightStatus", budget: InstanceBudget(perDay: 48, minInterval: .zero), halfLife: .minutes(20),
      displays: [DisplayField(path: "data.delay", round: 5), DisplayField(path: "data.status")],
      rules: [
        Rule(event: "flight.delay.changed", relevance: RelevanceFormula(base: 0.5)),
        Rule(
          event: "flight.cancelled",
          interests: [.subject, InterestTemplate(parts: [.text("airport/"), .field("data.origin")])],
          relevance: RelevanceFormula(base: 1)),
        Rule(event: "flight.gate.changed", relevance: RelevanceFormula(base: 0)),
        Rule(event: "flight.boarding", relevance: RelevanceFormula(base: 0.9), maxAge: .minutes(30)),
      ],
      views: Array(repeating: 1, count: 24))
    change(&kind)
    let unlimited = BudgetProfile.Rate(
      limit: nil, window: .hours(1), burst: 1, provenance: BudgetProfile.Provenance(source: "test", confidence: "high"))
    var policy = Policy(
      reference: PolicyReference(version: "test", hash: "0123456789abcdef"),
      profile: BudgetProfile(
        name: "test",
        instanceReloads: BudgetProfile.PerDay(
          limit: 48, minInterval: .zero, provenance: BudgetProfile.Provenance(source: "test", confidence: "high")),
        devicePushes: unlimited, backgroundPushes: unlimited, payload: PolicyProfiles.standard.payload,
        payloadBands: PolicyProfiles.standard.payloadBands),
      kinds: [kind])
    also(&policy)
    return policy
  }

  /// Returns a policy whose kind shows a delay in proportion, up to an hour, and whose changes wait for a quarter of an hour.
  static func slowDelays(_ change: (inout KindPolicy) -> Void = { _ in }) -> Policy {
    .flights {
      $0.budget.minInterval = .minutes(15)
      $0.displays = [DisplayField(path: "data.delay", per: .units(60), weight: 1, initial: .number(0))]
      $0.rules = [
        Rule(event: "flight.delay.changed"),
        Rule(event: "flight.cancelled", relevance: RelevanceFormula(base: 0.95), maxAge: .minutes(5)),
      ]
      change(&$0)
    }
  }
}

extension Registration {
  /// Returns an iPhone on OS 26 in UTC with one flight widget that subscribes to `flight/UA1`.
  static func phone(
    _ device: Identifier = "d1", widgets: [Widget] = [.flight()], os: UInt16 = 26,
    tokens: Tokens? = nil, zone: String = "GMT",
    at time: Int64 = PlannerHarness.noon, developerMode: Bool = false, app: Identifier = "com.example.flights"
  ) -> Registration {
    Registration(
      device: device, app: app, environment: .production, platform: "iOS", osVersion: OSVersion(major: os),
      timeZone: zone, developerMode: developerMode, tokens: tokens ?? Tokens(widgets: token(of: device)),
      widgets: widgets,
      updatedAt: Timestamp(microseconds: time))
  }
}

extension Registration {
  /// Returns the token of a device: `aa11` for `d1`, and another one for each other device.
  static func token(of device: Identifier, _ name: String = "aa11") -> String {
    if device == "d1" { return name }
    return name + device.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension Registration.Widget {
  static func flight(
    _ id: Identifier = "w1", kind: Identifier = "FlightStatus", interests: [Identifier] = ["flight/UA1"],
    pushEnabled: Bool = true,
    nextReload: Int64? = nil
  ) -> Registration.Widget {
    Registration.Widget(
      id: id, kind: kind, pushEnabled: pushEnabled, interests: interests,
      nextReload: nextReload.map(Timestamp.init(microseconds:)))
  }
}

extension DomainEvent {
  /// Returns an event that says the values of some fields of `data`.
  static func saying(
    _ data: [String: FieldValue], id: Identifier, type: Identifier, subject: Identifier, at time: Timestamp
  ) -> DomainEvent {
    DomainEvent(
      id: id, source: "/test", type: type, subject: subject, time: time,
      fields: data.sorted { $0.key < $1.key }.map {
        EventField(path: Identifier("data.\($0.key)"), value: $0.value)
      })
  }

  static func delay(
    _ minutes: Double, id: Identifier, subject: Identifier = "flight/UA1", at time: Int64,
    type: Identifier = "flight.delay.changed",
    status: String = "delayed"
  ) -> DomainEvent {
    DomainEvent(
      id: id, source: "/test", type: type, subject: subject, time: Timestamp(microseconds: time),
      fields: [
        EventField(path: "data.delay", value: .number(minutes)), EventField(path: "data.origin", value: .string("EWR")),
        EventField(path: "data.status", value: .string(status)),
      ])
  }
}
