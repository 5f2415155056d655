public import Domain
import GRDB
import JSON

/// Live Activities that were started by push and of which nothing was heard: zombies, which nobody can update or end.
public struct StartedActivities: Equatable, Sendable {
  /// A start without an activity.
  public struct Zombie: Equatable, Sendable {
    public var device: String
    /// Empty where a release started it that did not tell.
    public var subject: String
    public var kind: String
    /// When it was started.
    public var since: Timestamp
    /// The push that started it.
    public var command: String
    /// Decisions since then about events that the activity would have been told of, while the system let it run.
    public var decisionsSince: Int
  }

  public var range: TimeRange
  /// Starts within the range.
  public var starts: Int
  /// Starts of the last half hour of the store, which may still be registered.
  public var tooNew: Int
  /// Oldest first.
  public var zombies: [Zombie]

  /// A device registers what was started within seconds; after half an hour it will not any more.
  static let registersWithin = TimeSpan.minutes(30)
  /// The system ends an activity after eight hours.
  static let life = TimeSpan.hours(8)
}

extension AuditStore {
  /// The starts of a range for which no activity shows up on the device: no decision and no push about another instance of
  /// the kind that was not there before. An activity answers for the newest start before it. One that the device
  /// registered and that no event ever concerned is not told from a zombie until it is ended, after `quietEnd` at most.
  public func zombies(range: TimeRange = .all) throws(AuditError) -> StartedActivities {
    try read { db in
      let names = NameReader(db)
      var found = StartedActivities(range: range, starts: 0, tooNew: 0, zombies: [])
      let newest = Timestamp(microseconds: try Int64.fetchOne(db, sql: "SELECT max(atMax) FROM block") ?? 0)
      var starts: [Int64: [Command]] = [:]
      for (device, command) in try db.starts(in: range, names) {
        found.starts += 1
        if newest - StartedActivities.registersWithin < command.at {
          found.tooNew += 1
        } else {
          starts[device, default: []].append(command)
        }
      }
      for (device, commands) in starts { found.zombies += try db.unanswered(commands, device: device, names) }
      found.zombies.sort { ($0.since, $0.device, $0.command) < ($1.since, $1.device, $1.command) }
      return found
    }
  }
}

extension Database {
  /// The pushes of a range that start an activity, with the device's number, in the order of storing.
  fileprivate func starts(in range: TimeRange, _ names: NameReader) throws -> [(device: Int64, command: Command)] {
    var found: [(device: Int64, command: Command)] = []
    for block in try blocks(in: range) {
      let rows = try Row.fetchCursor(
        self, sql: "SELECT \(CommandRow.columns) FROM command WHERE seq >= ? AND seq < ? AND surface = ?",
        arguments: [block.firstSeq, block.endSeq, Surface.liveActivity.code])
      while let row = try rows.next() {
        let row = try CommandRow(row)
        guard range.contains(row.at) else { continue }
        let command = try row.command(names)
        if command.isStart { found.append((row.device, command)) }
      }
    }
    return found
  }

  /// Of the starts on one device those that no activity answers.
  fileprivate func unanswered(
    _ starts: [Command], device: Int64, _ names: NameReader
  ) throws -> [StartedActivities.Zombie] {
    let decisions = try decisions(ofDevice: device, in: .all).map { try $0.decision(names) }
    let pushes = try commands(toDevice: device, in: .all).map { try $0.command(names) }
    var open = starts.sorted { $0.at < $1.at }
    for activity in Self.activities(decisions, pushes) {
      let answers = open.lastIndex {
        $0.serves.first?.kind == activity.kind && $0.at < activity.at && activity.at < $0.at + StartedActivities.life
      }
      if let answers { open.remove(at: answers) }
    }
    return open.map { start in
      let kind = start.serves.first?.kind ?? ""
      return StartedActivities.Zombie(
        device: start.device, subject: start.subject ?? "", kind: kind, since: start.at, command: start.command,
        decisionsSince: decisions.count {
          $0.kind == kind && $0.at > start.at && $0.at < start.at + StartedActivities.life
        })
    }
  }

  /// When each activity of a device first shows up, earliest first. What starts them is none.
  private static func activities(
    _ decisions: [Decision], _ pushes: [Command]
  ) -> [(kind: String, at: Timestamp)] {
    let starters = Set(pushes.filter(\.isStart).flatMap { $0.serves.map(\.instance) })
    var first: [String: (kind: String, at: Timestamp)] = [:]
    func note(_ instance: String, _ kind: String, _ at: Timestamp) {
      guard !starters.contains(instance), first[instance].map({ at < $0.at }) ?? true else { return }
      first[instance] = (kind, at)
    }
    for decision in decisions where decision.surface == .liveActivity {
      note(decision.instance, decision.kind, decision.at)
    }
    for push in pushes where push.surface == .liveActivity {
      for served in push.serves { note(served.instance, served.kind, push.at) }
    }
    return first.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }.map(\.value)
  }
}

extension Command {
  /// Whether the push starts a Live Activity.
  fileprivate var isStart: Bool {
    if subject != nil { return true }
    guard surface == .liveActivity, let body = try? JSONValue(parsing: apns.payload) else { return false }
    return body["aps"]?["event"] == .string("start")
  }
}

extension AuditText {
  /// One line for each zombie, and how many starts there were.
  public static func render(_ started: StartedActivities) -> String {
    var table = TextTable(
      ["since", "kind", "subject", "device", "start", "decisions since"], [.left, .left, .left, .left, .left, .right])
    for zombie in started.zombies {
      table.add(
        Figure.time(zombie.since), zombie.kind, zombie.subject, zombie.device, zombie.command,
        Figure.grouped(Int64(zombie.decisionsSince)))
    }
    let young = started.tooNew > 0 ? "; \(Figure.grouped(Int64(started.tooNew))) too new to tell" : ""
    let count = Figure.count(started.zombies.count, "zombie")
    let starts = Figure.count(started.starts, "start")
    return (started.zombies.isEmpty ? "" : table.text())
      + "\(count) of \(starts): started by push, and no activity of the kind showed up on the device\(young)\n"
  }
}

extension AuditJSON {
  public static func render(_ started: StartedActivities) throws -> String {
    try text(
      .object([
        "starts": .count(started.starts), "tooNew": .count(started.tooNew),
        "zombies": .array(
          started.zombies.map {
            .object([
              "device": .string($0.device), "subject": .string($0.subject), "kind": .string($0.kind),
              "since": .time($0.since), "command": .string($0.command), "decisionsSince": .count($0.decisionsSince),
              "cause": .string("neverRegistered"),
            ])
          }),
      ]))
  }
}
