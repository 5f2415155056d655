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

/// The names of consumer groups and of transactional ids, all with the prefix `group`.
///
/// Consumers that only ask the broker use the group of the role that they belong to. So a role needs permission for few
/// groups.
extension ClusterSettings {
  /// The group whose members are intake threads.
  package var intakeGroup: String { "\(group)-intake" }
  /// The group whose members are planner threads.
  package var plannerGroup: String { "\(group)-planner" }
  /// The group of the gateway's view of the registrations, which has no members: the view knows the positions.
  public var gatewayGroup: String { "\(group)-gateway" }
  /// The group of the audit feed, which has no members: the store knows the positions.
  package var auditGroup: String { "\(group)-audit" }
  /// The group of commands that read topics, and of a console's own view of devices, which has no members and no offsets.
  package var readerGroup: String { "\(group)-reader" }
  /// The group whose committed offsets are operators' orders to pass over records. It has no members.
  package var skipGroup: String { "\(group)-skips" }
  /// The prefix of the transactional ids of planner threads. The name of the process and the number of the thread follow.
  package var plannerIDPrefix: String { "\(plannerGroup)-" }
  /// The transactional id of `rouse dead-letters replay`.
  package var replayID: String { "\(group)-replay" }
}

extension ClusterSettings {
  /// Returns the number of partitions of the log.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`. One for a topic that the cluster does not name is not fatal: it may be made later, or the permission to
  ///   describe it may be given.
  package func logPartitionCount(_ cluster: any Cluster = RealCluster()) throws(KafkaError) -> Int32 {
    try partitionCounts(of: [topics.log], cluster)[0]
  }

  /// Returns the number of partitions of the log, and whether commands have as many. If so, a device has the same partition number in
  /// both topics, because both are keyed by device. Decisions have the partition number of the log record that they result from, so
  /// their topic needs at least as many partitions; further ones stay empty.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`, fatal if the topic of decisions has too few partitions.
  package func outputPartitions(_ cluster: any Cluster) throws(KafkaError) -> (count: Int32, areShared: Bool) {
    let counts = try partitionCounts(of: [topics.log, topics.decisions, topics.commands], cluster)
    guard counts[1] >= counts[0] else {
      throw KafkaError(
        code: .unknownPartition,
        message:
          "it has \(counts[1]) partitions and \(topics.log) has \(counts[0]), but decisions are written to the partition of the log that they result from; add partitions to \(topics.decisions) until it has \(counts[0]), then restart the audit, which reads the partitions that it finds at its start",
        operation: "looking up \(topics.decisions)", isFatal: true, isRetriable: false)
    }
    return (counts[0], counts[0] == counts[2])
  }

  private func partitionCounts(of names: [String], _ cluster: any Cluster) throws(KafkaError) -> [Int32] {
    let counts: [Int32]
    do throws(KafkaError) { counts = try cluster.partitionCounts(of: names, client([:])) } catch {
      guard error.code == .unknownTopicOrPartition else { throw error }
      throw KafkaError(
        code: error.code,
        message:
          "\(error.message); make Rouse's topics with `rouse topics create`, or give this principal the permission Describe on them (`rouse topics acls`)",
        operation: error.operation, isFatal: error.isFatal, isRetriable: error.isRetriable)
    }
    for (name, count) in zip(names, counts) where count == 0 { throw Self.missing(name) }
    return counts
  }

  /// Returns the error for a topic that does not exist.
  ///
  /// - Parameter topic: The name of the topic.
  package static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
