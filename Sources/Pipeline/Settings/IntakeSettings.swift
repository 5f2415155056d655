/// The settings of intake.
public struct IntakeSettings: Sendable {
  /// The most records that are read at once.
  /// - Beyond: the rest is read in the next turn.
  public var pollRecordsMax = 1000
  /// The number of ids of events that are remembered, to drop repeated events. Two generations of this size
  /// are kept; an id takes 8 bytes and the set's overhead.
  /// - Beyond: the older half of the ids is forgotten; a planner still knows the newest repeats.
  public var duplicateWindow = 500_000
  /// The number of records that a planner may be behind its log partition. Beyond it intake pauses, so that a log that is
  /// bounded by its retention does not lose records that were not planned yet. 0 means: never.
  /// - Beyond: intake pauses.
  public var plannerLagMax: Int64 = 1_000_000

  /// Makes settings with the defaults.
  public init() {}
}
