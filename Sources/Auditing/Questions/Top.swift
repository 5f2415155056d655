public import Domain
import GRDB

/// The most frequent values of one property of decisions.
public struct Top: Equatable, Sendable {
  /// The property that decisions are counted by.
  public enum Key: String, Sendable, CaseIterable { case reason, kind, device, event, verdict }

  /// One value of the property, with its count.
  public struct Row: Equatable, Sendable {
    /// The value.
    public var name: Identifier
    /// The number of decisions with the value.
    public var decisions: Int
  }

  /// The place behind a value in the order of a list.
  public struct RowPlace: Equatable, Sendable {
    /// The value.
    public var name: Identifier
    /// Its count.
    public var decisions: Int
    /// The end of the log time that the list counts, so that its parts count the same decisions.
    public var end: Timestamp

    /// Creates a place.
    public init(name: Identifier, decisions: Int, end: Timestamp) {
      self.name = name
      self.decisions = decisions
      self.end = end
    }
  }

  /// The property that was counted by.
  public var key: Key
  /// The values, the most frequent first. Values with the same count are sorted by first storing (devices, events)
  /// or by name.
  public var rows: [Row]
  /// The number of decisions in the range, those of values that are not listed included.
  public var total: Int
  /// The number of distinct values in the range, those that are not listed included.
  public var distinct: Int
}

extension AuditStore {
  /// Returns the most frequent values of a property. Reasons, kinds and verdicts are summed from the counts by hour, devices
  /// and events from those of full blocks (`BlockCounts`). At the ends of the range, and in blocks with very many different ones, devices and
  /// events are counted one by one. Each different one takes memory.
  /// - Parameters:
  ///   - key: the property.
  ///   - range: the range of log time.
  ///   - limit: the greatest number of values to return.
  ///   - place: the place behind the last value of the part before; nil for the first part.
  /// - Throws: `AuditError` when the file cannot be read.
  public func top(
    by key: Top.Key, range: TimeRange = .all, limit: Int = 20, after place: Top.RowPlace? = nil
  ) throws(AuditError) -> Top {
    try read { db in try db.top(key, range, limit, place) }
  }

  /// Returns a part of the list that `top` returns, and the place behind it.
  ///
  /// - Parameters:
  ///   - key: the property.
  ///   - range: the range of log time.
  ///   - limit: the greatest number of values to return.
  ///   - place: the place behind the last value of the part before; nil for the first part.
  /// - Returns: the part, and the place if others follow. Further parts count no decision whose log time is newer than all in the first part.
  /// - Throws: `AuditError` when the file cannot be read.
  public func topPart(
    by key: Top.Key, range: TimeRange, limit: Int, after place: Top.RowPlace?
  ) throws(AuditError) -> (top: Top, next: Top.RowPlace?) {
    try read { db in
      // One more tells whether others follow.
      var top = try db.top(key, range, limit + 1, place)
      let goesOn = top.rows.count > limit
      top.rows = Array(top.rows.prefix(limit))
      guard goesOn, let last = top.rows.last else { return (top, nil) }
      let end =
        try place?.end ?? range.to
        ?? Timestamp(microseconds: Int64.fetchOne(db, sql: "SELECT max(atMax) + 1 FROM block") ?? 0)
      return (top, Top.RowPlace(name: last.name, decisions: last.decisions, end: end))
    }
  }
}

extension Database {
  /// Counts decisions by a property.
  fileprivate func top(_ key: Top.Key, _ range: TimeRange, _ limit: Int, _ place: Top.RowPlace?) throws -> Top {
    var range = range
    if let end = place?.end { range.to = range.to.map { min($0, end) } ?? end }
    let words = WordReader(self)
    switch key {
    case .reason:
      return try top(key, range, limit, place) { Identifier(try DecisionCode(code: $0.code).reason.rawValue) }
    case .verdict:
      return try top(key, range, limit, place) { Identifier(try DecisionCode(code: $0.code).verdict.rawValue) }
    case .kind: return try top(key, range, limit, place) { try words.word($0.kind) }
    case .device: return try top(key, range, limit, place, by: .device)
    case .event: return try top(key, range, limit, place, by: .event)
    }
  }

  /// Sums the counts by hour under the names that `name` gives them.
  fileprivate func top(
    _ key: Top.Key, _ range: TimeRange, _ limit: Int, _ place: Top.RowPlace?, name: (TallyGroup) throws -> Identifier
  ) throws -> Top {
    var byName: [Identifier: Int] = [:]
    for (group, count) in try tallies(in: range) {
      let name = try name(group)
      byName[name] = count.addingSaturating(byName[name] ?? 0)
    }
    let rows = byName.map { Top.Row(name: $0, decisions: $1) }.sorted {
      ($1.decisions, $0.name) < ($0.decisions, $1.name)
    }
    let next = rows.drop { row in
      place.map { (-row.decisions, row.name) <= (-$0.decisions, $0.name) } ?? false
    }
    return Top(
      key: key, rows: Array(next.prefix(limit)), total: rows.reduce(0) { $0.addingSaturating($1.decisions) },
      distinct: rows.count)
  }

  /// Counts decisions by device or by event.
  fileprivate func top(
    _ key: Top.Key, _ range: TimeRange, _ limit: Int, _ place: Top.RowPlace?, by name: KeyHash.Key
  ) throws -> Top {
    let counts = try counts(in: range, by: name)
    let numbers = counts.greatest(limit, after: place.map { ($0.decisions, $0.name) })
    return Top(
      key: key, rows: numbers.map { Top.Row(name: counts.name($0), decisions: counts.counts[$0]) },
      total: counts.counts.reduce(0) { $0.addingSaturating($1) }, distinct: counts.distinct)
  }
}
