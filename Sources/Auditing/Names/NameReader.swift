import Domain
import GRDB

/// Looks up the strings of numbers within one read. It caches strings up to a bound, because one event or device occurs
/// in many rows.
final class NameReader {
  /// A row of `instance`.
  struct Instance {
    var id: String
    var kind: String
    var surface: Surface
  }
  /// The number of strings, and of instances, to remember. When it is reached all are forgotten.
  private static let entriesMax = 50_000
  private let db: Database
  private var strings: [Key: String] = [:]
  private var instances: [Int64: Instance] = [:]
  private var policies: [Int64: PolicyReference] = [:]

  private struct Key: Hashable {
    var table: Table
    var n: Int64
  }
  /// The tables of strings with a single column.
  enum Table: String { case event, device, text, kind }

  init(_ db: Database) { self.db = db }

  /// - Throws: `StoredValueError` for a number without a row.
  func event(_ n: Int64) throws -> String { try string(n, in: .event) }
  /// - Throws: `StoredValueError` for a number without a row.
  func device(_ n: Int64) throws -> String { try string(n, in: .device) }
  /// - Throws: `StoredValueError` for a number without a row.
  func text(_ n: Int64) throws -> String { try string(n, in: .text) }
  /// - Throws: `StoredValueError` for a number without a row.
  func kind(_ n: Int64) throws -> String { try string(n, in: .kind) }

  /// - Throws: `StoredValueError` for a number without a row.
  func instance(_ n: Int64) throws -> Instance {
    if let known = instances[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT id, kind, surface FROM instance WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks instance number \(n)")
    }
    if instances.count >= Self.entriesMax { instances.removeAll() }
    let instance = Instance(
      id: try row.text(0), kind: try kind(row.integer(1)), surface: try Surface(code: row.integer(2)))
    instances[n] = instance
    return instance
  }

  /// - Throws: `StoredValueError` for a number without a row.
  func policy(_ n: Int64) throws -> PolicyReference {
    if let known = policies[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT version, hash FROM policy WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks policy number \(n)")
    }
    let reference = PolicyReference(version: try row.text(0), hash: try row.text(1))
    policies[n] = reference
    return reference
  }

  /// Returns the number of a string, or nil if it is not stored.
  func number(_ id: String, in table: Table) throws -> Int64? {
    try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT n FROM \(table.rawValue) WHERE id = ?"), arguments: [id.bytesWithNull ?? id])
  }

  private func string(_ n: Int64, in table: Table) throws -> String {
    let key = Key(table: table, n: n)
    if let known = strings[key] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT id FROM \(table.rawValue) WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks \(table.rawValue) number \(n)")
    }
    if strings.count >= Self.entriesMax { strings.removeAll() }
    let string = try row.text(0)
    strings[key] = string
    return string
  }
}
