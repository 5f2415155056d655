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

  @Test("widgets of one device with different routes are examined separately")
  func twoRoutes() {
    let both = Registration.Tokens(widgets: "aa11", background: "bb22")
    for demand in [DemandPrior.none, .high] {
      var h = H(.flights { $0.displays = [] }, demand: demand)
      h.register(.phone(widgets: [.flight("w1"), .flight("w2", pushEnabled: false)], tokens: both))
      h.event(.delay(30, id: "e1", at: H.noon))
      #expect(h.last.map(\.instance) == ["w1", "w2"])
      #expect(h.lastCommands.map(\.surface) == (demand == .none ? [.widget, .background] : []))
      h.drain()
      #expect(h.decisions.filter(\.final).count == 2)
      #expect(h.planner.pending.causes.liveCount == 0)
    }
  }

  @Test("a kind of surface background takes the background route even when a widget push is possible")
  func backgroundKind() {
    var h = H(.flights { $0.surface = .background })
    h.register(.phone(tokens: Registration.Tokens(widgets: "aa11", background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.lastCommands.map(\.surface) == [.background])
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
