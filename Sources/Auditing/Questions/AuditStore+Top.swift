import Domain
import GRDB

extension AuditStore {
  /// Returns the most frequent values of a property. Reasons, kinds and verdicts are summed from the counts by hour. Devices
  /// and events are counted row by row, which takes memory for each different one.
  /// - Parameters:
  ///   - key: the property.
  ///   - range: the range of log time.
  ///   - limit: the greatest number of values to return.
  /// - Throws: `AuditError` when the file cannot be read.
  public func top(by key: Top.Key, range: TimeRange = .all, limit: Int = 20) throws(AuditError) -> Top {
    try read { db in
      let names = NameReader(db)
      switch key {
      case .reason: return try db.top(key, range, limit) { Identifier(try DecisionCode(code: $0.code).reason.rawValue) }
      case .verdict:
        return try db.top(key, range, limit) { Identifier(try DecisionCode(code: $0.code).verdict.rawValue) }
      case .kind: return try db.top(key, range, limit) { try names.kind($0.kind) }
      case .device: return try db.top(key, of: "device", range, limit) { try names.device($0) }
      case .event: return try db.top(key, of: "event", range, limit) { try names.event($0) }
      }
    }
  }
}

extension Database {
  /// Sums the counts by hour under the names that `name` gives them.
  fileprivate func top(
    _ key: Top.Key, _ range: TimeRange, _ limit: Int, name: (TallyGroup) throws -> Identifier
  ) throws -> Top {
    var byName: [Identifier: Int] = [:]
    for (group, count) in try tallies(in: range) {
      let name = try name(group)
      byName[name] = count.addingSaturating(byName[name] ?? 0)
    }
    let rows = byName.map { Top.Row(name: $0, decisions: $1) }.sorted {
      ($1.decisions, $0.name) < ($0.decisions, $1.name)
    }
    return Top(
      key: key, rows: Array(rows.prefix(limit)), total: rows.reduce(0) { $0.addingSaturating($1.decisions) },
      distinct: rows.count)
  }

  /// Counts rows by a column with the number of a string, which `name` turns into the string.
  fileprivate func top(
    _ key: Top.Key, of column: String, _ range: TimeRange, _ limit: Int, name: (Int64) throws -> Identifier
  ) throws -> Top {
    let sorted = try counts(of: column, in: range).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return Top(
      key: key, rows: try sorted.prefix(limit).map { Top.Row(name: try name($0.key), decisions: $0.value) },
      total: sorted.reduce(0) { $0.addingSaturating($1.value) }, distinct: sorted.count)
  }
}
