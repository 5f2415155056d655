import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of kinds that a policy switches off, or does not name, and that a later policy decides about again.
@Suite("Kinds that were switched off")
struct SwitchedOffKindTests {
  private static func policy(_ change: (inout KindPolicy) -> Void = { _ in }) -> Policy {
    .flights {
      $0.displays = [
        DisplayField(path: "data.delay", per: .units(60), initial: .number(0)),
        DisplayField(path: "data.status", weight: 0.5, initial: .string("delayed")),
      ]
      $0.rules = [Rule(event: "flight.delay.changed")]
      change(&$0)
    }
  }

  private static let off = policy { $0.enabled = false }
  private static let unnamed = Policy.flights(also: { $0.kinds = [] })

  /// A phone that shows a delay of 30 minutes since noon.
  private static func phone() -> H {
    var h = H(policy())
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    return h
  }

  private static func wrong(_ h: H) -> Double { h.planner.facts().wrong }

  @Test(
    "the differences of the time in which a kind was off lead to a push when it is on again", arguments: [false, true])
  func switchedOn(restarts: Bool) {
    var h = Self.phone()
    h.losesPlanner = { restarts }
    h.activate(Self.off)
    h.event(.delay(45, id: "e2", at: H.noon + H.hour))
    h.event(.delay(60, id: "e3", at: H.noon + 2 * H.hour))
    #expect(h.only?.reason == .kindDisabled)
    h.drain(until: H.noon + 3 * H.hour)
    #expect(h.commands.count == 1)
    h.tick(at: H.noon + 3 * H.hour)
    h.activate(Self.policy())
    #expect(abs(Self.wrong(h) - 0.5) < 1e-6, "all events are folded")
    h.drain(until: H.noon + 3 * H.hour + 10 * H.minute)
    #expect(h.commands.count == 2)
    #expect(h.commands.last?.serves.map(\.reason) == [.caughtUp])
    h.event(.delay(60, id: "e4", at: H.noon + 4 * H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("a change that was undone while a kind was off leads to no push")
  func undone() {
    var h = Self.phone()
    h.activate(Self.off)
    h.event(.delay(45, id: "e2", at: H.noon + H.hour))
    h.event(.delay(30, id: "e3", at: H.noon + 2 * H.hour))
    h.activate(Self.policy())
    h.drain(until: H.noon + 8 * H.hour)
    #expect(h.commands.count == 1)
  }

  @Test(
    "what a screen shows is not known after a time in which the policy did not name its kind", arguments: [false, true])
  func named(restarts: Bool) {
    var h = Self.phone()
    h.losesPlanner = { restarts }
    h.activate(Self.unnamed)
    h.event(.delay(45, id: "e2", at: H.noon + H.hour))
    #expect(h.only?.reason == .noMatch)
    h.losesPlanner = { false }
    h.tick(at: H.noon + 2 * H.hour)
    h.activate(Self.policy())
    h.losesPlanner = { restarts }
    #expect(Self.wrong(h) == 1, "every field counts in full")
    h.drain(until: H.noon + 2 * H.hour + 10 * H.minute)
    #expect(h.commands.count == 2)
    #expect(h.commands.last?.serves.map(\.reason) == [.caughtUp])
    #expect(Self.wrong(h) == 0)
    h.drain(until: H.noon + 8 * H.hour)
    #expect(h.commands.count == 2)
  }

  @Test("a reload by something else while the policy does not name a kind does not make its screen known")
  func reloadedMeanwhile() {
    var h = Self.phone()
    h.activate(Self.unnamed)
    h.signal(.widgetFetched(instance: nil), at: H.noon + H.hour)
    h.event(.delay(45, id: "e2", at: H.noon + 2 * H.hour))
    #expect(Self.wrong(h) == 0)
    h.activate(Self.policy())
    h.drain(until: H.noon + 2 * H.hour + 10 * H.minute)
    #expect(h.commands.count == 2)
  }

  @Test(
    "a kind that a policy names for the first time leads to no push by itself, and a policy that changes nothing neither"
  )
  func first() {
    var h = H(Self.unnamed)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.activate(Self.policy())
    h.drain(until: H.noon + 8 * H.hour)
    #expect(h.commands.isEmpty)
    h = Self.phone()
    h.event(.delay(60, id: "e2", at: H.noon + H.minute, type: "flight.gate.changed"))
    h.activate(Self.policy())
    h.drain(until: H.noon + 8 * H.hour)
    #expect(h.commands.count == 1)
  }

  @Test("the devices of a zone are not all examined at once when a kind is switched on")
  func spread() {
    var h = H(Self.policy())
    for device in 0..<200 { h.register(.phone(Identifier("d\(device)"))) }
    h.event(.delay(30, id: "e1", at: H.noon))
    h.activate(Self.off)
    h.event(.delay(60, id: "e2", at: H.noon + H.hour))
    h.activate(Self.policy())
    h.drain(until: H.noon + 2 * H.hour)
    let minutes = h.commands.dropFirst(200).map { ($0.at.microseconds - H.noon) / H.minute }
    #expect(minutes.count == 200 && minutes.allSatisfy { (60..<70).contains($0) })
    for minute in Int64(60)..<70 { #expect(minutes.contains(minute)) }
  }
}
