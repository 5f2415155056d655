import Domain
import GRDB

/// Looks up the names of numbers within one read. It caches names up to a bound, because one event or device occurs
/// in many rows.
final class NameReader {
  /// The names in a row of the table `instance`.
  struct Instance {
    var id: Identifier
    var kind: Identifier
    var surface: Surface
  }
  /// The largest number of cached names, and of cached instances. A full cache is emptied.
  private static let entriesMax = 50_000
  private let db: Database
  private var names: [Key: Identifier] = [:]
  private var instances: [Int64: Instance] = [:]
  private var policies: [Int64: PolicyReference] = [:]

  private struct Key: Hashable {
    var table: Table
    var n: Int64
  }
  /// The tables of names with a single column.
  enum Table: String { case event, device, text, kind }

  init(_ db: Database) { self.db = db }

  /// Returns the id of the event with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func event(_ n: Int64) throws -> Identifier { try name(n, in: .event) }
  /// Returns the id of the device with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func device(_ n: Int64) throws -> Identifier { try name(n, in: .device) }
  /// Returns the string with a number in the table `text`.
  /// - Throws: `StoredValueError` for a number without a row.
  func text(_ n: Int64) throws -> Identifier { try name(n, in: .text) }
  /// Returns the name of the kind with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func kind(_ n: Int64) throws -> Identifier { try name(n, in: .kind) }

  /// Returns the names of the instance with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func instance(_ n: Int64) throws -> Instance {
    if let known = instances[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT id, kind, surface FROM instance WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks instance number \(n)")
    }
    if instances.count >= Self.entriesMax { instances.removeAll() }
    let instance = Instance(
      id: try row.identifier(0), kind: try kind(row.integer(1)), surface: try Surface(code: row.integer(2)))
    instances[n] = instance
    return instance
  }

  /// Returns the version and the hash of the policy with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func policy(_ n: Int64) throws -> PolicyReference {
    if let known = policies[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT version, hash FROM policy WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks policy number \(n)")
    }
    let reference = PolicyReference(version: try row.identifier(0), hash: try row.identifier(1))
    policies[n] = reference
    return reference
  }

  /// Returns the number of a string, or nil if it is not stored.
  func number(_ id: Identifier, in table: Table) throws -> Int64? {
    try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT n FROM \(table.rawValue) WHERE id = ?"), arguments: [id.stored])
  }

  private func name(_ n: Int64, in table: Table) throws -> Identifier {
    let key = Key(table: table, n: n)
    if let known = names[key] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT id FROM \(table.rawValue) WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks \(table.rawValue) number \(n)")
    }
    if names.count >= Self.entriesMax { names.removeAll() }
    let name = try row.identifier(0)
    names[key] = name
    return name
  }
}
