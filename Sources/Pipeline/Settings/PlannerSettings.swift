/// The settings of planners.
public struct PlannerSettings: Sendable {
  /// The longest time between two commits. A shorter one means less latency and more transactions.
  /// - Beyond: the transaction is committed.
  public var commitInterval: Duration = .milliseconds(100)
  /// The number of bytes at which a transaction is committed early.
  /// - Beyond: the transaction is committed early.
  public var transactionBytesMax = 16 << 20
  /// The most log records that are read at once.
  /// - Beyond: the rest is read in the next turn.
  public var pollRecordsMax = 500
  /// The most decisions of one step. A larger fan-out continues from its cursor.
  /// - Beyond: the fan-out continues from its cursor, in another transaction if need be.
  public var stepDecisionsMax = 20_000
  /// The time after which the broker aborts a transaction whose owner is gone, and so the longest time that a take-over
  /// may have to wait.
  /// - Beyond: the broker aborts the transaction; the planner that takes over decides its records again.
  public var transactionTimeout: Duration = .seconds(15)
  /// The folder of local snapshots, which make a restart on the same machine quick; nil for none. Each installation needs
  /// a separate folder; its processes on one machine may share it.
  public var snapshotFolder: String?
  /// The time between two snapshots of a partition. A restart reads what changed since the newest one from the topic.
  public var snapshotInterval: Duration = .seconds(300)
  /// Whether planners are static members of their group. A process that is killed and back within the session time-out then gets
  /// its partitions again without a rebalance. It leaves the group at an orderly end, as a dynamic member does.
  ///
  /// A static member may die while it hands a partition over under a cooperative assignor. If it comes back in time, it never
  /// learns of the revocation; the watch over the group sees that the partition has no owner, and rebalances the group.
  ///
  /// The embedded broker knows no static members, so the library's default is not the one of `rouse run`.
  public var isStaticMember = false

  /// Makes settings with the defaults.
  public init() {}
}
