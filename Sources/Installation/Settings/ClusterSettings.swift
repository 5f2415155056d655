public import KafkaClient

/// The way to the cluster of an installation, and the names of its topics and consumer groups.
public struct ClusterSettings: Sendable {
  /// The properties of every client: `bootstrap.servers`, security and any other property of librdkafka.
  public var kafka: KafkaConfiguration
  /// The names of Rouse's own topics.
  public var topics: TopicNames
  /// The topics that domain events are read from.
  public var eventTopics: [String]
  /// The topic that the gateway writes events to, one of `eventTopics`; nil if it may be any of them.
  public var gatewayTopic: String?
  /// Whether the gateway reads the registrations, too.
  public var gatewayReadsDevices = false
  /// The prefix of the consumer groups (`rouse-intake`, `rouse-planner`) and of transactional ids.
  public var group: String
  /// Whether the cluster is the embedded broker. It tells neither the settings of its topics nor the offsets that transactions commit, so
  /// who looks at the cluster does not ask for them.
  public var isBrokerEmbedded = false
  /// The source of log time.
  public var timestamps: Timestamps

  /// Makes settings; only the cluster and the topics of events have no default.
  ///
  /// - Parameters:
  ///   - kafka: The properties of every client.
  ///   - topics: The names of Rouse's own topics.
  ///   - eventTopics: The topics that domain events are read from.
  ///   - group: The prefix of the consumer groups and of transactional ids.
  ///   - timestamps: The source of log time.
  public init(
    kafka: KafkaConfiguration, topics: TopicNames = TopicNames(), eventTopics: [String], group: String = "rouse",
    timestamps: Timestamps = .arrival
  ) {
    self.kafka = kafka
    self.topics = topics
    self.eventTopics = eventTopics
    self.group = group
    self.timestamps = timestamps
  }

  /// The source of log time.
  public enum Timestamps: String, Sendable, CaseIterable {
    /// The broker's clock when a record reached the log: normal operation.
    case arrival
    /// The event's own time: a replay of the past. Planners then append no ticks.
    case event
  }

  /// The properties of librdkafka that each role sets as correctness needs it. Values for them in `kafka` are not used.
  package static let reserved: Set<String> = [
    "auto.offset.reset", "delivery.report.only.error", "enable.auto.commit", "enable.auto.offset.store",
    "enable.gapless.guarantee", "enable.idempotence", "enable.partition.eof", "group.id",
    "isolation.level", "message.max.bytes", "message.timeout.ms", "partitioner", "statistics.interval.ms",
    "transaction.timeout.ms", "transactional.id",
  ]

  /// The names in `kafka` whose values are not used, because Rouse sets these properties itself.
  package var unused: [String] { Self.reserved.filter { kafka[$0] != nil }.sorted() }

  /// Returns the properties of a client.
  ///
  /// - Parameters:
  ///   - forced: The properties that correctness needs. They override the user's.
  ///   - defaults: The properties that the user may override.
  package func client(_ forced: KeyValuePairs<String, String>, defaults: KeyValuePairs<String, String> = [:])
    -> KafkaConfiguration
  {
    KafkaConfiguration(defaults.map { ($0.key, $0.value) })
      .merging(kafka)
      .merging(KafkaConfiguration(forced.map { ($0.key, $0.value) }))
  }
}
