import Domain
import Foundation
import GRDB

/// Reads columns with their type checked. SQLite stores a value of any type in any column, so a damaged or foreign file may
/// hold a text instead of a number. GRDB's own subscripts then end the process; these methods throw.
extension Row {
  /// The integer in a column.
  /// - Throws: `StoredValueError` for a value of another type.
  func integer(_ column: Int) throws(StoredValueError) -> Int64 {
    guard let value = try optionalInteger(column) else { throw misfit(column, "an integer") }
    return value
  }

  /// The integer in a column, or nil for NULL.
  /// - Throws: `StoredValueError` for a value of another type.
  func optionalInteger(_ column: Int) throws(StoredValueError) -> Int64? {
    switch (self[column] as DatabaseValue).storage {
    case .int64(let value): return value
    case .null: return nil
    case .double, .string, .blob: throw misfit(column, "an integer")
    }
  }

  /// The integer in a column, in a smaller type.
  /// - Throws: `StoredValueError` for a value of another type or out of range.
  func integer<Value: FixedWidthInteger>(_ column: Int, as type: Value.Type) throws(StoredValueError) -> Value {
    guard let value = Value(exactly: try integer(column)) else {
      throw misfit(column, "an integer of \(Value.bitWidth) bits")
    }
    return value
  }

  /// The text in a column. Text with a null character is stored as a blob.
  /// - Throws: `StoredValueError` for a number, NULL, or bytes that are not UTF-8.
  func text(_ column: Int) throws(StoredValueError) -> String {
    switch (self[column] as DatabaseValue).storage {
    case .string(let text): return text
    case .blob(let data):
      guard let text = String(data: data, encoding: .utf8) else { throw misfit(column, "a text in UTF-8") }
      return text
    case .null, .int64, .double: throw misfit(column, "a text")
    }
  }

  /// The identifier in a column.
  /// - Throws: `StoredValueError` for a number, NULL, or bytes that are not UTF-8.
  func identifier(_ column: Int) throws(StoredValueError) -> Identifier { Identifier(try text(column)) }

  /// The bytes in a column.
  /// - Throws: `StoredValueError` for a value of another type.
  func bytes(_ column: Int) throws(StoredValueError) -> [UInt8] {
    guard let bytes = try optionalBytes(column) else { throw misfit(column, "bytes") }
    return bytes
  }

  /// The bytes in a column, or nil for NULL.
  /// - Throws: `StoredValueError` for a value of another type.
  func optionalBytes(_ column: Int) throws(StoredValueError) -> [UInt8]? {
    switch (self[column] as DatabaseValue).storage {
    case .blob(let data): return Array(data)
    case .null: return nil
    case .int64, .double, .string: throw misfit(column, "bytes")
    }
  }

  private func misfit(_ column: Int, _ expected: String) -> StoredValueError {
    let names = Array(columnNames)
    let name = names.indices.contains(column) ? names[column] : "\(column)"
    return StoredValueError(reason: "holds a row whose column \(name) is not \(expected)")
  }
}

extension Row {
  /// Returns the first row of a query, or nil without rows. The statement is prepared once for each connection.
  static func fetchOne(_ db: Database, cached sql: String, _ arguments: StatementArguments) throws -> Row? {
    try fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
  }
}

/// The failure to read a stored row: the file is damaged, or another version of the program wrote it.
struct StoredValueError: Error {
  /// The cause, worded to follow the words "the store": `lacks kind number 7`.
  var reason: String
}
