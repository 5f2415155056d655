import Domain
import GRDB

extension Database {
  /// Returns the number of decisions in a range by code and kind. Whole hours come from the table `tally`; the rest of the
  /// first and of the last hour is counted from pages.
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
      try scan(part, words: WordReader(self)) { counts[TallyGroup(code: $0.code, kind: $0.kind), default: 0] += 1 }
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

  /// Returns the number of decisions in a range by device or by event, in the order in which the names were first stored. Blocks that lie
  /// wholly in the range have their counts, except for the newest one and those that a retention has changed, which are scanned.
  /// - Parameter key: the property; a device or an event.
  func counts(in range: TimeRange, by key: KeyHash.Key) throws -> NameCounts {
    var counts = NameCounts()
    let words = WordReader(self)
    for block in try blocks(in: range) {
      if block.isWhole, let stored = try BlockCounts.stored(block.n, key, self) {
        try counts.add(encoded: stored)
        continue
      }
      try scan(from: block.firstSeq, below: block.endSeq, range, words: words) { line in
        if key == .device { counts.add(line.device.span) } else { counts.add(line.event.span) }
      }
    }
    return counts
  }
}

/// The columns by which the table `tally` counts decisions, without the hour.
struct TallyGroup: Hashable {
  var code: Int64
  var kind: Int64
}
