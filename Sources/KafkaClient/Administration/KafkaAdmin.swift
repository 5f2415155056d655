/// Looks after topics, and looks at clusters. Used by one thread; each call waits for its answer.
public final class KafkaAdmin {
  private let handle: AdminHandle

  /// Makes a client; it connects in the background.
  public init(_ configuration: KafkaConfiguration, logSink: KafkaLogSink? = nil) throws(KafkaError) {
    handle = try AdminHandle(configuration, callbacks: ClientCallbacks(logSink: logSink))
  }

  /// Makes topics; what became of each, in order. A topic that exists has ``KafkaErrorCode/topicExists``.
  ///
  /// When the request itself fails that is thrown; some of the topics may have been made nevertheless.
  public func createTopics(_ topics: [KafkaNewTopic], timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    guard !topics.isEmpty else { return [] }
    if let bad = topics.first(where: { $0.name.isEmpty || $0.partitions < 1 }) {
      throw KafkaError(
        code: .invalidArgument, message: "a topic needs a name and at least one partition",
        operation: "creating the topic \"\(bad.name)\" with \(bad.partitions) partitions", isRetriable: false)
    }
    return try handle.createTopics(topics, timeout)
  }

  /// Deletes topics and all that is in them; what became of each, in order.
  public func deleteTopics(_ topics: [String], timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    guard !topics.isEmpty else { return [] }
    return try handle.deleteTopics(topics, timeout)
  }

  /// The brokers and all topics.
  public func describeCluster(timeout: Duration) throws(KafkaError) -> KafkaCluster {
    try handle.describeCluster(timeout)
  }

  /// The names of all topics, sorted, those that Kafka keeps for itself included.
  public func listTopics(timeout: Duration) throws(KafkaError) -> [String] {
    try describeCluster(timeout: timeout).topics.map(\.name).sorted()
  }

  /// These topics, in the order asked for. Asking does not make a topic: one that is not there is thrown as
  /// ``KafkaErrorCode/unknownTopicOrPartition``.
  public func describeTopics(_ names: [String], timeout: Duration) throws(KafkaError) -> [KafkaTopic] {
    let topics = try describeCluster(timeout: timeout).topics
    var described: [KafkaTopic] = []
    for name in names {
      guard let topic = topics.first(where: { $0.name == name }) else {
        throw KafkaError(
          code: .unknownTopicOrPartition, message: "there is no topic of that name, or it may not be described",
          operation: "describing the topic \(name)")
      }
      described.append(topic)
    }
    return described
  }

  /// The configuration of a topic in force, defaults included; sensitive values are left out, as brokers do not tell.
  public func describeTopicConfiguration(
    _ topic: String, timeout: Duration
  ) throws(KafkaError) -> [String: String] {
    try handle.describeTopicConfiguration(topic, timeout)
  }
}

/// A topic to be made.
public struct KafkaNewTopic: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// How many partitions.
  public var partitions: Int
  /// On how many brokers; `nil` is the cluster's default.
  public var replicas: Int?
  /// Its configuration, such as `cleanup.policy`.
  public var configuration: [String: String]

  /// States a topic.
  public init(name: String, partitions: Int, replicas: Int? = nil, configuration: [String: String] = [:]) {
    self.name = name
    self.partitions = partitions
    self.replicas = replicas
    self.configuration = configuration
  }
}

/// What became of a topic that was to be made.
public struct KafkaTopicResult: Sendable, Hashable {
  /// The topic's name.
  public var name: String
  /// Why it was not made; `nil` when it was.
  public var error: KafkaError?
}

/// A cluster as one of its brokers sees it.
public struct KafkaCluster: Sendable, Hashable {
  /// The brokers that are up.
  public var brokers: [KafkaBroker]
  /// The topics that may be described.
  public var topics: [KafkaTopic]
}

/// A broker.
public struct KafkaBroker: Sendable, Hashable {
  /// Its id.
  public var id: Int32
  /// Its host.
  public var host: String
  /// Its port.
  public var port: Int
}

/// A topic and its partitions.
public struct KafkaTopic: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// Its partitions, by number.
  public var partitions: [KafkaPartition]
  /// What is wrong with it at the moment, such as a missing leader.
  public var error: KafkaError?
}

/// A partition of a topic.
public struct KafkaPartition: Sendable, Hashable {
  /// Its number.
  public var id: Int32
  /// The broker that leads it; `nil` when none does.
  public var leader: Int32?
  /// On how many brokers it is.
  public var replicaCount: Int
  /// On how many of them it is up to date.
  public var inSyncReplicaCount: Int
}
