public import KafkaClient
public import Planning

/// How the stages talk to Kafka and how they work.
public struct PipelineSettings: Sendable {
  /// Properties of every client: `bootstrap.servers`, security and whatever else librdkafka knows.
  public var kafka: KafkaConfiguration
  public var topics: TopicNames
  /// Topics that domain events are read from.
  public var eventTopics: [String]
  /// Prefix of the consumer groups (`rouse-intake`, `rouse-planner`) and of transactional ids.
  public var group: String
  /// Tells this process from others; part of transactional ids. Keep it stable over restarts.
  public var instance: String
  public var timestamps: Timestamps
  public var planner: Planning
  public var intake: Intake
  public var bounds: PlannerBounds

  public init(
    kafka: KafkaConfiguration, topics: TopicNames = TopicNames(), eventTopics: [String], group: String = "rouse",
    instance: String, timestamps: Timestamps = .arrival, planner: Planning = Planning(), intake: Intake = Intake(),
    bounds: PlannerBounds = PlannerBounds()
  ) {
    self.kafka = kafka
    self.topics = topics
    self.eventTopics = eventTopics
    self.group = group
    self.instance = instance
    self.timestamps = timestamps
    self.planner = planner
    self.intake = intake
    self.bounds = bounds
  }

  /// What log time is.
  public enum Timestamps: String, Sendable, CaseIterable {
    /// When a record reached the log: normal operation.
    case arrival
    /// The event's own time: a replay of the past. Planners then append no ticks.
    case event
  }

  public struct Planning: Sendable {
    /// Longest time between two commits. Shorter: less latency, more transactions.
    public var commitInterval: Duration = .milliseconds(100)
    /// A transaction is committed early at this size.
    public var transactionBytesMax = 16 << 20
    /// Log records read at once.
    public var pollRecordsMax = 500
    /// Decisions of one step; a larger fan-out continues from its cursor.
    public var stepDecisionsMax = 20_000
    /// How long the broker waits before it aborts a transaction whose owner is gone. Also how long a take-over may have
    /// to wait.
    public var transactionTimeout: Duration = .seconds(15)
    /// Folder of local snapshots, which make a restart on the same machine quick; nil for none. One folder for each
    /// installation; its processes on a machine may share it.
    public var snapshotFolder: String?
    /// Time between two snapshots of a partition. A restart reads what changed since the newest from the topic.
    public var snapshotInterval: Duration = .seconds(300)
    /// Static group membership: a process that comes back within the session time-out finds its partitions again without
    /// a rebalance, and one that stays away keeps them idle for as long. Under a cooperative assignor one that dies when it
    /// is to hand a partition over, and comes back in time, does not know of that any more: the partition belongs to nobody
    /// until the group rebalances next, which a member that joins, leaves or stays away makes it do.
    public var isStaticMember = false
    /// False gives up exactly-once: no transactions, so a crash leaves records that are decided again. For benchmarks
    /// only, to tell what transactions cost.
    public var isExactlyOnce = true
    /// False leaves `rouse.decisions` empty: nobody can ask why. For benchmarks only, to tell what the decision log costs.
    public var logsDecisions = true
    public init() {}
  }

  public struct Intake: Sendable {
    public var pollRecordsMax = 1000
    /// Ids of events remembered, to drop what a publisher sends twice. Two generations of this size are kept, 8 bytes
    /// and the set's overhead each.
    public var duplicateWindow = 500_000
    /// Intake pauses while a planner is this many records of its log partition behind, so that a log bounded by its
    /// retention does not lose what was not planned yet. 0: never.
    public var plannerLagMax: Int64 = 1_000_000
    public init() {}
  }

  /// The properties of a client: what the user set, then what correctness needs, which cannot be overridden.
  func client(_ forced: KeyValuePairs<String, String>, defaults: KeyValuePairs<String, String> = [:])
    -> KafkaConfiguration
  {
    KafkaConfiguration(defaults.map { ($0.key, $0.value) })
      .merging(kafka)
      .merging(KafkaConfiguration(forced.map { ($0.key, $0.value) }))
  }
}
