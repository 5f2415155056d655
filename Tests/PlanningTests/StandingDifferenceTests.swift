import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of differences between a screen and the truth: which events end them, and what they outlive.
@Suite("Standing differences")
struct StandingDifferenceTests {
  /// A kind whose changes wait for a quarter of an hour, and whose rule states no relevance.
  private static func policy(_ change: (inout KindPolicy) -> Void = { _ in }, also: (inout Policy) -> Void = { _ in })
    -> Policy
  {
    .flights(
      {
        $0.budget.minInterval = .minutes(15)
        $0.rules = [
          Rule(event: "flight.delay.changed", maxAge: .minutes(30)),
          Rule(event: "flight.boarding", maxAge: .minutes(1)),
          Rule(event: "flight.gate.changed", relevance: RelevanceFormula(base: 0)),
        ]
        change(&$0)
      }, also: also)
  }

  /// A phone that shows a delay of 10, while 20 minutes are true and wait for the minimum interval.
  private func waiting() -> PlannerHarness {
    var h = H(Self.policy())
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .minInterval)
    return h
  }

  // MARK: What sets a screen right

  @Test("an event of no relevance that sets the screen right ends what waits for its subject")
  func cosmetic() {
    var h = waiting()
    h.event(.delay(10, id: "e3", at: H.noon + 2 * H.minute, type: "flight.gate.changed"))
    #expect(h.last.map(\.reason) == [.superseded, .cosmetic])
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.count == 1)
  }

  @Test("an event that is too old to be pushed, and sets the screen right, ends what waits for its subject")
  func stale() {
    var h = waiting()
    h.event(.delay(10, id: "e3", at: H.noon + H.minute, type: "flight.boarding"), at: H.noon + 3 * H.minute)
    #expect(h.last.map(\.reason) == [.superseded, .staleEvent])
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.count == 1)
  }

  // MARK: Other fields

  @Test("what a screen showed of other fields is not compared with those of a new policy")
  func otherFields() {
    var h = waiting()
    h.drain(until: H.noon + H.hour)
    h.activate(
      Self.policy {
        $0.displays = [
          DisplayField(path: "data.origin", initial: .string("EWR")),
          DisplayField(path: "data.status", initial: .string("delayed")),
        ]
      })
    h.event(.delay(50, id: "e3", at: H.noon + 2 * H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("what a screen showed of a subject is forgotten when another kind takes over its id")
  func otherKind() {
    var h = H(
      Self.policy(also: { policy in
        var board = policy.kinds[0]
        board.name = "Board"
        board.displays = [
          DisplayField(path: "data.delay", round: 5, initial: .number(20)),
          DisplayField(path: "data.status", initial: .string("delayed")),
        ]
        policy.kinds.insert(board, at: 0)
      }))
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    h.register(.phone(widgets: [.flight(kind: "Board")], at: H.noon + 1), at: H.noon + 2 * H.minute)
    #expect(h.only?.reason == .instanceRemoved)
    #expect(h.planner.facts().wrong == 0)
    h.event(.delay(20, id: "e3", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  // MARK: Age

  @Test("of the causes that are too old, the newest of each subject stays while its screen is wrong")
  func expired() {
    let quiet = QuietHours(fromMinute: 12 * 60, toMinute: 14 * 60, exceptRelevance: 2)
    var h = H(Self.policy(also: { $0.quietHours = quiet }))
    h.register(.phone(widgets: [.flight(interests: ["flight/UA1", "flight/UA2", "flight/UA3"])]))
    h.event(.delay(10, id: "e1", subject: "flight/UA1", at: H.noon))
    h.event(.delay(20, id: "e2", subject: "flight/UA2", at: H.noon + H.minute))
    h.event(.delay(30, id: "e3", subject: "flight/UA1", at: H.noon + 2 * H.minute))
    h.event(.delay(40, id: "e4", subject: "flight/UA3", at: H.noon + 3 * H.minute))
    h.losesPlanner = { true }
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.filter { $0.reason == .expired }.map(\.event) == ["e1"])
    h.drain(until: H.noon + 3 * H.hour)
    #expect(h.decisions.filter { $0.reason == .expired }.count == 1)
    #expect(h.commands.map { $0.serves.flatMap(\.events).sorted() } == [["e2", "e3", "e4"]])
  }

  // MARK: What is learnt

  @Test("the hours of devices that have left are counted no more")
  func populations() {
    var h = H()
    func zone(_ number: Int) -> String { number % 2 == 0 ? "GMT" : "America/New_York" }
    for device in 0..<6 {
      h.register(.phone(Identifier("d\(device)"), zone: zone(device), developerMode: device == 5))
    }
    // Some move, get or lose a widget, and change the mode.
    for device in 0..<6 {
      h.register(
        .phone(
          Identifier("d\(device)"), widgets: device < 3 ? [.flight("w1"), .flight("w2")] : [], zone: zone(device + 1),
          at: H.noon + 1, developerMode: device == 4), at: H.noon + 10 * H.minute)
    }
    h.losesPlanner = { true }
    h.tick(at: H.noon + 80 * H.minute)
    h.losesPlanner = { false }
    for device in 0..<6 { h.apply(.forget(device: Identifier("d\(device)")), at: H.noon + 90 * H.minute) }
    let counted = h.planner.demand.observed
    #expect(counted.contains { $0 > 0 })
    for hour in Int64(2)..<9 { h.tick(at: H.noon + hour * H.hour) }
    #expect(h.planner.demand.observed == counted)
  }

  // MARK: Live Activities

  @Test("without a stated relevance, a Live Activity weighs the difference that an event makes")
  func activity() {
    var h = H(
      ActivityTests.policy {
        $0.displays = [
          DisplayField(path: "data.delay", round: 5, per: .units(60), initial: .number(0)),
          DisplayField(path: "data.status", initial: .string("delayed")),
        ]
        $0.rules = [Rule(event: "flight.delay.changed")]
      })
    h.register(ActivityTests.phone(activities: [ActivityTests.activity()]))
    h.event(.delay(0, id: "e0", at: H.noon))
    #expect(h.only?.reason != .cosmetic && h.lastCommands.count == 1, "its screen is not known yet")
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only.map { $0.relevance == 0.5 && $0.wrong == 0.5 && $0.verdict == .emit } == true)
    h.event(.delay(31, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  // MARK: Catching up

  private static let noToken = Registration.Tokens(widgets: nil, background: nil)

  @Test("a screen that no push could reach is set right when a registration brings a token")
  func tokenComes() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.register(.phone(tokens: Self.noToken, at: H.noon + 1), at: H.noon + H.minute)
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .noToken)
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.count == 1)
    h.losesPlanner = { true }
    h.register(.phone(at: H.noon + 2), at: H.noon + 2 * H.hour)
    h.drain(until: H.noon + 3 * H.hour)
    #expect(h.decisions.count == 2, "no event causes the push")
    let command = try #require(h.commands.last)
    #expect(command.serves == [Command.Served(instance: "w1", kind: "FlightStatus", events: [], reason: .caughtUp)])
    #expect(command.charged.map(\.ledger) == [.instance])
    h.event(.delay(20, id: "e3", at: H.noon + 4 * H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("a screen that became reachable gets no push while its app is in the foreground")
  func tokenComesInForeground() {
    var h = H()
    h.register(.phone(tokens: Self.noToken))
    h.event(.delay(10, id: "e1", at: H.noon))
    h.register(.phone(at: H.noon + 1), at: H.noon + H.hour)
    h.signal(.appForegrounded, at: H.noon + H.hour + 1_000_000)
    h.drain(until: H.noon + 80 * H.minute)
    h.signal(.appBackgrounded, at: H.noon + 80 * H.minute)
    h.drain(until: H.noon + 9 * H.hour)
    #expect(h.commands.isEmpty)
    h.event(.delay(10, id: "e2", at: H.noon + 10 * H.hour))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("a screen that a background push can reach from now on is set right by one")
  func backgroundTokenComes() {
    var h = H()
    let widgets: [Registration.Widget] = [.flight("w1"), .flight("w2", interests: ["flight/UA2"])]
    h.register(.phone(widgets: widgets, os: 18, tokens: Self.noToken))
    h.event(.delay(10, id: "e1", at: H.noon))
    #expect(h.only?.reason == .noToken)
    let token = Registration.Tokens(widgets: nil, background: "bb22")
    h.register(.phone(widgets: widgets, os: 18, tokens: token, at: H.noon + 1), at: H.noon + H.minute)
    h.drain(until: H.noon + H.hour)
    #expect(h.commands.map(\.surface) == [.background])
    #expect(h.commands.flatMap(\.serves).map(\.reason) == [.caughtUp])
  }

  @Test("a screen whose push was refunded is examined an hour later, and again and again until it is right")
  func refunded() throws {
    var h = H(Self.policy(also: { $0.quietHours = QuietHours(fromMinute: 780, toMinute: 840, exceptRelevance: 0.5) }))
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + 5 * H.minute)
    h.losesPlanner = { true }
    h.drain(until: H.noon + 65 * H.minute - 1)
    #expect(h.commands.count == 1)
    h.drain(until: H.noon + 4 * H.hour)
    #expect(h.commands.count == 2)
    let minutes = h.commands.last.map { ($0.at.microseconds - H.noon) / H.minute } ?? 0
    #expect((120..<130).contains(minutes), "quiet hours hold it back until 14:00")
    #expect(h.commands.last?.serves.map(\.reason) == [.caughtUp])
  }

  @Test("what waits on another widget of the device leads the push that sets a refunded screen right")
  func refundedNeighbour() throws {
    var h = H(Self.policy())
    h.register(.phone(widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA2"])]))
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .expired), at: H.noon + H.minute)
    h.event(.delay(30, id: "e2", subject: "flight/UA2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted, "the refund has given back the minimum interval, too")
    h.drain(until: H.noon + 4 * H.hour)
    #expect(h.commands.map { $0.serves.map(\.reason) } == [[.emitted], [.emitted]])
  }

  @Test("a difference that the rules give no weight, or that came too late, waits for the next event")
  func left() {
    for type: Identifier in ["flight.gate.changed", "flight.boarding"] {
      var h = H(Self.policy())
      h.register(.phone())
      h.event(.delay(10, id: "e1", at: H.noon))
      h.event(.delay(20, id: "e2", at: H.noon + H.minute, type: type), at: H.noon + H.hour)
      #expect(h.only?.reason == .cosmetic || h.only?.reason == .staleEvent)
      h.drain(until: H.noon + 10 * H.hour)
      #expect(h.commands.count == 1)
      h.event(.delay(20, id: "e3", at: H.noon + 11 * H.hour))
      #expect(h.only?.reason == .emitted)
    }
  }
}
