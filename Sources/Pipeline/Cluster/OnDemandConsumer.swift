import KafkaClient

/// A consumer that a stage makes with its first question to the broker, beside the one that reads the stage's records. It
/// subscribes to nothing. Belongs to the stage's thread.
struct OnDemandConsumer {
  private let cluster: any Cluster
  private let configuration: KafkaConfiguration
  private var made: (any ClusterConsumer)?

  /// Notes how to make the consumer. Nothing is made yet.
  ///
  /// - Parameters:
  ///   - cluster: Makes the consumer.
  ///   - configuration: The consumer's properties.
  init(_ cluster: any Cluster, _ configuration: KafkaConfiguration) {
    self.cluster = cluster
    self.configuration = configuration
  }

  /// Returns the consumer, the same one until it is closed.
  ///
  /// - Throws: `KafkaError` for invalid properties.
  mutating func use() throws(KafkaError) -> any ClusterConsumer {
    if let made { return made }
    let consumer = try cluster.consumer(configuration, listener: nil)
    made = consumer
    return consumer
  }

  /// Closes the consumer, if there is one. The next use makes another.
  mutating func close() {
    made?.close(timeout: .seconds(2))
    made = nil
  }
}
