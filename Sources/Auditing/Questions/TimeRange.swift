public import Domain
import GRDB

/// A span of log time: from the first instant, up to but without the last. Nil: open.
public struct TimeRange: Equatable, Sendable {
  public var from: Timestamp?
  public var to: Timestamp?

  public init(from: Timestamp? = nil, to: Timestamp? = nil) {
    self.from = from
    self.to = to
  }

  public static let all = TimeRange()

  var first: Int64 { from?.microseconds ?? .min }
  /// Exclusive.
  var end: Int64 { to?.microseconds ?? .max }
  /// Whether a time is inside. An open end includes the last representable instant.
  func contains(_ at: Int64) -> Bool { at >= first && (to == nil || at < end) }
}

/// Sequence numbers in a row, and whether every time in them is inside the range that was asked for.
struct BlockSlice {
  var n: Int64
  var isWhole: Bool
  var firstSeq: Int64 { n << AuditSchema.blockShift }
  var endSeq: Int64 { n.addingSaturated(1) << AuditSchema.blockShift }
}

extension Database {
  /// The blocks that can hold rows of a time range, in order of storing.
  func blocks(in range: TimeRange) throws -> [BlockSlice] {
    let rows = try Row.fetchAll(
      self, sql: "SELECT n, atMin, atMax FROM block WHERE atMax >= ? AND atMin <= ? ORDER BY n",
      arguments: [range.first, range.end])
    return try rows.map { row in
      let (first, last) = (try row.integer(1), try row.integer(2))
      let isWhole = range.contains(first) && range.contains(last)
      return BlockSlice(n: try row.integer(0), isWhole: isWhole)
    }
  }

  /// The decisions of a device within a range, oldest first.
  func decisions(ofDevice device: Int64, in range: TimeRange, where isWanted: (DecisionRow) -> Bool = { _ in true })
    throws
    -> [DecisionRow]
  {
    var found: [DecisionRow] = []
    for block in try blocks(in: range) {
      let rows = try Row.fetchCursor(
        cachedStatement(
          sql: "SELECT \(DecisionRow.columns) FROM decision WHERE seq >> \(AuditSchema.blockShift) = ? AND device = ?"),
        arguments: [block.n, device])
      while let row = try rows.next() {
        let row = try DecisionRow(row)
        if range.contains(row.at), isWanted(row) { found.append(row) }
      }
    }
    return found.sorted(by: DecisionRow.inOrder)
  }

  /// The commands to a device within a range, oldest first.
  func commands(toDevice device: Int64, in range: TimeRange) throws -> [CommandRow] {
    var found: [CommandRow] = []
    for block in try blocks(in: range) {
      let rows = try Row.fetchCursor(
        cachedStatement(
          sql: "SELECT \(CommandRow.columns) FROM command WHERE seq >> \(AuditSchema.blockShift) = ? AND device = ?"),
        arguments: [block.n, device])
      while let row = try rows.next() {
        let row = try CommandRow(row)
        if range.contains(row.at) { found.append(row) }
      }
    }
    return found.sorted(by: CommandRow.inOrder)
  }

  /// A command by its id; nil where it is not stored.
  func command(id: String, names: NameReader) throws -> Command? {
    let key: RecordId
    if let parsed = RecordId(id, of: .command) {
      key = parsed
    } else {
      guard let n = try names.number(id, in: .text) else { return nil }
      key = RecordId(partition: -1, offset: n, ordinal: 0)
    }
    let row = try Row.fetchOne(
      self, cached: #"SELECT \#(CommandRow.columns) FROM command WHERE partition = ? AND "offset" = ? AND ordinal = ?"#,
      [key.partition, key.offset, key.ordinal])
    return try row.map { try CommandRow($0).command(names) }
  }

  /// The decisions that a command carries, oldest first.
  func decisions(ofCommand id: String, names: NameReader, limit: Int) throws -> [Decision] {
    var rows: [Row] = []
    if let key = RecordId(id, of: .command) {
      rows = try Row.fetchAll(
        self,
        sql:
          #"SELECT \#(DecisionRow.columns) FROM decision WHERE partition = ? AND "offset" = ? AND command = ? LIMIT ?"#,
        arguments: [key.partition, key.offset, key.ordinal, limit])
    }
    if let n = try names.number(id, in: .text) {
      rows += try Row.fetchAll(
        self, sql: "SELECT \(DecisionRow.columns) FROM decision WHERE command = ? AND command < 0 LIMIT ?",
        arguments: [-1 - n, limit])
    }
    return try rows.map { try DecisionRow($0) }.sorted(by: DecisionRow.inOrder).prefix(limit).map {
      try $0.decision(names)
    }
  }
}
