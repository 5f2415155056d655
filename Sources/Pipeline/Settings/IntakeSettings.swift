/// The settings of intake.
public struct IntakeSettings: Sendable {
  /// The most records of public topics that intake reads in one poll.
  /// - Beyond: the rest is read in the next turn.
  public var pollRecordsMax = 1000
  /// The most batches, each of one poll, that intake has under way: read, and not confirmed by the broker yet. At most
  /// 255, because deliveries are counted by the lowest eight bits of a batch's number.
  /// - Beyond: intake waits for the oldest batch; after a second it pauses.
  public var batchesUnderwayMax = 32
  /// The most log records that may be queued or in flight when intake sends more, each partition's copy counted: below
  /// the number that librdkafka queues by default, so that a send need not wait.
  /// - Beyond: intake waits for deliveries; after a second it pauses.
  public var recordsInFlightMax = 65_536
  /// The most bytes that intake holds when it reads or sends more: of the source records under way, and of their log
  /// records, each partition's copy counted.
  /// - Beyond: intake waits for deliveries; after a second it pauses.
  public var bytesUnderwayMax = 64 << 20
  /// The number of events, and that of signals, that intake remembers to drop repeats. Two sets of this size are kept for each, the newer
  /// and the older one; an event or a signal takes 16 bytes and the set's overhead.
  /// - Beyond: the older set is forgotten. Planners still recognise repeats of the newest events of each
  ///   subject.
  public var duplicateWindow = 500_000
  /// The number of records that a planner may be behind its log partition. Beyond it intake pauses, so that a log that
  /// is bounded by its retention does not lose records that were not planned yet. With 0 it never pauses for this.
  /// - Beyond: intake pauses.
  public var plannerLagMax: Int64 = 1_000_000

  /// Makes settings with the defaults.
  public init() {}
}
