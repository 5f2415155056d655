import Domain
import Foundation
import GRDB

/// Gives numbers their strings back within one read. Remembers up to a bound, as one event or device fills many rows.
final class NameReader {
  struct Instance {
    var id: String
    var kind: String
    var surface: Surface
  }
  private static let entriesMax = 50_000
  private let db: Database
  private var strings: [Key: String] = [:]
  private var instances: [Int64: Instance] = [:]
  private var policies: [Int64: PolicyReference] = [:]

  private struct Key: Hashable {
    var table: Table
    var n: Int64
  }
  enum Table: String { case event, device, text, kind }

  init(_ db: Database) { self.db = db }

  func event(_ n: Int64) throws -> String { try string(n, in: .event) }
  func device(_ n: Int64) throws -> String { try string(n, in: .device) }
  func text(_ n: Int64) throws -> String { try string(n, in: .text) }
  func kind(_ n: Int64) throws -> String { try string(n, in: .kind) }

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

  func policy(_ n: Int64) throws -> PolicyReference {
    if let known = policies[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT version, hash FROM policy WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks policy number \(n)")
    }
    let reference = PolicyReference(version: try row.text(0), hash: try row.text(1))
    policies[n] = reference
    return reference
  }

  /// The number of a string; nil where it was never stored.
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

extension Row {
  /// The first row of a statement that is prepared once.
  static func fetchOne(_ db: Database, cached sql: String, _ arguments: StatementArguments) throws -> Row? {
    try fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
  }
}

/// A row of `decision` as it is stored: enough to filter and sort before names are looked up.
struct DecisionRow {
  static let columns = """
    seq, partition, "offset", ordinal, event, device, instance, code, at, relevance, value, price, leftInstance,
    leftDevice, leftApp, untilAfter, command, policy, trace, causes
    """
  var seq: Int64
  var id: RecordId
  var event, device, instance, code, at: Int64
  var relevance, value, price: Double
  var leftInstance, leftDevice, leftApp: Int?
  var untilAfter, command: Int64?
  var policy: Int64
  var trace: Int64?
  var causes: [UInt8]?

  init(_ row: Row) throws(StoredValueError) {
    seq = try row.integer(0)
    id = RecordId(partition: try row.integer(1), offset: try row.integer(2), ordinal: try row.integer(3))
    event = try row.integer(4)
    device = try row.integer(5)
    instance = try row.integer(6)
    code = try row.integer(7)
    at = try row.integer(8)
    (relevance, value, price) = (StoredNumber.read(row[9]), StoredNumber.read(row[10]), StoredNumber.read(row[11]))
    leftInstance = try row.optionalInteger(12).map { Int($0) }
    leftDevice = try row.optionalInteger(13).map { Int($0) }
    leftApp = try row.optionalInteger(14).map { Int($0) }
    untilAfter = try row.optionalInteger(15)
    command = try row.optionalInteger(16)
    policy = try row.integer(17)
    trace = try row.optionalInteger(18)
    causes = try row.optionalBytes(19)
  }

  /// Oldest first; the same time in the order of the log.
  static func inOrder(_ a: DecisionRow, _ b: DecisionRow) -> Bool {
    (a.at, a.id.partition, a.id.offset, a.id.ordinal) < (b.at, b.id.partition, b.id.offset, b.id.ordinal)
  }

  func decision(_ names: NameReader) throws -> Decision {
    let code = try DecisionCode(code: code)
    let instance = try names.instance(instance)
    let event = try names.event(event)
    var events = [event]
    if let causes {
      var from = BinaryReader(causes)
      events = []
      while from.remaining > 0 { events.append(try names.event(Int64(bitPattern: from.varint()))) }
    }
    return Decision(
      decision: id.partition < 0 ? try names.text(id.offset) : id.text(of: .decision), event: event, events: events,
      device: try names.device(device), instance: instance.id, kind: instance.kind, surface: instance.surface,
      verdict: code.verdict, reason: code.reason, final: code.final, at: Timestamp(microseconds: at),
      relevance: relevance, value: value, price: price,
      tokensLeft: Decision.TokensLeft(instance: leftInstance, device: leftDevice, app: leftApp),
      until: untilAfter.map { Timestamp(microseconds: at &+ $0) }, command: try commandId(names),
      policy: try names.policy(policy), traceparent: try trace.map { try names.text($0) })
  }

  private func commandId(_ names: NameReader) throws -> String? {
    guard let command else { return nil }
    if command < 0 { return try names.text(-1 - command) }
    return RecordId(partition: id.partition, offset: id.offset, ordinal: command).text(of: .command)
  }
}

/// A row of `command` as it is stored.
struct CommandRow {
  static let columns = #"seq, partition, "offset", ordinal, device, surface, at, body"#
  var seq: Int64
  var id: RecordId
  var device, surface, at: Int64
  var body: [UInt8]

  init(_ row: Row) throws(StoredValueError) {
    seq = try row.integer(0)
    id = RecordId(partition: try row.integer(1), offset: try row.integer(2), ordinal: try row.integer(3))
    device = try row.integer(4)
    surface = try row.integer(5)
    at = try row.integer(6)
    body = try row.bytes(7)
  }

  static func inOrder(_ a: CommandRow, _ b: CommandRow) -> Bool {
    (a.at, a.id.partition, a.id.offset, a.id.ordinal) < (b.at, b.id.partition, b.id.offset, b.id.ordinal)
  }

  func command(_ names: NameReader) throws -> Command {
    try CommandBody.decode(
      body, id: id.partition < 0 ? try names.text(id.offset) : id.text(of: .command), device: try names.device(device),
      surface: try Surface(code: surface), at: Timestamp(microseconds: at), names: names)
  }
}
