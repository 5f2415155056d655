import Domain
import GRDB

extension AuditStore {
  /// Returns the counts of the last hours, up to the hour of the newest record.
  /// - Parameter hours: The number of hours, at least 1 and at most `StoreActivity.hoursMax`.
  /// - Throws: `AuditError` when the file cannot be read.
  public func activity(hours: Int) throws(AuditError) -> StoreActivity {
    try read { db in
      let newest = try Row.fetchOne(db, sql: "SELECT max(atMax) FROM block")?.optionalInteger(0)
      guard let newest else { return StoreActivity(hours: [], outcomes: [], kinds: [], surfaces: []) }
      let last = newest.hourIndex
      var tally = HourTally(first: last &- Int64(min(max(hours, 1), StoreActivity.hoursMax)) &+ 1, last: last)
      try tally.readDecisions(db)
      try tally.readCommands(db)
      var activity = try tally.activity(WordReader(db))
      let (devices, events) = try HourNames.read(tally.first...tally.last, db)
      activity.devices = .init(devices.count, isEstimated: !devices.isExact)
      activity.events = .init(events.count, isEstimated: !events.isExact)
      return activity
    }
  }
}

/// Sums the counts of some hours.
private struct HourTally {
  private struct OutcomeGroup: Hashable {
    var verdict: Verdict
    var reason: Reason
  }

  let first, last: Int64
  private var hours: [StoreActivity.ActivityHour]
  private var outcomes: [OutcomeGroup: AuditSummary.Outcome] = [:]
  private var kinds: [Int64: [Int]] = [:]
  private var surfaces: [Int64: Int] = [:]

  init(first: Int64, last: Int64) {
    self.first = first
    self.last = last
    hours = (0...(last - first)).map { place in
      StoreActivity.ActivityHour(
        start: Timestamp(microseconds: (first + place) &* .hourMicroseconds),
        decisions: Verdict.allCases.map { _ in 0 }, commands: 0, charged: Command.Ledger.allCases.map { _ in 0 })
    }
  }

  mutating func readDecisions(_ db: Database) throws {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT hour, code & \(DecisionCode.withoutObjective), kind, sum(count) FROM tally
        WHERE hour >= ? AND hour <= ? GROUP BY 1, 2, 3
        """,
      arguments: [first, last])
    while let row = try rows.next() {
      let (code, count) = (try DecisionCode(code: row.integer(1)), try row.integer(3, as: Int.self))
      guard let place = Verdict.allCases.firstIndex(of: code.verdict) else { continue }
      hours[Int(try row.integer(0) - first)].decisions[place] += count
      kinds[try row.integer(2), default: Verdict.allCases.map { _ in 0 }][place] += count
      let meaning = OutcomeGroup(verdict: code.verdict, reason: code.reason)
      var outcome =
        outcomes[meaning] ?? .init(verdict: code.verdict, reason: code.reason, decisions: 0, final: 0)
      outcome.decisions = outcome.decisions.addingSaturating(count)
      outcome.final = outcome.final.addingSaturating(code.final ? count : 0)
      outcomes[meaning] = outcome
    }
  }

  mutating func readCommands(_ db: Database) throws {
    let rows = try Row.fetchCursor(
      db, sql: "SELECT hour, surface, ledger, count FROM commandTally WHERE hour >= ? AND hour <= ?",
      arguments: [first, last])
    while let row = try rows.next() {
      let place = Int(try row.integer(0) - first)
      let (surface, ledger, count) = (try row.integer(1), try row.integer(2), try row.integer(3, as: Int.self))
      if ledger == 0 {
        hours[place].commands += count
        surfaces[surface, default: 0] += count
      } else if let charged = Command.Ledger.allCases.firstIndex(of: try Command.Ledger(code: ledger)) {
        hours[place].charged[charged] += count
      }
    }
  }

  func activity(_ words: WordReader) throws -> StoreActivity {
    let kinds = try kinds.map { StoreActivity.KindCount(kind: try words.word($0.key), decisions: $0.value) }
    return StoreActivity(
      hours: hours,
      outcomes: outcomes.values.sorted {
        ($1.decisions, $0.reason.code, $0.verdict.code) < ($0.decisions, $1.reason.code, $1.verdict.code)
      },
      kinds: kinds.sorted { a, b in
        let (left, right) = (a.decisions.reduce(0, +), b.decisions.reduce(0, +))
        return left == right ? a.kind < b.kind : left > right
      },
      surfaces: try surfaces.sorted { $0.key < $1.key }.map {
        .init(surface: try Surface(code: $0.key), commands: $0.value)
      })
  }
}
