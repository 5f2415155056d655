import Domain
public import Installation
public import KafkaClient
public import Planning

/// The settings of the stages: the way to Kafka, and the bounds of their work.
public struct PipelineSettings: Sendable {
  /// The way to the cluster, and the names of topics and consumer groups.
  public var cluster: ClusterSettings
  /// The unique name of this process; part of transactional ids. Keep it the same across restarts.
  public var instance: String
  /// Whether planner threads and intake are static members of their groups. A process that is killed and back within the session
  /// time-out then gets its partitions again without a rebalance. It leaves the groups at an orderly end, as a dynamic member
  /// does.
  ///
  /// The embedded broker knows no static members, so the library's default is not the one of `rouse run`.
  public var isStaticMember = false
  /// The settings of planners.
  public var planner: PlannerSettings
  /// The settings of intake.
  public var intake: IntakeSettings
  /// The bounds of a planner's memory.
  public var bounds: PlannerBounds

  /// The time between two statistics of each Kafka client of a stage, for metrics; nil for none.
  public var statistics: Duration? = .seconds(10)

  /// Makes settings; only the cluster, the topics of events and the name of the process have no default.
  ///
  /// - Parameters:
  ///   - kafka: The properties of every client.
  ///   - topics: The names of Rouse's own topics.
  ///   - eventTopics: The topics that domain events are read from.
  ///   - group: The prefix of the consumer groups and of transactional ids.
  ///   - instance: The unique name of this process.
  ///   - timestamps: The source of log time.
  ///   - planner: The settings of planners.
  ///   - intake: The settings of intake.
  ///   - bounds: The bounds of a planner's memory.
  public init(
    kafka: KafkaConfiguration, topics: TopicNames = TopicNames(), eventTopics: [String], group: String = "rouse",
    instance: String, timestamps: ClusterSettings.Timestamps = .arrival, planner: PlannerSettings = PlannerSettings(),
    intake: IntakeSettings = IntakeSettings(), bounds: PlannerBounds = PlannerBounds()
  ) {
    cluster = ClusterSettings(
      kafka: kafka, topics: topics, eventTopics: eventTopics, group: group, timestamps: timestamps)
    self.instance = instance
    self.planner = planner
    self.intake = intake
    self.bounds = bounds
  }

  /// The default session time-out and heartbeat interval, in ms, of the consumers that share a topic as a group. When a
  /// process is killed, the others wait for its session to end before they take over, so it is as short as brokers
  /// accept by default (`group.min.session.timeout.ms`, 6 s); librdkafka's own default is 45 s. Heartbeats are sent
  /// four times a session, by a thread of librdkafka that no planning delays.
  static let memberDefaults: [(String, String)] = [("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "1500")]

  /// Returns the properties of a consumer that shares its topics with the other members of a group.
  ///
  /// - Parameters:
  ///   - forced: The properties that correctness needs. They override the user's.
  ///   - defaults: The properties that the user may override, besides those of the session.
  func member(_ forced: KeyValuePairs<String, String>, defaults: KeyValuePairs<String, String>) -> KafkaConfiguration {
    KafkaConfiguration(Self.memberDefaults).merging(client(forced, defaults: defaults))
  }

  /// The value of `statistics.interval.ms` for the clients of stages.
  var statisticsInterval: String { "\(statistics?.milliseconds ?? 0)" }

  /// Returns the properties of a client, as `ClusterSettings` does.
  ///
  /// - Parameters:
  ///   - forced: The properties that correctness needs. They override the user's.
  ///   - defaults: The properties that the user may override.
  func client(_ forced: KeyValuePairs<String, String>, defaults: KeyValuePairs<String, String> = [:])
    -> KafkaConfiguration
  {
    cluster.client(forced, defaults: defaults)
  }
}

/// The members of `cluster` that stages read all the time.
extension PipelineSettings {
  /// The properties of every client.
  public var kafka: KafkaConfiguration {
    get { cluster.kafka }
    set { cluster.kafka = newValue }
  }
  /// The names of Rouse's own topics.
  public var topics: TopicNames {
    get { cluster.topics }
    set { cluster.topics = newValue }
  }
  /// The topics that domain events are read from.
  public var eventTopics: [String] {
    get { cluster.eventTopics }
    set { cluster.eventTopics = newValue }
  }
  /// The prefix of the consumer groups and of transactional ids.
  public var group: String { cluster.group }
  /// The source of log time.
  public var timestamps: ClusterSettings.Timestamps {
    get { cluster.timestamps }
    set { cluster.timestamps = newValue }
  }
}

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
