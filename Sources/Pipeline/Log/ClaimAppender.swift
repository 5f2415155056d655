import Domain
import Installation
import KafkaClient

/// Appends claims to tokens to the log, for the planners of the other partitions.
///
/// At least once: the claims that follow from a record are delivered before the transaction that contains the record is committed.
/// After an abort the record is planned again and its claims are appended again, which changes nothing.
final class ClaimAppender {
  private let settings: PipelineSettings
  private let cluster: any Cluster
  private var producer: (any ClusterProducer)?
  /// The claims that are not delivered yet, by the partition of their device.
  private var waiting: [Int32: [TokenClaim]] = [:]
  /// The number of claims at which they are delivered without waiting for a commit.
  private static let waitingMax = 4096
  private static let deliveryTimeout = Duration.seconds(10)
  private var count = 0

  /// Makes an appender. Its producer is made with the first claim.
  ///
  /// - Parameters:
  ///   - settings: The log, and how to reach Kafka.
  ///   - cluster: Makes the producer.
  init(settings: PipelineSettings, cluster: any Cluster) {
    self.settings = settings
    self.cluster = cluster
  }

  /// Whether so many claims wait that they should be delivered now.
  var isFull: Bool { count >= Self.waitingMax }

  /// Adds claims.
  ///
  /// - Parameters:
  ///   - claims: The claims.
  ///   - partition: The log partition of their devices.
  func add(_ claims: [TokenClaim], of partition: Int32) {
    waiting[partition, default: []] += claims
    count += claims.count
  }

  /// Forgets the claims that wait, because what they follow from was aborted.
  func removeAll() {
    waiting = [:]
    count = 0
  }

  /// Appends the claims that wait to all other partitions, and waits for their delivery.
  ///
  /// - Parameter partitions: The number of partitions of the log.
  /// - Throws: `KafkaError` if one was not delivered; the producer is replaced for the next claim.
  func deliver(partitions: Int32) throws(KafkaError) {
    guard count > 0 else { return }
    do throws(KafkaError) {
      let producer: any ClusterProducer
      if let known = self.producer { producer = known } else { producer = try make() }
      self.producer = producer
      for (own, claims) in waiting.sorted(by: { $0.key < $1.key }) {
        try send(claims, of: own, partitions: partitions, producer)
      }
      let isFlushed = try producer.flush(timeout: Self.deliveryTimeout)
      if let failure = producer.takeDeliveryFailures().first { throw failure.error }
      guard isFlushed else {
        throw KafkaError(
          code: .messageTimedOut, message: "not delivered within \(Self.deliveryTimeout)",
          operation: "appending claims to tokens to \(settings.topics.log)", isRetriable: true)
      }
    } catch {
      producer = nil
      throw error
    }
    removeAll()
  }

  private func send(
    _ claims: [TokenClaim], of own: Int32, partitions: Int32, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    for start in stride(from: 0, to: claims.count, by: TokenClaim.perRecordMax) {
      var bytes: [UInt8] = []
      let part = Array(claims[start..<min(claims.count, start + TokenClaim.perRecordMax)])
      LogRecord(origin: nil, content: .claims(part)).encode(into: &bytes)
      // With the time of events as log time, the claim has the time of its registration. The wall clock would be far ahead of a past
      // that is replayed.
      let time = settings.timestamps == .event ? part.lazy.map { max(1, $0.updatedAt.milliseconds) }.min() : nil
      for partition in 0..<partitions where partition != own {
        try producer.send(
          KafkaRecord(
            topic: settings.topics.log, partition: partition, key: nil, value: bytes, timestampMilliseconds: time))
      }
    }
  }

  private func make() throws(KafkaError) -> any ClusterProducer {
    try cluster.producer(
      settings.client(["enable.idempotence": "true"], defaults: ["linger.ms": "0", "compression.type": "lz4"]),
      queueFullTimeout: .seconds(10))
  }
}
