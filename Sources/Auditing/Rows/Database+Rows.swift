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
  func decisions(ofDevice device: Identifier, in range: TimeRange, words: WordReader) throws -> [Decision] {
    var found = LatestDecisions()
    try scan(.device, device, in: range, words: words) {
      try found.add($0)
      return true
    }
    return found.sorted()
  }

  /// Returns the commands to a device in a time range, oldest first. Each comes as its row, whose `command` is quick to make.
  func commands(toDevice device: Identifier, in range: TimeRange, words: WordReader) throws -> [CommandRow] {
    let hash = KeyHash(.device, device).long
    var found: [CommandRow] = []
    for block in try blocks(in: range) {
      let rows = try Row.fetchCursor(
        cachedStatement(
          sql: "SELECT \(CommandRow.columns) FROM command WHERE seq >> \(AuditSchema.blockShift) = ? AND device = ?"),
        arguments: [block.n, hash])
      while let row = try rows.next() {
        let row = try CommandRow(row)
        // Another device may have the same hash.
        if range.contains(row.at), try row.command(words).device == device { found.append(row) }
      }
    }
    return found.sorted(by: CommandRow.inOrder)
  }

  /// Returns the command with an id, or nil if it is not stored. The id may have any form.
  func command(id: Identifier, words: WordReader) throws -> Command? {
    let columns = CommandRow.columns
    guard let key = RecordId(id, of: .command) else {
      let rows = try Row.fetchAll(
        self, sql: #"SELECT \#(columns) FROM command WHERE partition = -1 AND "offset" = ?"#,
        arguments: [KeyHash(.id, id).long])
      return try rows.map { try CommandRow($0).command(words) }.first { $0.command == id }
    }
    let row = try Row.fetchOne(
      self, cached: #"SELECT \#(columns) FROM command WHERE partition = ? AND "offset" = ? AND ordinal = ?"#,
      [key.partition, key.offset, key.ordinal])
    return try row.map { try CommandRow($0).command(words) }
  }

  /// Returns at most `limit` decisions that name a command, oldest first.
  /// - Parameter id: the id of the command; it may have any form.
  func decisions(ofCommand id: Identifier, words: WordReader, limit: Int) throws -> [Decision] {
    var found = LatestDecisions()
    guard limit > 0 else { return [] }
    try scan(.command, id, words: words) {
      try found.add($0)
      return found.count < limit
    }
    return found.sorted()
  }
}
