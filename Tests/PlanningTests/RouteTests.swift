import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the ways to reach a device.
@Suite("Routes")
struct RouteTests {
  @Test(
    "tokens, systems and push handlers decide the route",
    arguments: [
      (UInt16(26), "w", nil, true, Reason.emitted), (26, nil, "b", true, .emitted), (18, "w", "b", true, .emitted),
      (18, "w", nil, true, .unsupportedOS), (26, nil, nil, true, .noToken), (26, "w", "b", false, .emitted),
      (26, "w", nil, false, .noToken),
    ] as [(UInt16, String?, String?, Bool, Reason)])
  func route(os: UInt16, widgets: String?, background: String?, pushEnabled: Bool, reason: Reason) {
    var h = H()
    h.register(
      .phone(
        widgets: [.flight(pushEnabled: pushEnabled)], os: os,
        tokens: Registration.Tokens(widgets: widgets, background: background)))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == reason)
    if reason == .emitted {
      let byWidget = os >= 26 && widgets != nil && pushEnabled
      #expect(h.lastCommands.first?.surface == (byWidget ? .widget : .background))
    }
  }

  @Test("a background push has priority 5, the bare topic, and names its kinds")
  func backgroundPush() throws {
    var h = H()
    h.register(.phone(os: 18, tokens: Registration.Tokens(widgets: nil, background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    let apns = try #require(h.lastCommands.first?.apns)
    #expect(apns.payload == #"{"aps":{"content-available":1},"rouse":{"kinds":["FlightStatus"]}}"#)
    #expect(apns.headers.contains(Command.Header(name: "apns-priority", value: "5")))
    #expect(apns.headers.contains(Command.Header(name: "apns-topic", value: "com.example.flights")))
    #expect(apns.address == .token("bb22"))
  }

  @Test("a rejected token is dead until another one is registered")
  func tokenDead() {
    var h = H()
    h.register(.phone())
    h.signal(.tokenRejected(token: "aa11"), at: H.noon)
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .tokenDead)
    h.register(.phone(tokens: Registration.Tokens(widgets: "cc33"), at: H.noon + 2), at: H.noon + 2 * H.minute)
    h.event(.delay(40, id: "e2", at: H.noon + 2 * H.minute + 1))
    #expect(h.only?.reason == .emitted)
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.count == 1, "the push has set right what the dead token left")
  }

  private static let bothTokens = Registration.Tokens(widgets: "aa11", background: "bb22")

  @Test("widgets of one device with different routes are examined separately unless one push reloads both")
  func twoRoutes() {
    for demand in [DemandPrior.none, .high] {
      var h = H(.flights { $0.displays = [] }, demand: demand)
      h.register(.phone(widgets: [.flight("w1"), .flight("w2", pushEnabled: false)], tokens: Self.bothTokens))
      h.event(.delay(30, id: "e1", at: H.noon))
      #expect(h.last.map(\.instance) == (demand == .none ? ["w2", "w1"] : ["w1", "w2"]))
      #expect(h.lastCommands.map(\.surface) == (demand == .none ? [.background] : []))
      h.drain()
      #expect(h.decisions.filter(\.final).count == 2)
      #expect(h.planner.census.causes == 0)
    }
  }

  @Test("a kind of surface background takes the background route even when a widget push is possible")
  func backgroundKind() {
    var h = H(.flights { $0.surface = .background })
    h.register(.phone(tokens: Registration.Tokens(widgets: "aa11", background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.lastCommands.map(\.surface) == [.background])
  }

  @Test("a background push charges every widget of the kinds that it names and no other, at whatever time it comes")
  func backgroundCharges() throws {
    var other = Policy.flights { $0.name = "Board" }.kinds[0]
    other.budget.minInterval = .minutes(7)
    let policy = Policy.flights({ $0.budget.minInterval = .minutes(40) }, also: { $0.kinds.insert(other, at: 0) })
    let widgets: [Registration.Widget] = (0..<6).map {
      .flight(
        "w\($0)", kind: $0 % 2 == 0 ? "FlightStatus" : "Board", interests: ["flight/UA\($0)"], pushEnabled: $0 % 3 == 0)
    }
    for seed in UInt64(1)...40 {
      var random = SeededRandom(seed: seed)
      var h = H(policy)
      h.register(.phone(widgets: widgets, tokens: Self.bothTokens))
      var at = H.noon
      for event in 0..<40 {
        at += Int64(1 + random.below(20)) * H.minute
        h.drain(until: at)
        h.event(.delay(Double(event) * 10, id: "e\(event)", subject: "flight/UA\(random.below(6))", at: at))
      }
      h.drain()
      #expect(h.commands.contains { $0.surface == .background } && h.commands.contains { $0.surface == .widget })
      for command in h.commands where command.surface == .background {
        let charged = Set(command.charged.filter { $0.ledger == .instance }.map(\.owner))
        let named = Set(widgets.filter { command.apns.payload.contains("\"\($0.kind)\"") }.map(\.id))
        #expect(charged == named, "\(command.command) of seed \(seed)")
      }
    }
  }

  @Test("a widget that only background pushes reach gets its turn beside a busy widget of its kind")
  func busyNamesake() {
    for isFirst in [true, false] {
      var h = H(.flights { $0.budget.minInterval = .hours(1) })
      let (busy, quiet): (Identifier, Identifier) = isFirst ? ("w1", "w2") : ("w2", "w1")
      h.register(
        .phone(
          widgets: [
            .flight("w1", interests: [isFirst ? "flight/UA1" : "flight/UA2"], pushEnabled: isFirst),
            .flight("w2", interests: [isFirst ? "flight/UA2" : "flight/UA1"], pushEnabled: !isFirst),
          ], tokens: Self.bothTokens))
      for minutes in 0..<180 {
        let at = H.noon + Int64(minutes) * H.minute
        h.drain(until: at)
        h.event(.delay(Double(minutes % 2 * 30 + 30), id: "e\(minutes)", subject: "flight/UA1", at: at))
        if minutes == 5 { h.event(.delay(30, id: "quiet", subject: "flight/UA2", at: at + 1)) }
      }
      let first = h.commands.first { $0.serves.contains { $0.instance == quiet } }
      #expect(first?.at.microseconds == H.noon + H.hour, "as soon as the busy one may be reloaded again")
      #expect(first?.serves.map(\.instance).sorted() == ["w1", "w2"])
      #expect(h.commands.first?.serves.map(\.instance) == [busy])
    }
  }

  @Test("kind names that do not fit in a background push are refused")
  func backgroundTooLarge() {
    let widgets = (0..<40).map {
      Registration.Widget.flight("w\($0)", kind: "\(String(repeating: "k", count: 200))\($0)")
    }
    var h = H(
      .flights(also: { policy in
        for widget in widgets {
          var kind = policy.kinds[0]
          kind.name = widget.kind
          policy.kinds.append(kind)
        }
        policy.kinds.sort { $0.name < $1.name }
      }))
    h.register(.phone(widgets: widgets, tokens: Registration.Tokens(widgets: nil, background: "bb")))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.last.contains { $0.reason == .payloadTooLarge })
    #expect(h.lastCommands.allSatisfy { $0.apns.payload.utf8.count <= 4096 })
    h.drain()
    #expect(h.decisions.filter(\.final).count == 40)
  }
}
