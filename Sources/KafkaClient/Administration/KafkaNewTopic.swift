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
