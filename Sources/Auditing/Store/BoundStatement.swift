import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement that is bound and run by SQLite's own functions: no array, no boxed value and no bookkeeping per
/// row, which together cost more than SQLite itself. The only file of this module with unsafe code.
///
/// Lives within one database access, like the connection that it came from. Unset arguments are NULL.
struct BoundStatement {
  private let statement: Statement
  private let db: Database

  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
  }

  /// Forgets the row before and its arguments. First call for every row.
  func begin() {
    // The pointer is valid as long as `statement`. A reset repeats the last step's error code, which `step` has thrown.
    _ = unsafe sqlite3_reset(statement.sqliteStatement)
    _ = unsafe sqlite3_clear_bindings(statement.sqliteStatement)
  }

  // SQLite refuses an index out of range with a code and copies text and blobs while it binds. SQL and indices stand in
  // this module, so that the code can only be "out of memory", which the step then reports.
  func set(_ index: Int32, _ value: Int64) { _ = unsafe sqlite3_bind_int64(statement.sqliteStatement, index, value) }
  func set(_ index: Int32, _ value: Double) { _ = unsafe sqlite3_bind_double(statement.sqliteStatement, index, value) }
  func set(_ index: Int32, _ value: String) {
    if let bytes = value.bytesWithNull {
      _ = unsafe bytes.bind(to: statement.sqliteStatement, at: index)
    } else {
      _ = unsafe value.bind(to: statement.sqliteStatement, at: index)
    }
  }
  func set(_ index: Int32, _ value: [UInt8]) { _ = unsafe Data(value).bind(to: statement.sqliteStatement, at: index) }
  func set(_ index: Int32, _ value: Int?) {
    if let value { set(index, Int64(value)) }
  }

  /// Runs a statement without rows.
  func run() throws { _ = try step() }

  /// The first two columns of the first row, which have to be numbers; a missing column is 0.
  func first() throws -> (Int64, Int64)? {
    guard try step() else { return nil }
    // Leave no statement open: it would hold its view of the file beyond the end of the transaction, so that the next
    // write after another process's one would fail and no checkpoint could finish.
    defer { begin() }
    return (integer(0), integer(1))
  }

  /// Sets the arguments in order and runs.
  func run(_ values: Int64...) throws {
    begin()
    for (index, value) in values.enumerated() { set(Int32(index + 1), value) }
    try run()
  }

  private func step() throws -> Bool {
    let code = unsafe sqlite3_step(statement.sqliteStatement)
    if code == SQLITE_ROW { return true }
    // A reset after a failure gives the failure's code in full.
    let ended = unsafe sqlite3_reset(statement.sqliteStatement)
    if code == SQLITE_DONE { return false }
    throw DatabaseError(resultCode: ResultCode(rawValue: ended), message: db.lastErrorMessage)
  }

  private func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement.sqliteStatement, column) }
}

extension String {
  /// The bytes of a text with a null character, which SQLite would cut off there: it is stored as a blob. Nil for others.
  var bytesWithNull: Data? { utf8.contains(0) ? Data(utf8) : nil }
}
