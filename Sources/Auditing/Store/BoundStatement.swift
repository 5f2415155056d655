import Domain
import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement that is bound and run by SQLite's own functions. GRDB's own calls make an array, boxed values and
/// bookkeeping for each row, which together cost more than SQLite itself. Beside `PrivateFile`, this is the only file of this
/// module with unsafe code.
///
/// A statement is valid within one database access. Arguments that are not set are NULL.
struct BoundStatement {
  private let statement: Statement
  private let db: Database

  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
  }

  /// Clears the arguments and the result of the previous row. Call it first for every row.
  func begin() {
    // The pointer is valid as long as `statement`. A reset repeats the last step's error code, which `step` has thrown.
    _ = unsafe sqlite3_reset(statement.sqliteStatement)
    _ = unsafe sqlite3_clear_bindings(statement.sqliteStatement)
  }

  // SQLite copies text and blobs while it binds, and refuses an index out of range with a code. Indices come from this
  // module alone, so the only possible code is "out of memory", which the next step reports.

  func set(_ index: Int32, _ value: Int64) { _ = unsafe sqlite3_bind_int64(statement.sqliteStatement, index, value) }
  func set(_ index: Int32, _ value: Double) { _ = unsafe sqlite3_bind_double(statement.sqliteStatement, index, value) }
  func set(_ index: Int32, _ value: Identifier) {
    if let bytes = value.bytesWithNull {
      _ = unsafe bytes.bind(to: statement.sqliteStatement, at: index)
    } else {
      _ = unsafe value.text.bind(to: statement.sqliteStatement, at: index)
    }
  }
  func set(_ index: Int32, _ value: [UInt8]) { _ = unsafe Data(value).bind(to: statement.sqliteStatement, at: index) }
  func set(_ index: Int32, _ value: Int?) {
    if let value { set(index, Int64(value)) }
  }

  /// Runs the statement, whose result rows are ignored.
  func run() throws { _ = try step() }

  /// Returns the first two columns of the first row as integers, or nil without a row. A missing column and a value of
  /// another type are read as SQLite converts them, mostly to 0.
  func first() throws -> (Int64, Int64)? {
    guard try step() else { return nil }
    // An open statement would hold its view of the file beyond the end of the transaction. The next write after one of
    // another process would then fail, and no checkpoint could finish.
    defer { begin() }
    return (integer(0), integer(1))
  }

  /// Sets the arguments in order and runs the statement.
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

extension Identifier {
  /// The bytes of an identifier with a null character; nil for others. SQLite would cut such a text off at the null
  /// character, so it is stored as a blob.
  var bytesWithNull: Data? { utf8.contains(0) ? Data(utf8) : nil }

  /// The value in the file. SQLite compares texts and blobs by their bytes.
  var stored: DatabaseValue { bytesWithNull?.databaseValue ?? text.databaseValue }
}
