public import Domain
import GRDB

/// The time that a store covers, and the records that it will never have.
public struct StoreHealth: Equatable, Sendable {
  /// The first holes by topic, partition and offset, at most `AuditSummary.holesMax`.
  public var holes: [AuditHole]
  /// The number of records of all holes.
  public var recordsMissing: Int
  /// The times of the oldest and of the newest record, in µs since 1970; nil in an empty store.
  public var times: ClosedRange<Int64>?
}

extension AuditStore {
  /// Returns the holes of the store and the time that it covers. Unlike `summary()` it counts nothing, so it is quick at any size.
  /// - Throws: `AuditError` when the file cannot be read.
  public func health() throws(AuditError) -> StoreHealth {
    try read { db in
      let missing = try Row.fetchOne(db, sql: "SELECT CAST(total(next - first) AS INTEGER) FROM hole")
      let times = try Row.fetchOne(db, sql: "SELECT min(atMin), max(atMax) FROM block")
      let (first, last) = (try times?.optionalInteger(0), try times?.optionalInteger(1))
      return StoreHealth(
        holes: try db.holes(), recordsMissing: try missing?.integer(0, as: Int.self) ?? 0,
        times: first.flatMap { first in last.flatMap { first <= $0 ? first...$0 : nil } })
    }
  }
}
