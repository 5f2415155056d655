import Domain
import GRDB

/// The most frequent values of one property of decisions.
public struct Top: Equatable, Sendable {
  /// What is counted.
  public enum Key: String, Sendable, CaseIterable { case reason, kind, device, event, verdict }

  public struct Row: Equatable, Sendable {
    public var name: String
    public var decisions: Int
  }

  public var key: Key
  /// Most frequent first; the same number in the order of first storing (devices, events) or of name.
  public var rows: [Row]
  /// Decisions of the range, also those of values that are not listed.
  public var total: Int
  /// Different values in the range.
  public var distinct: Int
}

extension AuditStore {
  /// The most frequent values. Reasons, kinds and verdicts come from hourly counts; devices and events are counted row by
  /// row and need memory for each different one.
  public func top(by key: Top.Key, range: TimeRange = .all, limit: Int = 20) throws(AuditError) -> Top {
    try read { db in
      let names = NameReader(db)
      var counts: [Top.Row] = []
      switch key {
      case .reason, .kind, .verdict:
        var byName: [String: Int] = [:]
        for (group, count) in try db.tallies(in: range) {
          let code = try DecisionCode(code: group.code)
          let name: String
          switch key {
          case .reason: name = code.reason.rawValue
          case .verdict: name = code.verdict.rawValue
          default: name = try names.kind(group.kind)
          }
          byName[name] = count.addingSaturated(byName[name] ?? 0)
        }
        counts = byName.map { Top.Row(name: $0, decisions: $1) }.sorted {
          ($1.decisions, $0.name) < ($0.decisions, $1.name)
        }
        return Top(
          key: key, rows: Array(counts.prefix(limit)), total: counts.reduce(0) { $0.addingSaturated($1.decisions) },
          distinct: counts.count)
      case .device, .event:
        let byNumber = try db.counts(of: key == .device ? "device" : "event", in: range)
        let sorted = byNumber.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        counts = try sorted.prefix(limit).map { n, count in
          Top.Row(name: key == .device ? try names.device(n) : try names.event(n), decisions: count)
        }
        return Top(
          key: key, rows: counts, total: sorted.reduce(0) { $0.addingSaturated($1.value) }, distinct: sorted.count)
      }
    }
  }
}

/// What `tally` counts by, without the hour.
struct TallyGroup: Hashable {
  var code: Int64
  var kind: Int64
}

extension Database {
  /// Counts of decisions by code and kind. Whole hours from the tallies, the rest of the first and last hour from rows.
  func tallies(in range: TimeRange) throws -> [TallyGroup: Int] {
    var counts: [TallyGroup: Int] = [:]
    func add(_ sql: String, _ arguments: StatementArguments) throws {
      let rows = try Row.fetchCursor(self, sql: sql, arguments: arguments)
      while let row = try rows.next() {
        let group = TallyGroup(code: try row.integer(0), kind: try row.integer(1))
        counts[group] = try row.integer(2, as: Int.self).addingSaturated(counts[group] ?? 0)
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
    // The first and the last whole hour, exclusive; nil where the range is open.
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

  /// Counts of decisions by a numbered column.
  func counts(of column: String, in range: TimeRange) throws -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    for block in try blocks(in: range) {
      // The index by device covers a whole block.
      let place = block.isWhole && column == "device" ? "seq >> \(AuditSchema.blockShift) = ?" : "seq >= ? AND seq < ?"
      let time = block.isWhole ? "" : " AND at >= ? AND at \(range.to == nil ? "<=" : "<") ?"
      var arguments: StatementArguments =
        block.isWhole && column == "device" ? [block.n] : [block.firstSeq, block.endSeq]
      if !block.isWhole { arguments += [range.first, range.end] }
      let rows = try Row.fetchCursor(
        self, sql: "SELECT \(column), count(*) FROM decision WHERE \(place)\(time) GROUP BY 1", arguments: arguments)
      while let row = try rows.next() {
        let n = try row.integer(0)
        counts[n] = try row.integer(1, as: Int.self).addingSaturated(counts[n] ?? 0)
      }
    }
    return counts
  }
}
