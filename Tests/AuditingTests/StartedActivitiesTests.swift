import Domain
import GRDB
import Testing

@testable import Auditing

@Suite("Starts of Live Activities that no activity answers")
struct StartedActivitiesTests {
  private static let start = Sample.start

  private func push(
    _ n: Int, _ instance: Identifier, _ at: Timestamp, device: Identifier = "phone", subject: Identifier? = nil,
    event: Identifier = "update", kind: Identifier = "Match"
  ) -> Command {
    Command(
      command: "c-0-\(n)-0", device: device, app: "a", environment: .production, surface: .liveActivity,
      serves: [Command.Served(instance: instance, kind: kind, events: ["e\(n)"], reason: .emitted)], charged: [],
      apns: Command.APNs(address: .token("aa"), headers: [], payload: #"{"aps":{"event":"\#(event)"}}"#), at: at,
      expires: at, policy: Sample.policy, subject: subject)
  }

  private func started(
    _ n: Int, _ at: Timestamp, _ subject: Identifier = "match/1", device: Identifier = "phone"
  ) -> Command { push(n, "start", at, device: device, subject: subject, event: "start") }

  private func zombies(
    _ commands: [Command], _ decisions: [Decision] = [], range: TimeRange = .all
  ) throws -> StartedActivities {
    let store = try AuditStore.open(path: ":memory:")
    // The store ends a day later, so that no start is too new to tell.
    let last = push(999, "b1", Self.start + .hours(24), device: "tablet")
    try store.store(AuditBatch(decisions, commands + [last]))
    return try store.zombies(range: range)
  }

  @Test("a start is answered by an activity that shows up within eight hours, each by one")
  func answered() throws {
    let t = Self.start
    #expect(try zombies([started(1, t), push(2, "a1", t + .minutes(50))]).zombies.isEmpty)
    #expect(try zombies([started(1, t), push(2, "a1", t + .hours(9))]).zombies.map(\.subject) == ["match/1"])
    let two = [started(1, t), started(2, t + .minutes(1), "match/2"), push(3, "a1", t + .minutes(50))]
    #expect(try zombies(two).zombies.map(\.subject) == ["match/1"], "the newest start before it is answered")
  }

  @Test("a start after which the same was started again was not taken, so it left nothing on the screen")
  func startedAgain() throws {
    let t = Self.start
    let again = [started(1, t), started(2, t + .minutes(9)), started(3, t + .minutes(10), "match/2")]
    #expect(try zombies(again).zombies.map(\.command) == ["c-0-2-0", "c-0-3-0"])
    #expect(try zombies([started(1, t), started(2, t + .hours(9))]).zombies.count == 2)
  }

  @Test("an activity is a zombie, too, while the newest decision about it is that its token is dead")
  func tokenRejected() throws {
    func decision(_ n: Int, _ reason: Reason, _ at: Timestamp, _ instance: Identifier = "a1") -> Decision {
      var decision = Sample.decision(n, instance: instance, kind: "Match", reason: reason, at: at)
      decision.surface = .liveActivity
      return decision
    }
    let t = Self.start
    let first = [decision(10, .notVisible, t + .minutes(2)), decision(11, .tokenDead, t + .minutes(3))]
    let dead = try zombies([started(1, t)], first)
    #expect(dead.zombies.map(\.cause) == [.tokenRejected] && dead.zombies.first?.command == "c-0-1-0")
    #expect(dead.zombies.first?.decisionsSince == 2)
    #expect(try zombies([started(1, t)], first + [decision(12, .notVisible, t + .minutes(4))]).zombies.isEmpty)
    #expect(try zombies([started(1, t)], first + [decision(12, .notVisible, t + .hours(9))]).zombies.count == 1)
    #expect(try zombies([started(1, t)], [decision(10, .notVisible, t + .minutes(2))]).zombies.isEmpty)
    let both = try zombies([started(1, t), started(2, t + .minutes(10), "match/2")], first)
    #expect(both.zombies.map(\.cause) == [.tokenRejected, .neverRegistered])
  }

  @Test("an activity that was there before, of another kind or on another device is no answer")
  func notAnswered() throws {
    let t = Self.start
    let before = push(1, "a1", t)
    let commands = [
      before, started(2, t + .minutes(1)), push(3, "a1", t + .minutes(2)),
      push(4, "x", t + .minutes(3), kind: "Flight"),
      push(5, "a2", t + .minutes(3), device: "watch"),
    ]
    let found = try zombies(commands)
    #expect(found.zombies.map(\.command) == ["c-0-2-0"])
    #expect(found.starts == 1 && found.tooNew == 0)
    #expect(try zombies(commands, range: TimeRange(from: t + .hours(1), to: nil)).starts == 0)
  }

  @Test("with a limit only the newest starts are examined, and the others are counted")
  func limited() throws {
    let store = try AuditStore.open(path: ":memory:")
    let starts = (1...5).map { started($0, Self.start + .minutes(Int64($0)), "match/\($0)") }
    try store.store(AuditBatch([], starts + [push(999, "b1", Self.start + .hours(24), device: "tablet")]))
    let found = try store.zombies(limit: 2)
    #expect(found.zombies.map(\.subject) == ["match/4", "match/5"] && found.starts == 5 && found.omitted == 3)
    let earlier = try store.zombies(range: TimeRange(to: Self.start + .minutes(4)), limit: 2)
    #expect(earlier.zombies.map(\.subject) == ["match/2", "match/3"] && earlier.starts == 3 && earlier.omitted == 1)
  }

  @Test("parts lead back to the oldest start, and an activity answers the start that it follows in each of them")
  func parts() throws {
    let store = try AuditStore.open(path: ":memory:")
    // Three starts are at the same time.
    let starts = (1...6).map { started($0, Self.start + .minutes(Int64(max(4, $0))), "match/\($0)") }
    let answer = push(7, "a1", Self.start + .minutes(9))
    try store.store(AuditBatch([], starts + [answer, push(999, "b1", Self.start + .hours(24), device: "tablet")]))
    var (place, found): (StartedActivities.StartPlace?, [[String]]) = (nil, [])
    repeat {
      let part = try store.zombies(limit: 2, after: place)
      #expect(part.starts == 6 && part.omitted == 4 - 2 * found.count)
      found.append(part.zombies.map(\.subject.text))
      place = part.next
    } while place != nil && found.count < 9
    #expect(found == [["match/5"], ["match/3", "match/4"], ["match/1", "match/2"]])
  }

  @Test("starts are found without reading other pushes, and are forgotten when they are removed")
  func starts() throws {
    let store = try AuditStore.open(path: ":memory:")
    let updates = (1...40).map { push($0, "a1", Self.start + .minutes(Int64($0)), device: "watch") }
    try store.store(AuditBatch([], [started(50, Self.start)] + updates + [started(51, Self.start + .hours(30))]))
    // Reading this push would fail.
    try store.write { try $0.execute(sql: "UPDATE command SET body = x'00' WHERE \"offset\" = 7") }
    #expect(try store.zombies(range: TimeRange(to: Self.start + .seconds(1))).starts == 1)
    try store.write { try $0.execute(sql: "DELETE FROM command WHERE \"offset\" = 7") }
    _ = try store.retain(Retention(ageMax: .hours(2)))
    #expect(try store.zombies().starts == 1)
    #expect(try store.brokenInvariants().filter { $0.contains("Live Activity") }.isEmpty)
  }
}
