import Domain
import GRDB

extension Database {
  /// Returns the blocks that may hold rows of a time range, in the order of storing.
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

  /// Returns the decisions about a device in a time range, oldest first.
  /// - Parameters:
  ///   - device: the number of the device.
  ///   - range: the time range.
  ///   - isWanted: selects rows before they are sorted.
  func decisions(
    ofDevice device: Int64, in range: TimeRange, where isWanted: (DecisionRow) -> Bool = { _ in true }
  ) throws -> [DecisionRow] {
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

  /// Returns the commands to a device in a time range, oldest first.
  /// - Parameter device: the number of the device.
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

  /// Returns the command with an id, or nil if it is not stored. The id may have any form.
  func command(id: Identifier, names: NameReader) throws -> Command? {
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

  /// Returns at most `limit` decisions that name a command, oldest first.
  /// - Parameter id: the id of the command; it may have any form.
  func decisions(ofCommand id: Identifier, names: NameReader, limit: Int) throws -> [Decision] {
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
