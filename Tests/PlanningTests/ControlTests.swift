import Domain
import JSON
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of pushes to controls, and of instances whose id belonged to another sort of instance.
@Suite("Controls")
struct ControlTests {
  @Test("each control has its own token and waits for its own rate")
  func control() throws {
    var h = H(Self.withControl())
    let controls = ["c1", "c2"].map {
      Registration.Control(id: $0, kind: "GateControl", token: "ee\($0.text.dropFirst())", interests: ["flight/UA1"])
    }
    h.register(ActivityTests.phone(controls: controls))
    h.event(.delay(10, id: "e1", at: H.noon))
    #expect(h.lastCommands.map(\.surface) == [.control, .control])
    #expect(h.lastCommands.map(\.apns.address) == [.token("ee1"), .token("ee2")])
    #expect(h.lastCommands.first?.charged.map(\.ledger) == [.instance, .control])
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.reason) == [.budgetInstance, .budgetInstance])
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.count == 4)
  }

  private static func withControl() -> Policy {
    ActivityTests.policy(also: { policy in
      var control = policy.kinds.first { $0.name == "FlightStatus" } ?? policy.kinds[0]
      control.name = "GateControl"
      control.surface = .control
      policy.kinds.append(control)
      policy.kinds.sort { $0.name < $1.name }
    })
  }

  private static let control = Registration.Control(
    id: "c1", kind: "GateControl", token: "ee", interests: ["flight/UA1"])

  /// Returns a registration of a widget with the control's id.
  private static func asWidget(at time: Int64) -> Registration {
    var phone = ActivityTests.phone(at: time)
    phone.widgets = [.flight("c1", interests: ["flight/UA2"])]
    return phone
  }

  @Test(
    "a control whose id belonged to a widget for a while gets no tokens back", arguments: [false, true], [false, true])
  func controlAgain(isLost: Bool, isGone: Bool) throws {
    var h = H(Self.withControl())
    h.losesPlanner = { isLost }
    h.register(ActivityTests.phone(controls: [Self.control]))
    h.event(.delay(10, id: "e1", at: H.noon + 1))
    #expect(h.only?.reason == .emitted)
    h.register(Self.asWidget(at: H.noon + H.minute), at: H.noon + H.minute)
    #expect(h.planner.census.retiredPerDevice == 1)
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + 2 * H.minute))
    #expect(h.only?.surface == .widget && h.only?.reason == .emitted)
    // No instance has the id for a while.
    if isGone { h.register(ActivityTests.phone(at: H.noon + 3 * H.minute), at: H.noon + 3 * H.minute) }
    h.register(ActivityTests.phone(controls: [Self.control], at: H.noon + 4 * H.minute), at: H.noon + 4 * H.minute)
    #expect(h.planner.census.instances == 1 && h.planner.census.strays == 0)
    h.event(.delay(20, id: "e3", at: H.noon + 5 * H.minute))
    #expect(h.only?.reason == .budgetInstance)
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.map(\.at.microseconds).last == H.noon + 1 + 30 * H.minute)
    #expect(h.commands.map(\.surface) == [.control, .widget, .control])
  }

  @Test(
    "the rate of a control whose id a widget took over is kept only until it is full again", arguments: [false, true])
  func controlOver(isLost: Bool) {
    var h = H(Self.withControl())
    h.losesPlanner = { isLost }
    h.register(ActivityTests.phone(controls: [Self.control]))
    h.event(.delay(10, id: "e1", at: H.noon + 1))
    h.register(Self.asWidget(at: H.noon + H.minute), at: H.noon + H.minute)
    #expect(h.planner.census.instances == 2)
    h.drain(until: H.noon + H.hour)
    #expect(h.planner.census.instances == 1)
    h.register(ActivityTests.phone(controls: [Self.control], at: H.noon + H.hour), at: H.noon + H.hour)
    h.register(Self.asWidget(at: H.noon + H.hour + 1), at: H.noon + H.hour + 1)
    #expect(h.planner.census.instances == 1, "nothing is owed")
  }

  @Test("a control's refused push is refunded even while a widget has its id", arguments: [false, true])
  func controlRefused(isLost: Bool) throws {
    var h = H(Self.withControl())
    h.losesPlanner = { isLost }
    h.register(ActivityTests.phone(controls: [Self.control]))
    h.event(.delay(10, id: "e1", at: H.noon + 1))
    let command = try #require(h.commands.first)
    h.register(Self.asWidget(at: H.noon + H.minute), at: H.noon + H.minute)
    h.signal(.deliveryCompleted(command: command.command, outcome: .refused), at: H.noon + 2 * H.minute)
    h.register(ActivityTests.phone(controls: [Self.control], at: H.noon + 3 * H.minute), at: H.noon + 3 * H.minute)
    h.event(.delay(20, id: "e2", at: H.noon + 4 * H.minute))
    #expect(h.only?.reason == .emitted)
  }

  @Test("an activity whose id belonged to a widget for a while gets no tokens back", arguments: [false, true])
  func activityAgain(isLost: Bool) throws {
    var h = H(ActivityTests.policy())
    h.losesPlanner = { isLost }
    h.register(ActivityTests.phone(activities: [ActivityTests.activity("c1")]))
    func left() -> Int? { h.commands.last?.charged.first { $0.ledger == .activity }?.left }
    h.event(.delay(10, id: "e1", at: H.noon + 1, type: "flight.gate.changed"))
    #expect(left() == 2)
    h.register(Self.asWidget(at: H.noon + 2), at: H.noon + 2)
    h.register(ActivityTests.phone(activities: [ActivityTests.activity("c1")], at: H.noon + 3), at: H.noon + 3)
    h.event(.delay(20, id: "e2", at: H.noon + 4, type: "flight.gate.changed"))
    #expect(h.commands.count == 2 && left() == 1)
  }
}
