package import KafkaClient

/// The cluster of operation: Kafka, by librdkafka.
package final class RealCluster: Cluster {
  /// Makes a cluster that connects with the configuration of each client.
  package init() {}

  package func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    try KafkaConsumer(configuration, rebalanceListener: listener)
  }

  package func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    try KafkaProducer(configuration, queueFullTimeout: queueFullTimeout)
  }

  package func partitionCounts(
    of topics: [String], _ configuration: KafkaConfiguration
  ) throws(KafkaError) -> [Int32] {
    let found = try KafkaAdmin(configuration).describeTopics(topics, timeout: .seconds(30))
    return topics.map { name in Int32(found.first { $0.name == name }?.partitions.count ?? 0) }
  }
}

extension KafkaConsumer: ClusterConsumer {
  package func membership() throws(KafkaError) -> any GroupMembership { try groupMetadata() }
}

extension KafkaGroupMetadata: GroupMembership {}

extension KafkaProducer: ClusterProducer {
  package func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {
    guard let group = group as? KafkaGroupMetadata else {
      preconditionFailure("a producer takes the membership of a consumer of its own cluster")
    }
    try sendOffsetsToTransaction(positions, group: group, timeout: timeout)
  }
}
