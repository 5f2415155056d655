import Installation
import KafkaClient

/// A second consumer of a stage, for questions to the broker beside the reading of records. It is made with the first
/// question and subscribes to nothing. Belongs to the stage's thread.
struct OnDemandConsumer {
  private let cluster: any Cluster
  private let configuration: KafkaConfiguration
  private var made: (any ClusterConsumer)?

  /// Stores how to make the consumer, without making it.
  ///
  /// - Parameters:
  ///   - cluster: Makes the consumer.
  ///   - configuration: The consumer's properties.
  init(_ cluster: any Cluster, _ configuration: KafkaConfiguration) {
    self.cluster = cluster
    self.configuration = configuration
  }

  /// Returns the consumer. The first call makes it; later calls return that consumer until it is closed.
  ///
  /// - Throws: `KafkaError` for invalid properties.
  mutating func use() throws(KafkaError) -> any ClusterConsumer {
    if let made { return made }
    let consumer = try cluster.consumer(configuration, listener: nil)
    made = consumer
    return consumer
  }

  /// Returns the error that says that the principal lacks a permission, if that is why a question was not answered. librdkafka
  /// reports it as an event, and lets the question time out. Only for a consumer that is assigned nothing.
  ///
  /// - Throws: `KafkaError` if the consumer cannot be polled.
  func missingPermission() throws(KafkaError) -> KafkaError? {
    guard let made else { return nil }
    for case .error(let error) in try made.poll(maxMessages: 1, timeout: .zero).events
    where error.code.refusesPrincipal { return error }
    return nil
  }

  /// Closes the consumer, if there is one. The next call of `use` makes a new one.
  mutating func close() {
    made?.close(timeout: .seconds(2))
    made = nil
  }
}
