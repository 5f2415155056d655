public import Domain
import GRDB

/// The changes of a kind that count for its objective, by the hour.
public struct ObjectiveHours: Equatable, Sendable {
  /// The changes of one hour.
  public struct HourlyChanges: Equatable, Sendable {
    /// The beginning of the hour, in log time.
    public var start: Timestamp
    /// The number of changes that were closed.
    public var changes = 0
    /// The number of those that were shown, or undone, in time.
    public var inTime = 0
    /// The number of those that were not.
    public var missed: Int { changes - inTime }
  }

  /// The name of the kind.
  public var kind: Identifier
  /// The hours without a gap, oldest first.
  public var hours: [HourlyChanges]

  /// Returns the changes of the last hours together, with the rate at which they spend the error budget.
  ///
  /// - Parameter count: The number of hours.
  public func last(_ count: Int) -> AuditSummary.Attainment.WindowCounts {
    hours.suffix(max(0, count)).reduce(into: .init(minutes: count * 60)) { sum, hour in
      sum.changes += hour.changes
      sum.inTime += hour.inTime
    }
  }
}

extension AuditStore {
  /// Returns the changes that count for objectives in the last hours, up to the hour of the newest record, by kind.
  ///
  /// - Parameter count: The number of hours, at least 1 and at most `StoreActivity.hoursMax`.
  /// - Returns: The kinds that had such a change in these hours, by name.
  /// - Throws: `AuditError` when the file cannot be read.
  public func objectiveHours(_ count: Int) throws(AuditError) -> [ObjectiveHours] {
    try read { db in
      let newest = try Row.fetchOne(db, sql: "SELECT max(atMax) FROM block")?.optionalInteger(0)
      guard let last = newest?.hourIndex else { return [] }
      let first = last &- Int64(min(max(count, 1), StoreActivity.hoursMax)) &+ 1
      let words = WordReader(db)
      let empty = (first...last).map {
        ObjectiveHours.HourlyChanges(start: Timestamp(microseconds: $0 &* .hourMicroseconds))
      }
      var kinds: [Identifier: ObjectiveHours] = [:]
      let rows = try Row.fetchCursor(
        db, sql: "SELECT hour, code, kind, count FROM tally WHERE hour >= ? AND hour <= ? AND code >= ?",
        arguments: [first, last, DecisionCode.objectiveMin])
      while let row = try rows.next() {
        let (kind, place) = (try words.word(row.integer(2)), Int(try row.integer(0) - first))
        let count = try row.integer(3, as: Int.self)
        let isInTime = try DecisionCode(code: row.integer(1)).objective == .met
        kinds[kind, default: ObjectiveHours(kind: kind, hours: empty)].hours[place].changes += count
        if isInTime { kinds[kind]?.hours[place].inTime += count }
      }
      return kinds.values.sorted { $0.kind < $1.kind }
    }
  }
}

extension Database {
  /// Returns the attainment of each kind with an objective. A window begins after the instant that lies its length before its end: whole
  /// hours come from the counts by hour, and the rest from the decisions themselves, so that no window is rounded.
  /// - Parameters:
  ///   - end: The last instant of the windows; nil for that of the newest record.
  ///   - newest: The instant of the newest record, in µs since 1970; nil in an empty store.
  func attainments(until end: Timestamp?, newest: Int64?) throws -> [AuditSummary.Attainment] {
    guard let newest else { return [] }
    let words = WordReader(self)
    let windows = AuditSummary.Attainment.windows
    var counts: [Identifier: [AuditSummary.Attainment.WindowCounts]] = [:]
    func add(_ range: TimeRange, to places: Range<Int>) throws {
      for (group, count) in try tallies(in: range) where group.code >= DecisionCode.objectiveMin {
        let kind = try words.word(group.kind)
        let isMet = try DecisionCode(code: group.code).objective == .met
        for place in places {
          counts[kind, default: windows.map { .init(minutes: $0) }][place].changes += count
          counts[kind]?[place].inTime += isMet ? count : 0
        }
      }
    }
    let last = windows.count - 1
    try add(.all, to: last..<windows.count)
    // Without an objective in the whole store there is nothing more to count.
    if counts.isEmpty { return [] }
    let end = end?.microseconds ?? newest
    // Nothing is newer than the newest record, so the count of its hour serves, and no decision has to be read for it.
    var to = end < newest ? Timestamp(microseconds: end &+ 1) : nil
    // Each window is the one before and the time by which it is longer, so no decision is read twice.
    for (place, minutes) in windows.dropLast().enumerated() {
      let from = Timestamp(microseconds: end &- Int64(minutes ?? 0) &* 60_000_000 &+ 1)
      try add(TimeRange(from: from, to: to), to: place..<last)
      to = from
    }
    return counts.sorted { $0.key < $1.key }.map { AuditSummary.Attainment(kind: $0.key, counts: $0.value) }
  }
}
