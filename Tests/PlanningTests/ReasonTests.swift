import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the reason codes of the first checks, in their order, and of the events that a kind receives.
@Suite("Reasons")
struct ReasonTests {
  @Test("a change worth its price is emitted as a widget push that names no kind")
  func emitted() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let decision = try #require(h.only)
    #expect(decision.verdict == .emit)
    #expect(decision.reason == .emitted)
    #expect(decision.final)
    #expect(decision.events == ["e1"])
    #expect(decision.tokensLeft.instance == 47)
    #expect(decision.decision == "d-0-1-1")
    let command = try #require(h.lastCommands.first)
    #expect(decision.command == command.command)
    #expect(command.apns.payload == #"{"aps":{"content-changed":true}}"#)
    #expect(command.apns.headers.contains(Command.Header(name: "apns-push-type", value: "widgets")))
    #expect(
      command.apns.headers.contains(
        Command.Header(name: "apns-topic", value: "com.example.flights.push-type.widgets")))
    #expect(command.charged == [Command.Charge(ledger: .instance, owner: "w1", left: 47)])
  }

  @Test("a repeated event is a duplicate, and the first decision stays final")
  func duplicate() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .duplicate)
    #expect(h.only?.final == false)
  }

  @Test("an event older than the newest of its subject and type is stale")
  func stale() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e2", at: H.noon + H.minute))
    h.event(.delay(10, id: "e1", at: H.noon), at: H.noon + 2 * H.minute)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test("an event older than its rule's maxAge is stale")
  func tooOld() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"), at: H.noon + 31 * H.minute)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test("an event type without a rule does not match")
  func noMatch() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.meal.changed"))
    #expect(h.only?.reason == .noMatch)
  }

  @Test("relevance 0 is cosmetic")
  func cosmetic() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.gate.changed"))
    #expect(h.only?.reason == .cosmetic)
  }

  @Test("a change that rounding hides is not visible")
  func notVisible() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(31, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .notVisible)
    h.event(.delay(33, id: "e3", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted)
  }

  @Test("a disabled kind is never pushed")
  func kindDisabled() {
    var h = H(.flights { $0.enabled = false })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .kindDisabled)
  }

  @Test("a foreground app reloads for free, and a lost backgrounded signal does not silence it for ever")
  func foreground() {
    var h = H()
    h.register(.phone())
    h.signal(.appForegrounded, at: H.noon)
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .appForeground)
    h.event(.delay(40, id: "e2", at: H.noon + 3 * H.hour))
    #expect(h.only?.reason == .emitted)
  }

  @Test("a change that a scheduled timeline reload will show is not pushed")
  func reloadImminent() {
    var h = H()
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 4 * H.minute)]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .reloadImminent)
  }

  @Test("an event reaches widgets by its second key, and an instance with both keys once")
  func secondKey() {
    var h = H()
    h.register(
      .phone(widgets: [
        .flight("both", interests: ["flight/UA1", "airport/EWR"]), .flight("one", interests: ["airport/EWR"]),
      ]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.cancelled", status: "cancelled"))
    #expect(h.last.map(\.instance) == ["both", "one"])
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.instance) == ["both"])
  }

  @Test("a publisher's clock that runs ahead makes no later event stale")
  func clocksAhead() {
    var h = H()
    let year9999 = Timestamp(microseconds: 253_402_300_799_000_000)
    var early = Registration.phone()
    early.updatedAt = year9999
    h.register(early)
    h.register(.phone(widgets: [.flight(), .flight("w2")], at: H.noon + 1), at: H.noon + 1)
    var ahead = DomainEvent.delay(10, id: "e1", at: H.noon)
    ahead.time = year9999
    h.event(ahead, at: H.noon + 2)
    h.event(.delay(30, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.reason) == [.emitted, .emittedShared])
    h.apply(.tick, at: .max)
    h.drain()
  }
}
