/// The settings of intake.
public struct IntakeSettings: Sendable {
  /// The most records of public topics that intake reads in one poll.
  /// - Beyond: the rest is read in the next turn.
  public var pollRecordsMax = 1000
  /// The number of event ids that intake remembers, to drop repeated events. Two sets of this size are kept, the newer
  /// and the older one; an id takes 8 bytes and the set's overhead.
  /// - Beyond: the older set of ids is forgotten. Planners still recognise repeats of the newest events of each
  ///   subject.
  public var duplicateWindow = 500_000
  /// The number of records that a planner may be behind its log partition. Beyond it intake pauses, so that a log that
  /// is bounded by its retention does not lose records that were not planned yet. With 0 it never pauses for this.
  /// - Beyond: intake pauses.
  public var plannerLagMax: Int64 = 1_000_000

  /// Makes settings with the defaults.
  public init() {}
}
