public import Domain

/// The decisions about one event over time.
public struct EventSpread: Equatable, Sendable {
  /// The decisions of one minute.
  public struct SpreadMinute: Equatable, Sendable {
    /// The beginning of the minute.
    public var start: Timestamp
    /// The number of decisions by verdict, in the order of `Verdict.allCases`.
    public var decisions: [Int]
  }

  /// The minutes with a decision, oldest first.
  public var minutes: [SpreadMinute]
}

extension AuditStore {
  /// Returns the decisions about one event by minute.
  /// - Throws: `AuditError` when the file cannot be read.
  public func spread(ofEvent id: Identifier) throws(AuditError) -> EventSpread {
    try read { db in
      var minutes: [Int64: [Int]] = [:]
      try db.scan(.event, id, words: WordReader(db)) { line in
        let minute = Timestamp(microseconds: line.at).seconds / 60
        guard let place = Verdict.allCases.firstIndex(of: try DecisionCode(code: line.code).verdict) else {
          return true
        }
        minutes[minute, default: Verdict.allCases.map { _ in 0 }][place] += 1
        return true
      }
      return EventSpread(
        minutes: minutes.sorted { $0.key < $1.key }.map {
          EventSpread.SpreadMinute(start: Timestamp(microseconds: $0.key &* 60_000_000), decisions: $0.value)
        })
    }
  }
}
