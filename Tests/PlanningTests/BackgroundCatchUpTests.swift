import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of screens that are wrong without an event that waits, on devices that only background pushes can reach.
@Suite("Catching up by background pushes")
struct BackgroundCatchUpTests {
  /// Two kinds that show a delay field by field. A background push names those that it reloads.
  /// - Parameters:
  ///   - boardInterval: The minimum interval of the second kind.
  ///   - perHour: The background pushes of a device in an hour; nil for any number.
  private static func policy(boardInterval: TimeSpan, perHour: Int? = nil) -> Policy {
    .flights(
      { $0.rules = [Rule(event: "flight.delay.changed")] },
      also: {
        var board = $0.kinds[0]
        board.name = "Board"
        board.budget.minInterval = boardInterval
        $0.kinds.insert(board, at: 0)
        $0.profile.backgroundPushes.limit = perHour
      })
  }

  /// A phone on OS 18 with a widget of each kind, about different flights. The screen of the first kind is not known since its
  /// push was refunded a minute after noon.
  /// - Parameter widgets: The ids of the widgets: that of `FlightStatus`, then that of `Board`.
  private static func refunded(_ policy: Policy, widgets: (Identifier, Identifier) = ("w1", "w2")) throws -> H {
    var h = H(policy)
    let both: [Registration.Widget] = [
      .flight(widgets.0), .flight(widgets.1, kind: "Board", interests: ["flight/UA2"]),
    ]
    h.register(
      .phone(
        widgets: both.sorted { $0.id < $1.id }, os: 18,
        tokens: Registration.Tokens(widgets: nil, background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .expired), at: H.noon + H.minute)
    return h
  }

  private static func minutes(_ commands: [Command]) -> [Int64] {
    commands.map { ($0.at.microseconds - H.noon) / H.minute }
  }

  @Test(
    "a wrong screen is set right while an event of another kind waits for its minimum interval",
    arguments: [true, false])
  func anotherKindWaits(isFirst: Bool) throws {
    var h = try Self.refunded(
      Self.policy(boardInterval: .hours(12)), widgets: isFirst ? ("w1", "w2") : ("w2", "w1"))
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted)
    h.event(.delay(20, id: "e3", subject: "flight/UA2", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .minInterval)
    h.losesPlanner = { true }
    h.drain(until: H.noon + 3 * H.hour)
    #expect(Self.minutes(h.commands) == [0, 2, 61])
    #expect(h.commands.last?.serves.map(\.reason) == [.caughtUp])
    #expect(h.commands.last?.serves.map(\.kind) == ["FlightStatus"])
    h.drain(until: H.noon + 13 * H.hour)
    #expect(h.commands.last?.serves.map(\.kind) == ["Board"], "what waits goes when its interval is over")
  }

  @Test(
    "a wrong screen and an event of another kind share the background push that the device has",
    arguments: [true, false])
  func sharesThePush(isFirst: Bool) throws {
    var h = try Self.refunded(
      Self.policy(boardInterval: .zero, perHour: 1), widgets: isFirst ? ("w1", "w2") : ("w2", "w1"))
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + 5 * H.minute))
    #expect(h.only?.reason == .emitted)
    h.event(.delay(20, id: "e3", subject: "flight/UA2", at: H.noon + 6 * H.minute))
    #expect(h.only?.reason == .budgetDevice)
    h.losesPlanner = { true }
    h.drain(until: H.noon + 3 * H.hour)
    #expect(Self.minutes(h.commands) == [0, 5, 65])
    let served = try #require(h.commands.last).serves
    #expect(Set(served.map(\.reason)) == [.caughtUp, .emittedAfterDefer])
    #expect(Set(served.map(\.kind)) == ["Board", "FlightStatus"])
    #expect(h.last.map(\.reason) == [.emittedAfterDefer])
  }

  @Test("a wrong screen that may not be reloaded yet holds no event of another kind back")
  func holdsNothingBack() throws {
    var h = try Self.refunded(Self.policy(boardInterval: .zero))
    h.activate(
      .flights(
        {
          $0.rules = [Rule(event: "flight.delay.changed")]
          $0.budget.minInterval = .hours(5)
        }, also: { $0.kinds.insert(Self.policy(boardInterval: .zero).kinds[0], at: 0) }))
    // Its examination finds that the last reload was less than five hours ago.
    h.drain(until: H.noon + 2 * H.hour)
    #expect(h.commands.count == 1)
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + 2 * H.hour))
    #expect(h.only?.reason == .emitted)
    #expect(h.commands.last?.serves.map(\.kind) == ["Board"])
    h.drain(until: H.noon + 6 * H.hour)
    #expect(Self.minutes(h.commands) == [0, 120, 300])
  }

  @Test(
    "a wrong screen whose timeline has spent its tokens is set right the next day, although other kinds share a push meanwhile",
    arguments: [["w1", "w2", "w3"], ["w2", "w1", "w3"], ["w3", "w1", "w2"], ["w1", "w3", "w2"]] as [[Identifier]])
  func spentByItsTimeline(ids: [Identifier]) throws {
    var h = H(
      .flights(
        {
          $0.rules = [Rule(event: "flight.delay.changed")]
          $0.budget.perDay = 2
        },
        also: {
          for (name, minInterval) in [("Gate", TimeSpan.zero), ("Board", .hours(1))] {
            var kind = $0.kinds.last!
            (kind.name, kind.budget.perDay, kind.budget.minInterval) = (Identifier(name), 48, minInterval)
            $0.kinds.insert(kind, at: 0)
          }
          $0.profile.backgroundPushes.limit = nil
        }))
    let widgets: [Registration.Widget] = [
      .flight(ids[0]), .flight(ids[1], kind: "Gate"), .flight(ids[2], kind: "Board", interests: ["flight/UA2"]),
    ]
    h.register(
      .phone(
        widgets: widgets.sorted { $0.id < $1.id }, os: 18, tokens: Registration.Tokens(widgets: nil, background: "bb22")
      ))
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .expired), at: H.noon + H.minute)
    h.event(.delay(10, id: "e2", subject: "flight/UA2", at: H.noon + H.minute))
    // Two reloads of its own, from before the event, take the tokens of the first widget and leave its screen as it is.
    for minutes in [10, 20] as [Int64] {
      let fetch = Signal(
        device: "d1", id: "fetch-\(minutes)", time: Timestamp(microseconds: H.noon - minutes * H.minute),
        kind: .widgetFetched(instance: ids[0], cause: .timeline))
      h.apply(.signal(fetch), at: H.noon + 2 * H.minute)
    }
    h.event(.delay(20, id: "e3", subject: "flight/UA2", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .minInterval)
    h.drain(until: H.noon + 2 * H.hour)
    #expect(Self.minutes(h.commands) == [0, 1, 61])
    #expect(Set(h.commands.last?.serves.map(\.kind) ?? []) == ["Board", "Gate"])
    h.drain(until: H.noon + 24 * H.hour)
    #expect(h.commands.last?.serves.map(\.kind) == ["FlightStatus"])
    #expect(h.commands.last?.serves.map(\.reason) == [.caughtUp])
  }
}
