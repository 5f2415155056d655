import Domain
import GRDB

extension Database {
  /// Returns the number of decisions in a range by code and kind. Whole hours come from the table `tally`; the rest of the
  /// first and of the last hour is counted from rows.
  func tallies(in range: TimeRange) throws -> [TallyGroup: Int] {
    var counts: [TallyGroup: Int] = [:]
    func add(_ sql: String, _ arguments: StatementArguments) throws {
      let rows = try Row.fetchCursor(self, sql: sql, arguments: arguments)
      while let row = try rows.next() {
        let group = TallyGroup(code: try row.integer(0), kind: try row.integer(1))
        counts[group] = try row.integer(2, as: Int.self).addingSaturating(counts[group] ?? 0)
      }
    }
    func addRows(_ part: TimeRange) throws {
      guard part.first < part.end else { return }
      for block in try blocks(in: part) {
        try add(
          """
          SELECT code, kind, count(*) FROM decision JOIN instance ON instance.n = instance
          WHERE seq >= ? AND seq < ? AND at >= ? AND at < ? GROUP BY 1, 2
          """, [block.firstSeq, block.endSeq, part.first, part.end])
      }
    }
    // The first whole hour and the first hour after the last whole one; nil where the range has no limit.
    let firstHour = range.from.map { ($0.microseconds &- 1).hourIndex + 1 }
    let endHour = range.to.map { $0.microseconds.hourIndex }
    if let firstHour, let endHour, firstHour > endHour {
      try addRows(range)
      return counts
    }
    try add(
      "SELECT code, kind, sum(count) FROM tally WHERE hour >= ? AND hour < ? GROUP BY 1, 2",
      [firstHour ?? .min, endHour ?? .max])
    if let from = range.from, let firstHour {
      try addRows(TimeRange(from: from, to: Timestamp(microseconds: firstHour &* .hourMicroseconds)))
    }
    if let to = range.to, let endHour {
      try addRows(TimeRange(from: Timestamp(microseconds: endHour &* .hourMicroseconds), to: to))
    }
    return counts
  }

  /// Returns the number of decisions in a range by a column with the number of a string.
  func counts(of column: String, in range: TimeRange) throws -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    for block in try blocks(in: range) {
      // A whole block can be counted in the index by device alone.
      let place = block.isWhole && column == "device" ? "seq >> \(AuditSchema.blockShift) = ?" : "seq >= ? AND seq < ?"
      let time = block.isWhole ? "" : " AND at >= ? AND at \(range.to == nil ? "<=" : "<") ?"
      var arguments: StatementArguments =
        block.isWhole && column == "device" ? [block.n] : [block.firstSeq, block.endSeq]
      if !block.isWhole { arguments += [range.first, range.end] }
      let rows = try Row.fetchCursor(
        self, sql: "SELECT \(column), count(*) FROM decision WHERE \(place)\(time) GROUP BY 1", arguments: arguments)
      while let row = try rows.next() {
        let n = try row.integer(0)
        counts[n] = try row.integer(1, as: Int.self).addingSaturating(counts[n] ?? 0)
      }
    }
    return counts
  }
}
