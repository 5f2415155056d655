/// A client that creates, deletes and describes topics, and describes the cluster. Use it on one thread; each call waits for
/// its answer.
public final class KafkaAdmin {
  private let handle: AdminHandle

  /// Makes a client, which connects in the background.
  /// - Parameters:
  ///   - configuration: librdkafka's properties.
  ///   - logSink: Receives librdkafka's log; without it nothing is logged.
  /// - Throws: A ``KafkaError`` that names the property which librdkafka refuses.
  public init(_ configuration: KafkaConfiguration, logSink: KafkaLogSink? = nil) throws(KafkaError) {
    handle = try AdminHandle(configuration, callbacks: ClientCallbacks(logSink: logSink))
  }

  /// Creates topics.
  /// - Parameters:
  ///   - topics: The topics to create.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The result for each topic, in order. A topic that exists has ``KafkaErrorCode/topicExists``.
  /// - Throws: A ``KafkaError`` if the request itself fails; some of the topics may have been created nevertheless.
  public func createTopics(_ topics: [KafkaNewTopic], timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    guard !topics.isEmpty else { return [] }
    if let bad = topics.first(where: { $0.name.isEmpty || $0.partitions < 1 }) {
      throw KafkaError(
        code: .invalidArgument, message: "a topic needs a name and at least one partition",
        operation: "creating the topic \"\(bad.name)\" with \(bad.partitions) partitions", isRetriable: false)
    }
    return try handle.createTopics(topics, timeout)
  }

  /// Deletes topics with all their records.
  /// - Parameters:
  ///   - topics: The names of the topics.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The result for each topic, in order.
  /// - Throws: A ``KafkaError`` if the request itself fails; some of the topics may have been deleted nevertheless.
  public func deleteTopics(_ topics: [String], timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    guard !topics.isEmpty else { return [] }
    return try handle.deleteTopics(topics, timeout)
  }

  /// Asks for the brokers and all topics.
  /// - Parameter timeout: The longest wait for the answer.
  /// - Returns: The cluster as the broker that answered sees it.
  /// - Throws: A ``KafkaError``; ``KafkaErrorCode/timedOut`` when no broker answered in time.
  public func describeCluster(timeout: Duration) throws(KafkaError) -> KafkaCluster {
    try handle.describeCluster(timeout)
  }

  /// Asks for some topics. Asking never creates a topic.
  /// - Parameters:
  ///   - names: The names of the topics.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The topics, in the order of `names`.
  /// - Throws: A ``KafkaError`` with ``KafkaErrorCode/unknownTopicOrPartition`` for the first topic that does not exist.
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

  /// Asks for the configuration that is in force for a topic, defaults included.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - timeout: The longest wait for the answer.
  /// - Returns: The values by property. Sensitive properties are left out, because brokers do not report their values.
  /// - Throws: A ``KafkaError``, for example because the topic does not exist.
  public func describeTopicConfiguration(
    _ topic: String, timeout: Duration
  ) throws(KafkaError) -> [String: String] {
    try handle.describeTopicConfiguration(topic, timeout)
  }
}
