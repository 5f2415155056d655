package import KafkaClient

/// The real Kafka cluster, through librdkafka.
package final class RealCluster: Cluster {
  /// The number of failed deliveries that a producer keeps for its caller: as many as librdkafka queues by default,
  /// because one bad record fails its whole batch.
  private static let failuresMax = 100_000

  /// Returns the receiver of the statistics of a further client; nil if nothing reads them.
  private let statistics: (@Sendable (ClientSort) -> KafkaStatisticsSink)?

  /// The sort of a client.
  package enum ClientSort: String, Sendable { case consumer, producer }

  /// Makes the cluster. It connects to nothing; each client connects with its own configuration.
  package init() { statistics = nil }

  /// Makes the cluster with statistics. Clients whose configuration has an interval of statistics give them to the receiver.
  ///
  /// - Parameter statistics: Returns the receiver for a client of a sort.
  package init(statistics: @escaping @Sendable (ClientSort) -> KafkaStatisticsSink) { self.statistics = statistics }

  private func sink(_ sort: ClientSort, _ configuration: KafkaConfiguration) -> KafkaStatisticsSink? {
    guard let statistics, configuration["statistics.interval.ms"] != nil else { return nil }
    return statistics(sort)
  }

  /// Makes a `KafkaConsumer`.
  ///
  /// - Throws: `KafkaError` for invalid properties.
  package func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    try KafkaConsumer(
      configuration, rebalanceListener: listener, statisticsSink: sink(.consumer, configuration))
  }

  /// Makes a `KafkaProducer`.
  ///
  /// - Throws: `KafkaError` for invalid properties.
  package func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    try KafkaProducer(
      configuration, queueFullTimeout: queueFullTimeout, failuresMax: Self.failuresMax,
      statisticsSink: sink(.producer, configuration))
  }

  /// Asks the broker for the number of partitions of each topic.
  ///
  /// - Throws: `KafkaError` if the broker does not answer within half a minute.
  package func partitionCounts(
    of topics: [String], _ configuration: KafkaConfiguration
  ) throws(KafkaError) -> [Int32] {
    let found = try KafkaAdmin(configuration).describeTopics(topics, timeout: .seconds(30))
    return topics.map { name in Int32(found.first { $0.name == name }?.partitions.count ?? 0) }
  }
}

extension KafkaConsumer: ClusterConsumer {
  /// Returns the group metadata of the consumer.
  ///
  /// - Throws: `KafkaError` if the group has expelled the member.
  package func membership() throws(KafkaError) -> any GroupMembership { try groupMetadata() }
}

extension KafkaGroupMetadata: GroupMembership {}

extension KafkaProducer: ClusterProducer {
  /// Queues a record without a key.
  ///
  /// - Throws: `KafkaError` if the record is refused.
  package func send(
    topic: String, partition: Int32, value: Span<UInt8>, headers: [KafkaHeader]
  ) throws(KafkaError) {
    try send(topic: topic, partition: partition, key: nil, value: value, headers: headers)
  }

  /// Makes the commit of consumer offsets a part of the open transaction.
  ///
  /// - Parameters:
  ///   - positions: The offsets.
  ///   - group: The group metadata of a `KafkaConsumer`.
  ///   - timeout: The longest wait.
  /// - Throws: `KafkaError` if the group refuses the member, among others.
  package func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {
    guard let group = group as? KafkaGroupMetadata else {
      preconditionFailure("a producer takes the membership of a consumer of its own cluster")
    }
    try sendOffsetsToTransaction(positions, group: group, timeout: timeout)
  }
}
