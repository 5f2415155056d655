import Domain

/// The settings of planners.
public struct PlannerSettings: Sendable {
  /// The longest time between two commits of a planner thread. A shorter one means less latency and more transactions. A thread without
  /// further records commits after a third of it, and at once after a pause. After a commit that took more than half of it, a thread plans
  /// as long as that commit took, at most this time.
  /// - Beyond: the transaction is committed.
  public var commitInterval: Duration = .milliseconds(100)
  /// The number of bytes at which a transaction is committed early.
  /// - Beyond: the transaction is committed early.
  public var transactionBytesMax = 16 << 20
  /// The most log records that a planner thread reads in one poll.
  /// - Beyond: the rest is read in the next turn.
  public var pollRecordsMax = 500
  /// The most decisions that a planner makes for one event before it lets the thread write them. A larger fan-out
  /// continues from its cursor.
  /// - Beyond: the fan-out continues from its cursor, in another transaction if need be.
  public var stepDecisionsMax = 20_000
  /// The largest number of bytes of a record that holds several decisions.
  public var decisionBlockBytesMax = DecisionBlock.bytesMax
  /// The time after which the broker aborts a transaction whose owner is gone, and so the longest time that a take-over
  /// may have to wait.
  /// - Beyond: the broker aborts the transaction; the planner that takes over decides its records again.
  public var transactionTimeout: Duration = .seconds(15)
  /// The folder of local snapshots, which make a restart on the same machine quick; nil for none. Each installation needs
  /// a separate folder; its processes on one machine may share it.
  public var snapshotFolder: String?
  /// The time between two snapshots of a partition. A restart reads only what changed since the newest snapshot from
  /// the topic.
  public var snapshotInterval: Duration = .seconds(300)
  /// The shortest time from the begin of one sweep over the screens of a partition to that of the next; nil for no sweeps. A sweep of a
  /// large partition takes longer, because sweeps take at most 0.5 % of a planner thread.
  public var sweepInterval: Duration? = .seconds(10)
  /// Makes settings with the defaults.
  public init() {}
}
