import Domain
import GRDB

/// A row of `decision` as it is stored. Questions filter and sort rows before they look up any names.
struct DecisionRow {
  /// The columns in the order in which `init` reads them.
  static let columns = """
    seq, partition, "offset", ordinal, event, device, instance, code, at, relevance, wrong, looks, value, price,
    leftInstance, leftDevice, leftApp, untilAfter, command, policy, trace, causes
    """
  var seq: Int64
  var id: RecordId
  var event, device, instance, code, at: Int64
  var relevance, wrong, looks, value, price: Double
  var leftInstance, leftDevice, leftApp: Int?
  var untilAfter, command: Int64?
  var policy: Int64
  var trace: Int64?
  var causes: [UInt8]?

  /// - Throws: `StoredValueError` for a column of another type.
  init(_ row: Row) throws(StoredValueError) {
    seq = try row.integer(0)
    id = RecordId(partition: try row.integer(1), offset: try row.integer(2), ordinal: try row.integer(3))
    event = try row.integer(4)
    device = try row.integer(5)
    instance = try row.integer(6)
    code = try row.integer(7)
    at = try row.integer(8)
    relevance = StoredNumber.read(row[9])
    (wrong, looks) = (StoredNumber.read(row[10]), StoredNumber.read(row[11]))
    (value, price) = (StoredNumber.read(row[12]), StoredNumber.read(row[13]))
    leftInstance = try row.optionalInteger(14).map { Int($0) }
    leftDevice = try row.optionalInteger(15).map { Int($0) }
    leftApp = try row.optionalInteger(16).map { Int($0) }
    untilAfter = try row.optionalInteger(17)
    command = try row.optionalInteger(18)
    policy = try row.integer(19)
    trace = try row.optionalInteger(20)
    causes = try row.optionalBytes(21)
  }

  /// Whether `a` comes before `b`: by time, and at the same time in the order of the log.
  static func inOrder(_ a: DecisionRow, _ b: DecisionRow) -> Bool {
    (a.at, a.id.partition, a.id.offset, a.id.ordinal) < (b.at, b.id.partition, b.id.offset, b.id.ordinal)
  }

  /// The decision with its names.
  /// - Throws: `StoredValueError` or `BinaryError` for a row that this program did not write.
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
      relevance: relevance, wrong: wrong, looks: looks, value: value, price: price,
      tokensLeft: Decision.TokensLeft(instance: leftInstance, device: leftDevice, app: leftApp),
      until: untilAfter.map { Timestamp(microseconds: at &+ $0) }, command: try commandId(names),
      policy: try names.policy(policy), traceparent: try trace.map { try names.text($0).text })
  }

  private func commandId(_ names: NameReader) throws -> Identifier? {
    guard let command else { return nil }
    if command < 0 { return try names.text(-1 - command) }
    return RecordId(partition: id.partition, offset: id.offset, ordinal: command).text(of: .command)
  }
}
