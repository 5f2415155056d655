public import Domain

/// The changes of a kind that count for its objective, by the hour.
public struct ObjectiveHours: Equatable, Sendable {
  /// The changes of one hour.
  public struct HourlyChanges: Equatable, Sendable {
    /// The beginning of the hour, in log time.
    public var start: Timestamp
    /// The number of changes that were closed.
    public var changes = 0
    /// The number of those that were shown, or undone, in time.
    public var inTime = 0
    /// The number of those that were not.
    public var missed: Int { changes - inTime }
  }

  /// The name of the kind.
  public var kind: Identifier
  /// The hours without a gap, oldest first.
  public var hours: [HourlyChanges]

  /// Returns the changes of the last hours together, with the rate at which they spend the error budget.
  ///
  /// - Parameter count: The number of hours.
  public func last(_ count: Int) -> AuditSummary.Attainment.WindowCounts {
    hours.suffix(max(0, count)).reduce(into: .init(minutes: count * 60)) { sum, hour in
      sum.changes += hour.changes
      sum.inTime += hour.inTime
    }
  }
}
