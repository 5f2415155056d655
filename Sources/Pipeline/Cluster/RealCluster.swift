import Foundation
import KafkaClient

/// The cluster of operation: Kafka, through KafkaClient.
final class KafkaCluster: Cluster {
  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    try KafkaConsumer(configuration, rebalanceListener: listener)
  }

  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    try KafkaProducer(configuration, queueFullTimeout: queueFullTimeout)
  }

  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32] {
    let found = try KafkaAdmin(configuration).describeTopics(topics, timeout: .seconds(30))
    return topics.map { name in Int32(found.first { $0.name == name }?.partitions.count ?? 0) }
  }
}

extension KafkaConsumer: ClusterConsumer {
  func membership() throws(KafkaError) -> any GroupMembership { try groupMetadata() }
}

extension KafkaGroupMetadata: GroupMembership {}

extension KafkaProducer: ClusterProducer {
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {
    guard let group = group as? KafkaGroupMetadata else {
      preconditionFailure("a producer takes the membership of a consumer of its own cluster")
    }
    try sendOffsetsToTransaction(positions, group: group, timeout: timeout)
  }
}

/// The machine's clocks.
final class SystemClock: StageClock {
  private let start = ContinuousClock.now

  var elapsed: Duration { ContinuousClock.now - start }
  var wallMicroseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: Double(duration.milliseconds) / 1000) }
}
