/// A cluster as one of its brokers sees it.
public struct KafkaCluster: Sendable, Hashable {
  /// The brokers that are up.
  public var brokers: [KafkaBroker]
  /// The topics that this client may describe.
  public var topics: [KafkaTopic]
}

/// A broker of a cluster.
public struct KafkaBroker: Sendable, Hashable {
  /// The broker's id.
  public var id: Int32
  /// The host that clients connect to.
  public var host: String
  /// The port that clients connect to.
  public var port: Int
}

/// A topic and its partitions.
public struct KafkaTopic: Sendable, Hashable {
  /// The topic's name.
  public var name: String
  /// The topic's partitions, by number.
  public var partitions: [KafkaPartition]
  /// The topic's present problem, such as a missing leader; `nil` when there is none.
  public var error: KafkaError?
}

/// A partition of a topic.
public struct KafkaPartition: Sendable, Hashable {
  /// The partition's number, from 0.
  public var id: Int32
  /// The id of the broker that leads the partition; `nil` when none does.
  public var leader: Int32?
  /// The number of brokers that hold a copy.
  public var replicaCount: Int
  /// The number of copies that are up to date.
  public var inSyncReplicaCount: Int
}

/// A topic to be created.
public struct KafkaNewTopic: Sendable, Hashable {
  /// The topic's name.
  public var name: String
  /// The number of partitions, from 1.
  public var partitions: Int
  /// The number of brokers that hold a copy of each partition; `nil` is the cluster's default.
  public var replicas: Int?
  /// The topic's configuration, such as `cleanup.policy`.
  public var configuration: [String: String]

  /// Makes the description of a topic, which creates nothing yet.
  /// - Parameters:
  ///   - name: The topic's name.
  ///   - partitions: The number of partitions, from 1.
  ///   - replicas: The number of copies; `nil` is the cluster's default.
  ///   - configuration: The topic's configuration; the broker checks it.
  public init(name: String, partitions: Int, replicas: Int? = nil, configuration: [String: String] = [:]) {
    self.name = name
    self.partitions = partitions
    self.replicas = replicas
    self.configuration = configuration
  }
}

/// The result of creating or deleting one topic.
public struct KafkaTopicResult: Sendable, Hashable {
  /// The topic's name.
  public var name: String
  /// The reason of the failure; `nil` when the topic was created or deleted.
  public var error: KafkaError?
}
