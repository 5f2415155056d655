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
