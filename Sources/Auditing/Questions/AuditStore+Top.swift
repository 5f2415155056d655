import Domain
import GRDB

extension AuditStore {
  /// Returns the most frequent values of a property. Reasons, kinds and verdicts are summed from the counts by hour, devices
  /// and events from those of full blocks (`BlockCounts`). At the ends of the range, and in blocks with very many different ones, devices and
  /// events are counted one by one. Each different one takes memory.
  /// - Parameters:
  ///   - key: the property.
  ///   - range: the range of log time.
  ///   - limit: the greatest number of values to return.
  /// - Throws: `AuditError` when the file cannot be read.
  public func top(by key: Top.Key, range: TimeRange = .all, limit: Int = 20) throws(AuditError) -> Top {
    try read { db in
      let words = WordReader(db)
      switch key {
      case .reason: return try db.top(key, range, limit) { Identifier(try DecisionCode(code: $0.code).reason.rawValue) }
      case .verdict:
        return try db.top(key, range, limit) { Identifier(try DecisionCode(code: $0.code).verdict.rawValue) }
      case .kind: return try db.top(key, range, limit) { try words.word($0.kind) }
      case .device: return try db.top(key, range, limit, by: .device)
      case .event: return try db.top(key, range, limit, by: .event)
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

  /// Counts decisions by device or by event.
  fileprivate func top(_ key: Top.Key, _ range: TimeRange, _ limit: Int, by name: KeyHash.Key) throws -> Top {
    let counts = try counts(in: range, by: name)
    return Top(
      key: key, rows: counts.greatest(limit).map { Top.Row(name: counts.name($0), decisions: counts.counts[$0]) },
      total: counts.counts.reduce(0) { $0.addingSaturating($1) }, distinct: counts.distinct)
  }
}
