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
