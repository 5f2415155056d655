import Domain
import GRDB

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
