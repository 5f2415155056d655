import Domain
import JSON
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of Live Activities: updates, starts, ends and channels.
@Suite("Live Activities")
struct ActivityTests {
  static func policy(_ change: (inout KindPolicy) -> Void = { _ in }, also: (inout Policy) -> Void = { _ in }) -> Policy
  {
    .flights(also: { policy in
      var activity = KindPolicy(
        name: "FlightActivity", surface: .liveActivity,
        budget: InstanceBudget(perDay: 200, minInterval: .zero), halfLife: .minutes(20),
        displays: [DisplayField(path: "data.delay", round: 5), DisplayField(path: "data.status")],
        rules: [
          Rule(event: "flight.boarding", relevance: RelevanceFormula(base: 0.9), action: .start),
          Rule(event: "flight.delay.changed", relevance: RelevanceFormula(base: 0.2)),
          Rule(event: "flight.gate.changed", relevance: RelevanceFormula(base: 0.8)),
          Rule(event: "flight.arrived", relevance: RelevanceFormula(base: 0.5), action: .end),
        ],
        activity: ActivityPolicy(
          attributesType: "FlightAttributes",
          attributes: [TemplateMember(name: "origin", value: .field(path: "data.origin", fallback: .null))],
          contentState: [
            TemplateMember(name: "status", value: .field(path: "data.status", fallback: .string("unknown"))),
            TemplateMember(name: "delay", value: .field(path: "data.delay", fallback: .number(0))),
            TemplateMember(name: "departs", value: .date(path: "data.departs")),
          ],
          alert: AlertTemplate(
            title: .text(InterestTemplate(parts: [.field("subject")])),
            body: .text(InterestTemplate(parts: [.field("data.status")])), aboveRelevance: 0.75),
          staleAfter: .minutes(15), quietEnd: .hours(2), dismissal: .after(.minutes(30))))
      change(&activity)
      policy.kinds.append(activity)
      policy.kinds.sort { $0.name < $1.name }
      policy.profile.activityPushes = rate(10, .hours(1), 3)
      policy.profile.activityStarts = rate(10, .hours(24), 3)
      policy.profile.controlPushes = rate(2, .hours(1), 1)
      also(&policy)
    })
  }

  private static func rate(_ limit: Int, _ window: TimeSpan, _ burst: Int) -> BudgetProfile.Rate {
    BudgetProfile.Rate(
      limit: limit, window: window, burst: burst,
      provenance: BudgetProfile.Provenance(source: "test", confidence: "high"))
  }

  static func phone(
    activities: [Registration.Activity] = [], starters: [Registration.PushToStart] = [],
    controls: [Registration.Control] = [], at time: Int64 = PlannerHarness.noon, os: UInt16 = 26
  ) -> Registration {
    var phone = Registration.phone(widgets: [], os: os, at: time)
    phone.activities = activities
    phone.pushToStart = starters
    phone.controls = controls
    return phone
  }

  static func activity(_ id: Identifier = "a1", frequent: Bool = false, at time: Int64 = PlannerHarness.noon)
    -> Registration.Activity
  {
    Registration.Activity(
      id: id, kind: "FlightActivity", address: .token("cc"), interests: ["flight/UA1"],
      startedAt: Timestamp(microseconds: time), frequentPushes: frequent)
  }

  static let starter = Registration.PushToStart(kind: "FlightActivity", token: "dd", interests: ["flight/UA1"])

  private func aps(_ command: Command?) throws -> JSONValue {
    let payload = try #require(command?.apns.payload)
    return try JSONReader().read(Array(payload.utf8)) { (node) throws(JSONError) in
      JSONValue(try node.member("aps", "an object"))
    }
  }

  private func priority(_ command: Command?) -> String? {
    command?.apns.headers.first { $0.name == "apns-priority" }?.value
  }

  @Test("an update worth its price is charged and sent at priority 10, any other is free at priority 5")
  func lanes() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(10, id: "e1", at: H.noon))
    #expect(h.only?.reason == .emitted)
    #expect(priority(h.lastCommands.first) == "10")
    #expect(h.lastCommands.first?.charged == [Command.Charge(ledger: .activity, owner: "a1", left: 2)])
    // Two changes a minute for an hour are far more than there are tokens for.
    for i in 0..<120 {
      h.event(
        .delay(Double(i) * 10, id: "g\(i)", at: H.noon + Int64(i) * H.minute / 2, type: "flight.gate.changed"))
    }
    h.event(.delay(5, id: "e2", at: H.noon + 75 * H.minute))
    #expect(h.only?.reason == .emittedFree && h.only?.tokensLeft.instance ?? 0 > 0)
    #expect(h.only?.value ?? 1 < h.only?.price ?? 0)
    #expect(priority(h.lastCommands.first) == "5")
    #expect(h.lastCommands.first?.charged == [])
  }

  @Test("pushes of priority 10 never exceed their rate")
  func rateKept() {
    for (frequent, most) in [(false, 3 + 9), (true, 3 + 29)] {
      var h = H(Self.policy())
      h.register(Self.phone(activities: [Self.activity(frequent: frequent)]))
      for i in 0..<120 {
        h.event(
          .delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute / 2, type: "flight.gate.changed"))
      }
      let charged = h.commands.filter { !$0.charged.isEmpty }.count
      #expect(charged <= most && charged >= most - 2, "\(charged) with frequent \(frequent)")
      #expect(h.commands.count == 120, "the rest is free")
    }
  }

  @Test("timestamps strictly increase, even within one second")
  func timestamps() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    var last = -1.0
    for i in 0..<5 {
      h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i)))
      let value = try aps(h.lastCommands.first)["timestamp"]
      guard case .number(let timestamp)? = value else {
        Issue.record("no timestamp")
        return
      }
      #expect(timestamp > last)
      last = timestamp
    }
  }

  @Test("an update that changes nothing on the screen is not sent")
  func notVisible() {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(11, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("the templates make the body, with dates from 2001, a stale date, and an alert above its bound")
  func body() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    var event = DomainEvent.delay(10, id: "e1", at: H.noon, type: "flight.gate.changed", status: "boarding")
    event.fields.append(EventField(path: "data.zdeparts", value: .null))
    event.fields.insert(EventField(path: "data.departs", value: .string("2001-01-01T00:01:00Z")), at: 1)
    event.fields.sort { $0.path < $1.path }
    h.event(event)
    let aps = try aps(h.lastCommands.first)
    #expect(aps["event"] == .string("update"))
    #expect(aps["content-state"]?["status"] == .string("boarding"))
    #expect(aps["content-state"]?["delay"] == .number(10))
    #expect(aps["content-state"]?["departs"] == .number(60))
    #expect(aps["stale-date"] == .number(Double(H.noon / 1_000_000 + 900)))
    #expect(aps["relevance-score"] == .number(80))
    #expect(aps["alert"]?["title"] == .string("flight/UA1"))
    #expect(
      h.lastCommands.first?.apns.headers.contains(
        Command.Header(name: "apns-topic", value: "com.example.flights.push-type.liveactivity")) == true)
  }

  @Test("a start carries attributes and an alert, is charged to its own ledger, and is never repeated for a subject")
  func start() throws {
    var h = H(Self.policy())
    h.register(Self.phone(starters: [Self.starter]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    #expect(h.only?.reason == .emitted)
    #expect(h.lastCommands.first?.charged == [Command.Charge(ledger: .start, owner: "d1", left: 2)])
    let aps = try aps(h.lastCommands.first)
    #expect(aps["event"] == .string("start"))
    #expect(aps["attributes-type"] == .string("FlightAttributes"))
    #expect(aps["attributes"]?["origin"] == .string("EWR"))
    #expect(aps["alert"] != nil)
    h.event(.delay(1, id: "e2", at: H.noon + H.hour, type: "flight.boarding"))
    #expect(h.only?.reason == .awaitingToken)
    #expect(
      h.planner.zombies() == [
        Zombie(
          device: "d1", subject: "flight/UA1", kind: "FlightActivity", since: Timestamp(microseconds: H.noon),
          cause: .neverRegistered)
      ])
    #expect(h.commands.first?.subject == "flight/UA1")
    h.register(Self.phone(activities: [Self.activity(at: H.noon + 1)], starters: [Self.starter], at: H.noon + 2))
    #expect(h.planner.zombies().isEmpty)
  }

  @Test("an activity with a refused token is a zombie until its life is over, even after a restart")
  func tokenRejected() {
    var h = H(Self.policy())
    h.losesPlanner = { true }
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(0, id: "e1", at: H.noon + H.minute))
    #expect(h.planner.zombies().isEmpty && h.commands.first?.subject == nil)
    h.signal(.tokenRejected(token: "cc"), at: H.noon + 2 * H.minute)
    #expect(h.planner.zombies().map(\.cause) == [.tokenRejected])
    #expect(h.planner.zombies().map(\.subject) == ["flight/UA1"])
    h.drain(until: H.noon + 7 * H.hour)
    #expect(h.planner.zombies().count == 1 && h.commands.count == 1, "no push, and no timer that keeps coming")
    h.tick(at: H.noon + 8 * H.hour)
    #expect(h.planner.zombies().isEmpty)
  }

  @Test("an activity whose newest push was refused is a zombie until APNs takes the next, even after a restart")
  func pushRefused() throws {
    var h = H(Self.policy())
    h.losesPlanner = { true }
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(0, id: "e1", at: H.noon + H.minute))
    func answer(_ outcome: Signal.DeliveryOutcome, _ status: Int, minutes: Int64) throws {
      let command = try #require(h.commands.last?.command)
      h.signal(
        .deliveryCompleted(command: command, outcome: outcome, answer: Signal.APNsAnswer(status: status)),
        at: H.noon + minutes * H.minute)
    }
    try answer(.refused, 503, minutes: 2)
    #expect(h.planner.zombies().map(\.cause) == [.pushRefused])
    h.drain(until: H.noon + 3 * H.minute)
    #expect(h.commands.count == 2 && h.planner.zombies().count == 1, "sent again, and not answered yet")
    try answer(.accepted, 200, minutes: 4)
    #expect(h.planner.zombies().isEmpty)
  }

  @Test("a start token that has stopped to listen to a key writes the same record after a restart")
  func listensSince() {
    let records = [false, true].map { loses in
      var h = H(Self.policy())
      h.losesPlanner = { loses }
      for (minute, keys) in [["flight/UA1", "flight/UA2"], ["flight/UA1"]].enumerated() {
        let starter = Registration.PushToStart(
          kind: "FlightActivity", token: "dd01", interests: keys.map { Identifier($0) })
        let time = H.noon + Int64(minute) * H.minute
        h.register(Self.phone(starters: [starter], at: time), at: time)
      }
      h.event(.delay(10, id: "e1", at: H.noon + 2 * H.minute, type: "flight.boarding"))
      #expect(h.commands.count == 1)
      return h.planner.deviceRecords
    }
    #expect(records[0] == records[1])
  }

  @Test("the subject of a start is remembered after a restart")
  func subjectKept() {
    var h = H(Self.policy())
    h.losesPlanner = { true }
    h.register(Self.phone(starters: [Self.starter]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    h.tick(at: H.noon + H.hour)
    #expect(h.planner.zombies().map(\.subject) == ["flight/UA1"])
  }

  @Test("a running activity of the subject prevents a start")
  func alreadyRunning() {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()], starters: [Self.starter]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    #expect(h.last.map(\.reason).sorted { $0.rawValue < $1.rawValue } == [.alreadyStarted, .emitted])
  }

  @Test("an end rule ends the activity with its dismissal date, and nothing is sent afterwards")
  func end() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.arrived", status: "arrived"))
    let aps = try aps(h.lastCommands.first)
    #expect(aps["event"] == .string("end"))
    #expect(aps["dismissal-date"] == .number(Double(H.noon / 1_000_000 + 1800)))
    h.event(.delay(50, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .activityEnded)
  }

  @Test("an activity with a silent subject is ended by push, and one older than eight hours without a push")
  func quiet() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    h.event(.delay(10, id: "e1", at: H.noon + H.hour))
    h.drain(until: H.noon + 4 * H.hour)
    #expect(h.commands.count == 2)
    #expect(h.commands.last?.serves.first?.reason == .endedQuiet)
    #expect(h.commands.last?.at == Timestamp(microseconds: H.noon + 3 * H.hour))
    var busy = H(Self.policy())
    busy.register(Self.phone(activities: [Self.activity()]))
    for i in 0..<9 { busy.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.hour)) }
    #expect(busy.only?.reason == .activityEnded)
    #expect(busy.commands.count == 8)
  }

  @Test("a body over 4,096 bytes is refused, and its largest members are named")
  func tooLarge() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity()]))
    var output = PlannerOutput()
    let event = DomainEvent.delay(0, id: "e1", at: H.noon, status: String(repeating: "x", count: 5000))
    h.planner.begin(.event(event), offset: 9, timestamp: Timestamp(microseconds: H.noon))
    while !h.planner.advance(into: &output) {}
    #expect(output.reasons == ["PAYLOAD_TOO_LARGE"])
    let large = try #require(output.largePayloads.first)
    #expect(large.band == .refused && large.bytes > 5000 && large.bytesMax == 4096 && large.count == 1)
    #expect(large.members.first == LargePayload.Member(name: "status", bytes: 5002))
  }

  @Test("an activity cannot be started by push on an old system")
  func oldSystem() {
    var h = H(Self.policy())
    h.register(Self.phone(starters: [Self.starter], os: 17))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    #expect(h.only?.reason == .unsupportedOS)
  }

  @Test("a channel gets one push for all subscribers, and no device is charged")
  func broadcast() throws {
    var h = H(Self.policy { $0.surface = .broadcast })
    for device in ["d1", "d2", "d3"] as [Identifier] {
      var phone = Self.phone(activities: [
        Registration.Activity(
          id: "a1", kind: "FlightActivity", address: .channel("chan=="), interests: ["flight/UA1"],
          startedAt: Timestamp(microseconds: H.noon))
      ])
      phone.device = device
      h.register(phone)
      for channel in phone.channels() { h.register(channel) }
    }
    h.event(.delay(10, id: "e1", at: H.noon + 1, type: "flight.gate.changed"))
    let command = try #require(h.lastCommands.first)
    #expect(h.lastCommands.count == 1)
    #expect(h.last.map(\.surface) == [.broadcast])
    #expect(command.surface == .broadcast)
    #expect(command.apns.address == .channel("chan=="))
    #expect(command.charged.isEmpty)
    #expect(command.apns.headers.contains(Command.Header(name: "apns-channel-id", value: "chan==")))
    #expect(command.apns.headers.contains(Command.Header(name: "apns-expiration", value: "0")))
    #expect(!command.apns.headers.contains { $0.name == "apns-topic" })
    h.event(.delay(10, id: "e2", at: H.noon + 2, type: "flight.gate.changed"))
    #expect(h.only?.reason == .notVisible)
    // Two changes a minute are more than an activity may have at priority 10, so a trifle is broadcast at priority 5.
    for i in 0..<120 {
      h.event(.delay(Double(i) * 10, id: "g\(i)", at: H.noon + Int64(i) * H.minute / 2, type: "flight.gate.changed"))
    }
    h.event(.delay(5, id: "e3", at: H.noon + H.hour))
    #expect(h.only?.reason == .emittedFree && priority(h.lastCommands.first) == "5")
    h.drain()
    #expect(h.commands.allSatisfy { $0.charged.isEmpty })
    #expect(h.planner.deviceCount == 3, "the channel is forgotten with its activity")
  }

  @Test("timers of one instant fire in the order of devices, whichever instances had the slots before")
  func slotsUsedAgain() throws {
    for isRestored in [false, true] {
      var h = H(Self.policy())
      h.losesPlanner = { isRestored }
      h.register(Self.phone(activities: [Self.activity("a1")]))
      // The first activity is removed, and the next device's takes its slot. All timers are due at the same time.
      h.register(Self.phone(activities: [Self.activity("a2")]))
      var other = Self.phone(activities: [Self.activity("b1")])
      other.device = "d2"
      other.activities[0].address = .token("b1b1")
      h.register(other)
      h.tick(at: H.noon + 2 * H.hour)
      #expect(h.lastCommands.map(\.device) == ["d1", "d2"], "restored \(isRestored)")
    }
  }

  @Test("the content of an activity, pushed or not, is known after a restart")
  func unsentIsKnown() {
    for isRestored in [false, true] {
      var h = H(
        Self.policy { $0.rules.append(Rule(event: "flight.meal.changed", relevance: RelevanceFormula(base: 0))) })
      h.losesPlanner = { isRestored }
      var activity = Self.activity()
      activity.interests = ["flight/UA1", "flight/UA2"]
      h.register(Self.phone(activities: [activity]))
      h.event(.delay(30, id: "e1", at: H.noon + 1, type: "flight.meal.changed"))
      #expect(h.only?.reason == .cosmetic)
      // One push shows the changes of both subjects.
      h.event(.delay(60, id: "e2", subject: "flight/UA2", at: H.noon + 2, type: "flight.gate.changed"))
      h.event(.delay(30, id: "e3", at: H.noon + 3, type: "flight.gate.changed"))
      #expect(h.only?.reason == .notVisible, "restored \(isRestored)")
    }
  }

  @Test("payloads near the limit are reported once a step, with their largest members")
  func nearTheLimit() throws {
    var h = H(Self.policy())
    h.register(Self.phone(activities: [Self.activity("a1"), Self.activity("a2")]))
    var output = PlannerOutput()
    for (bytes, band) in [(1500, PayloadBand.safe), (2500, .watch), (3200, .risky), (3800, .allowed)] {
      let event = DomainEvent.delay(
        Double(bytes), id: "e\(bytes)", at: H.noon + Int64(bytes), status: String(repeating: "x", count: bytes))
      h.planner.begin(.event(event), offset: Int64(bytes), timestamp: Timestamp(microseconds: H.noon + Int64(bytes)))
      while !h.planner.advance(into: &output) {}
      #expect(output.payloads.map(\.band) == [band, band])
      #expect(output.largePayloads.map(\.band) == (band < .risky ? [] : [band]))
      #expect(output.largePayloads.allSatisfy { $0.count == 2 && $0.members[0].name == "status" })
    }
  }
}
