public import Domain
import GRDB

/// The Live Activities that pushes started, and the zombies among them, which no push can update or end: the device never registered
/// the activity, or APNs has refused its token.
public struct StartedActivities: Equatable, Sendable {
  /// A push that started an activity which no push can update or end.
  public struct ZombieStart: Equatable, Sendable {
    /// The device that was to start the activity.
    public var device: Identifier
    /// The subject that the activity was to show.
    public var subject: Identifier
    /// The kind of the activity.
    public var kind: Identifier
    /// The log time of the push that started the activity.
    public var since: Timestamp
    /// The id of the command that started the activity.
    public var command: Identifier
    /// The number of decisions about the kind on the device within eight hours after the start, which is as long as an
    /// activity can run. A registered activity would have shown these events.
    public var decisionsSince: Int
    /// The sign by which it is known to be one. Its token counts as rejected while the newest decision about it is `TOKEN_DEAD`.
    public var cause: ZombieSign
  }

  /// The place behind a start in the order of a list, which has the newest first.
  public struct StartPlace: Equatable, Sendable {
    /// The log time of the start.
    public var at: Timestamp
    /// The number of its push in the store.
    public var number: Int64

    /// Creates a place.
    public init(at: Timestamp, number: Int64) {
      self.at = at
      self.number = number
    }
  }

  /// The range of log time whose starts were examined.
  public var range: TimeRange
  /// The number of starts in the range.
  public var starts: Int
  /// The number of starts in the range that are older than those that were examined, because of a limit.
  public var omitted: Int
  /// The number of starts in the last half hour of the store. They are not reported as zombies, because the device may
  /// still register their activities.
  public var tooNew: Int
  /// The starts whose activity no push can update or end, oldest first.
  public var zombies: [ZombieStart]
  /// The place behind the oldest start that was examined, if older ones follow; nil if none does.
  public var next: StartPlace?

  /// The time after which a device is no longer expected to register an activity. Usually it takes seconds.
  static let registersWithin = TimeSpan.minutes(30)
  /// The time after which the system ends an activity.
  static let life = TimeSpan.hours(8)
}

extension AuditStore {
  /// Finds the pushes of a range that started a Live Activity which never shows up on the device, or whose newest decision is that its
  /// token is dead. An activity shows up by the first decision or push about an instance that is new on the device; it is matched with the
  /// newest start of its kind before it.
  ///
  /// An activity that the device registered and that no event ever concerned looks like a zombie until it is ended, after
  /// the kind's `quietEnd` at most.
  ///
  /// - Parameters:
  ///   - range: The range of log time of the starts.
  ///   - limit: The most starts that are examined, the newest ones first; nil for all.
  ///   - place: The place behind the last start of the part before; nil for the first part.
  /// - Throws: `AuditError` when the file cannot be read.
  public func zombies(
    range: TimeRange = .all, limit: Int? = nil, after place: StartedActivities.StartPlace? = nil
  ) throws(AuditError) -> StartedActivities {
    try read { db in
      let words = WordReader(db)
      var found = StartedActivities(range: range, starts: 0, omitted: 0, tooNew: 0, zombies: [])
      let newest = Timestamp(microseconds: try Int64.fetchOne(db, sql: "SELECT max(atMax) FROM block") ?? 0)
      var starts: [Identifier: [Command]] = [:]
      found.starts = try db.countOfStarts(in: range, after: nil)
      let examined = try db.starts(in: range, after: place, limit: limit, words)
      found.omitted = max(0, try db.countOfStarts(in: range, after: place) - examined.count)
      if found.omitted > 0, let limit { found.next = try db.start(limit, in: range, after: place) }
      for command in examined {
        if newest - StartedActivities.registersWithin < command.at {
          found.tooNew += 1
        } else {
          starts[command.device, default: []].append(command)
        }
      }
      for (device, commands) in starts { found.zombies += try db.zombies(commands, device: device, words) }
      found.zombies.sort { ($0.since, $0.device, $0.command) < ($1.since, $1.device, $1.command) }
      return found
    }
  }
}

extension Database {
  /// The rest of a query for pushes of a range that start an activity, older than a place.
  private static let ofStarts = "FROM activityStart WHERE at >= ? AND at < ? AND (at, seq) < (?, ?)"

  private static func arguments(_ range: TimeRange, _ place: StartedActivities.StartPlace?) -> StatementArguments {
    [range.first, range.end, place?.at.microseconds ?? .max, place?.number ?? .max]
  }

  /// Returns the number of pushes of a range that start an activity, older than a place.
  fileprivate func countOfStarts(in range: TimeRange, after place: StartedActivities.StartPlace?) throws -> Int {
    try Int.fetchOne(
      self, sql: "SELECT count(*) \(Self.ofStarts)", arguments: Self.arguments(range, place)) ?? 0
  }

  /// Returns the newest pushes of a range that start an activity, older than a place, in the order of storing.
  fileprivate func starts(
    in range: TimeRange, after place: StartedActivities.StartPlace?, limit: Int?, _ words: WordReader
  ) throws -> [Command] {
    let rows = try Row.fetchAll(
      self,
      sql: """
        SELECT \(CommandRow.columns) FROM command WHERE seq IN (
          SELECT seq \(Self.ofStarts) ORDER BY at DESC, seq DESC LIMIT ?)
        ORDER BY seq
        """, arguments: Self.arguments(range, place) + [limit.map { max(0, $0) } ?? -1])
    return try rows.map { try CommandRow($0).command(words) }
  }

  /// Returns the place behind so many of the newest starts of a range that are older than a place.
  fileprivate func start(
    _ count: Int, in range: TimeRange, after place: StartedActivities.StartPlace?
  ) throws -> StartedActivities.StartPlace? {
    let row = try Row.fetchOne(
      self, sql: "SELECT at, seq \(Self.ofStarts) ORDER BY at DESC, seq DESC LIMIT 1 OFFSET ?",
      arguments: Self.arguments(range, place) + [max(0, count - 1)])
    return try row.map {
      StartedActivities.StartPlace(at: Timestamp(microseconds: try $0.integer(0)), number: try $0.integer(1))
    }
  }

  /// Returns those of the starts on one device that no activity is matched with, or one whose token is dead. All starts of the device take
  /// part in the matching, so that an activity of a newer one, which another part of a list shows, is not taken for that of an older one.
  fileprivate func zombies(
    _ starts: [Command], device: Identifier, _ words: WordReader
  ) throws -> [StartedActivities.ZombieStart] {
    let decisions = try decisions(ofDevice: device, in: .all, words: words)
    let pushes = try commands(toDevice: device, in: .all, words: words).map { try $0.command(words) }
    let examined = Set(starts.map(\.command))
    var open = Self.taken(pushes.filter { $0.subject != nil }.sorted { $0.at < $1.at })
    var zombies: [(start: Command, cause: ZombieSign)] = []
    for activity in Self.activities(decisions, pushes) {
      let answers = open.lastIndex {
        $0.serves.first?.kind == activity.kind && $0.at < activity.at && activity.at < $0.at + StartedActivities.life
      }
      guard let answers else { continue }
      let start = open.remove(at: answers)
      let newest = decisions.last { $0.instance == activity.instance && $0.at < start.at + StartedActivities.life }
      if newest?.reason == .tokenDead { zombies.append((start, .tokenRejected)) }
    }
    zombies += open.map { ($0, .neverRegistered) }
    return zombies.filter { examined.contains($0.start.command) }.map { start, cause in
      let kind = start.serves.first?.kind ?? ""
      return StartedActivities.ZombieStart(
        device: start.device, subject: start.subject ?? "", kind: kind, since: start.at, command: start.command,
        decisionsSince: decisions.count {
          $0.kind == kind && $0.at > start.at && $0.at < start.at + StartedActivities.life
        }, cause: cause)
    }
  }

  /// Returns the starts that APNs can have taken, oldest first. A subject is started again while its activity could live only if APNs did not
  /// take the start before.
  /// - Parameter starts: The starts on one device, oldest first.
  private static func taken(_ starts: [Command]) -> [Command] {
    var next: [String: Timestamp] = [:]
    var taken: [Command] = []
    for start in starts.reversed() {
      let key = "\(start.serves.first?.kind ?? "") \(start.subject ?? "")"
      if let again = next[key], again < start.at + StartedActivities.life, again > start.at { continue }
      taken.append(start)
      next[key] = start.at
    }
    return taken.reversed()
  }

  /// Returns the id and the kind of each activity of a device, and the time at which it first shows up, earliest first.
  /// Push-to-start instances are not counted.
  private static func activities(
    _ decisions: [Decision], _ pushes: [Command]
  ) -> [(instance: Identifier, kind: Identifier, at: Timestamp)] {
    let starters = Set(pushes.filter { $0.subject != nil }.flatMap { $0.serves.map(\.instance) })
    var first: [Identifier: (kind: Identifier, at: Timestamp)] = [:]
    func note(_ instance: Identifier, _ kind: Identifier, _ at: Timestamp) {
      guard !starters.contains(instance), first[instance].map({ at < $0.at }) ?? true else { return }
      first[instance] = (kind, at)
    }
    for decision in decisions where decision.surface == .liveActivity {
      note(decision.instance, decision.kind, decision.at)
    }
    for push in pushes where push.surface == .liveActivity {
      for served in push.serves { note(served.instance, served.kind, push.at) }
    }
    return first.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }.map { ($0.key, $0.value.kind, $0.value.at) }
  }
}
