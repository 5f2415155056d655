public import Domain
import Foundation
import GRDB

/// The access records beside an audit store, in an SQLite file of their own.
///
/// They are not in the store itself for three reasons. The audit role is the store's only writer, and a console that waited for its
/// transactions would refuse to answer while a large batch is stored. A store whose format or disk is at an end is moved away and filled again
/// from the topics; access records cannot be had again. And a copy of the store can be given to somebody without the records of who looked.
///
/// Use a value on one thread. Others, and other processes, open the same path for themselves, and writers take turns.
public final class AccessStore {
  /// The path of the file.
  public let path: String
  private let database: DatabaseQueue
  private let retention: RecordLimits
  /// The records written since the last removal of old ones.
  private var writtenSinceRemoval = AccessStore.recordsPerRemoval
  /// Whether the file has a table of refused attempts. A file of an older version, opened for reading, has none.
  private var hasRefusals = true

  /// The limits on what is kept.
  public struct RecordLimits: Equatable, Sendable {
    /// The age beyond which records are removed.
    public var ageMax: TimeSpan
    /// The number of records beyond which the oldest are removed. Refused attempts count apart, and have a tenth of it in addition.
    public var recordsMax: Int
    /// The number of records of refused attempts beyond which the oldest are removed, so that a flood of them takes no room from the others.
    var refusalsMax: Int { max(100, recordsMax / 10) }

    /// Creates limits: by default 400 days, and a million records, which take about 150 MB.
    public init(ageMax: TimeSpan = .hours(24 * 400), recordsMax: Int = 1_000_000) {
      self.ageMax = ageMax
      self.recordsMax = recordsMax
    }
  }

  /// The records after which old ones are removed.
  private static let recordsPerRemoval = 1000
  /// The records that one removal takes away, so that no writer waits for long.
  /// - Beyond: the next removal takes further ones.
  private static let removedMax = 10_000
  /// The characters that are kept of a name. Those of devices and events are shorter.
  /// - Beyond: the rest is left out.
  private static let nameMax = 1024
  /// The application id in the header of the file: "RouA" in ASCII.
  private static let applicationId: Int64 = 0x526F_7541

  /// Returns the path of the access records of a store.
  ///
  /// - Parameter store: The path of the store.
  public static func path(besides store: String) -> String { store + ".access" }

  /// Opens the records for writing, and makes the file, for its owner alone, if there is none.
  ///
  /// - Parameters:
  ///   - path: The path of the file. Its folder must exist.
  ///   - retention: The limits on what is kept.
  /// - Throws: `AuditError` when the file cannot be opened, or is none of access records.
  public static func open(path: String, retention: RecordLimits = RecordLimits()) throws(AuditError) -> AccessStore {
    PrivateFile.createIfMissing(path)
    return try open(path, isReadOnly: false, retention)
  }

  /// Opens the records for reading.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `AuditError` when the file cannot be opened, or is none of access records.
  public static func openToRead(path: String) throws(AuditError) -> AccessStore {
    try open(path, isReadOnly: true, RecordLimits())
  }

  private static func open(_ path: String, isReadOnly: Bool, _ retention: RecordLimits) throws(AuditError)
    -> AccessStore
  {
    do {
      var configuration = Configuration()
      configuration.readonly = isReadOnly
      configuration.busyMode = .timeout(5)
      configuration.label = "rouse.access"
      configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA trusted_schema = OFF")
        guard !isReadOnly else { return }
        _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        // A record is on the disk before the answer goes out.
        try db.execute(sql: "PRAGMA synchronous = FULL")
      }
      let database = try DatabaseQueue(path: path, configuration: configuration)
      let store = AccessStore(path, database, retention)
      try store.check(makesTable: !isReadOnly)
      return store
    } catch { throw AuditError(error, path: path) }
  }

  private init(_ path: String, _ database: DatabaseQueue, _ retention: RecordLimits) {
    self.path = path
    self.database = database
    self.retention = retention
  }

  /// Writes a record. It is on the disk when the call returns.
  ///
  /// - Throws: `AuditError` when it cannot be written.
  public func write(_ record: AccessRecord) throws(AuditError) { try write([record]) }

  /// Writes records in one transaction. They are on the disk when the call returns.
  ///
  /// - Parameter records: The records, in their order.
  /// - Throws: `AuditError` when they cannot be written. None is then.
  public func write(_ records: [AccessRecord]) throws(AuditError) {
    guard let newest = records.last?.at else { return }
    try run {
      try database.write { db in
        for record in records { try Self.insert(record, db) }
        writtenSinceRemoval += records.count
        guard writtenSinceRemoval > Self.recordsPerRemoval else { return }
        writtenSinceRemoval = 0
        try remove(db, from: "access", max: retention.recordsMax, now: newest)
      }
    }
  }

  private static func insert(_ record: AccessRecord, _ db: Database) throws {
    func bounded(_ name: Identifier?) -> Identifier? { name.map { Identifier(String($0.text.prefix(nameMax))) } }
    try db.execute(
      sql:
        "INSERT INTO access (at, key, operation, device, event, subject, status, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      arguments: [
        record.at.microseconds, bounded(record.key)?.stored, record.operation.stored, bounded(record.device)?.stored,
        bounded(record.event)?.stored, bounded(record.subject)?.stored, record.status, bounded(record.client)?.stored,
      ])
  }

  /// Writes the records of refused attempts. They are on the disk when the call returns.
  ///
  /// - Parameter refusals: The records. One that has a number replaces the record of this number.
  /// - Returns: The number of each.
  /// - Throws: `AuditError` when they cannot be written. None is then.
  public func write(_ refusals: [RefusedAccess]) throws(AuditError) -> [Int64] {
    try run {
      try database.write { db in
        var numbers: [Int64] = []
        for refusal in refusals {
          let record = refusal.record
          if let number = refusal.number {
            try db.execute(
              sql: "UPDATE refusals SET at = ?, count = ? WHERE n = ?",
              arguments: [record.at.microseconds, record.count, number])
            numbers.append(number)
          } else {
            try db.execute(
              sql:
                "INSERT INTO refusals (at, key, operation, status, client, cause, count) VALUES (?, ?, ?, ?, ?, ?, ?)",
              arguments: [
                record.at.microseconds, record.key?.stored, record.operation.stored, record.status,
                record.client?.stored, (record.refused ?? "").stored, record.count,
              ])
            numbers.append(db.lastInsertedRowID)
          }
        }
        if let newest = refusals.last?.record.at {
          try remove(db, from: "refusals", max: retention.refusalsMax, now: newest)
        }
        return numbers
      }
    }
  }

  /// Returns records, the newest first.
  ///
  /// - Parameters:
  ///   - filter: The filter.
  ///   - limit: The most records.
  /// - Throws: `AuditError` when the file cannot be read.
  public func newest(_ filter: AccessFilter = AccessFilter(), limit: Int) throws(AuditError) -> [AccessRecord] {
    try part(filter, limit: limit).records
  }

  /// Returns a part of the records, the newest first. Records that come later are in no further part.
  ///
  /// - Parameters:
  ///   - filter: The filter.
  ///   - place: The place behind the last record of the part before; nil for the first part.
  ///   - limit: The most records.
  /// - Returns: The records, and the place behind them if older ones follow.
  /// - Throws: `AuditError` when the file cannot be read.
  public func part(
    _ filter: AccessFilter, after place: AccessPlace? = nil, limit: Int
  ) throws(AuditError) -> (records: [AccessRecord], next: AccessPlace?) {
    let (begin, accesses, refusals) = try run {
      try database.read { db in
        let place = try place ?? self.end(db)
        // One more tells whether others follow.
        let accesses =
          filter.isRefused == true
          ? []
          : try Self.newest(db, filter, limit + 1, "access", below: place.access, "device, event, subject, NULL, 1")
        // A refused attempt names no device and no event.
        let hasNoSubject = filter.device == nil && filter.event == nil
        let refusals =
          filter.isRefused != false && hasNoSubject && hasRefusals
          ? try Self.newest(
            db, filter, limit + 1, "refusals", below: place.refusal, "NULL, NULL, NULL, cause, count") : []
        return (place, accesses, refusals)
      }
    }
    return Self.merged(accesses, refusals, after: begin, limit: limit)
  }

  /// Returns the place behind which all records are that were written so far, and none of those that come.
  private func end(_ db: Database) throws -> AccessPlace {
    func next(_ table: String) throws -> Int64 { try Int64.fetchOne(db, sql: "SELECT max(n) + 1 FROM \(table)") ?? 1 }
    return AccessPlace(access: try next("access"), refusal: hasRefusals ? try next("refusals") : 1)
  }

  /// A record, and its number in its table.
  private typealias Numbered = (record: AccessRecord, number: Int64)

  private static func newest(
    _ db: Database, _ filter: AccessFilter, _ limit: Int, _ table: String, below number: Int64, _ columns: String
  ) throws -> [Numbered] {
    var conditions = ["at >= ?", "at < ?", "n < ?"]
    var arguments: [(any DatabaseValueConvertible)?] = [filter.range.first, filter.range.end, number]
    for (column, value) in [
      ("key", filter.key), ("operation", filter.operation), ("device", filter.device), ("event", filter.event),
    ] {
      guard let value else { continue }
      conditions.append("\(column) = ?")
      arguments.append(value.stored)
    }
    let sql = """
      SELECT at, key, operation, status, client, \(columns), n FROM \(table)
      WHERE \(conditions.joined(separator: " AND ")) ORDER BY n DESC LIMIT \(max(0, limit))
      """
    return try Row.fetchAll(db, sql: sql, arguments: StatementArguments(arguments)).map {
      (try record($0), try $0.integer(10))
    }
  }

  /// Returns the newest of two lists, each with its order, and the place behind them if others follow.
  private static func merged(
    _ accesses: [Numbered], _ refusals: [Numbered], after place: AccessPlace, limit: Int
  ) -> (records: [AccessRecord], next: AccessPlace?) {
    var merged: [AccessRecord] = []
    var place = place
    var (one, other) = (accesses[...], refusals[...])
    while merged.count < limit {
      if let access = one.first, other.first.map({ access.record.at >= $0.record.at }) ?? true {
        merged.append(access.record)
        place.access = access.number
        one = one.dropFirst()
      } else if let refusal = other.first {
        merged.append(refusal.record)
        place.refusal = refusal.number
        other = other.dropFirst()
      } else {
        break
      }
    }
    return (merged, one.isEmpty && other.isEmpty ? nil : place)
  }

  private static func record(_ row: Row) throws -> AccessRecord {
    func name(_ column: Int) throws -> Identifier? {
      (row[column] as DatabaseValue).isNull ? nil : try row.identifier(column)
    }
    var record = AccessRecord(
      at: Timestamp(microseconds: try row.integer(0)), key: try name(1), operation: try row.identifier(2),
      device: try name(5), event: try name(6), subject: try name(7), status: try row.integer(3, as: Int.self),
      client: try name(4))
    record.refused = try name(8)
    record.count = try row.integer(9, as: Int.self)
    return record
  }

  /// Removes the oldest records of a table beyond the limits, some at a time.
  private func remove(_ db: Database, from table: String, max count: Int, now: Timestamp) throws {
    let newest = try Int64.fetchOne(db, sql: "SELECT max(n) FROM \(table)") ?? 0
    // Times rise with the numbers, so the first record that is young enough ends the removal: those behind it are not read.
    let young = try Int64.fetchOne(
      db, sql: "SELECT n FROM \(table) WHERE at >= ? ORDER BY n LIMIT 1",
      arguments: [(now - retention.ageMax).microseconds])
    let kept = max(newest - Int64(count) + 1, young ?? newest + 1)
    try db.execute(
      sql: "DELETE FROM \(table) WHERE n IN (SELECT n FROM \(table) WHERE n < ? ORDER BY n LIMIT \(Self.removedMax))",
      arguments: [kept])
  }

  private func check(makesTable: Bool) throws {
    let (objects, application) = try database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
      return (
        try rows.map { try $0.text(0) }, try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
      )
    }
    let isEmpty = objects.isEmpty && application == 0
    guard isEmpty || application == Self.applicationId && Self.tables.starts(with: objects) else {
      throw AuditError(
        kind: .notAStore, path: path, reason: "is not a file of access records of this version",
        advice: "move it away, or give another path")
    }
    guard objects != Self.tables else { return }
    guard makesTable else {
      hasRefusals = false
      return
    }
    try database.write { db in
      // Another process may have made them meanwhile. A file of an older version has the first.
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'") ?? 0
      try db.execute(sql: "PRAGMA application_id = \(Self.applicationId)")
      for table in Self.tables.dropFirst(count) { try db.execute(sql: table) }
    }
  }

  /// The tables, in the order of their names. Refused attempts are apart, so that a flood of them removes no record of anybody who was let in.
  private static let tables = [
    "CREATE TABLE access (n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, operation TEXT NOT NULL, device TEXT, event TEXT, subject TEXT, status INTEGER NOT NULL, client TEXT)",
    "CREATE TABLE refusals (n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, operation TEXT NOT NULL, status INTEGER NOT NULL, client TEXT, cause TEXT NOT NULL, count INTEGER NOT NULL)",
  ]

  private func run<T>(_ body: () throws -> T) throws(AuditError) -> T {
    do { return try body() } catch { throw AuditError(error, path: path) }
  }
}
