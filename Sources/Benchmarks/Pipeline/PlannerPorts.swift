import Installation
import KafkaClient
import Pipeline
import Planning

/// The Kafka clients and the recorders that a benchmark's planner threads use. A mode of the benchmark differs from
/// `rouse run` in these only.
struct PlannerPorts {
  /// The factory of the threads' Kafka clients.
  var cluster: any Cluster = RealCluster()
  /// Makes the recorder of each planner, which encodes its output.
  var makeRecorder: () -> any PlannerRecorder = { CountingRecorder(JSONRecorder()) }

  /// Returns the clients and recorders of a mode.
  ///
  /// - Parameters:
  ///   - mode: The mode of the round.
  ///   - counters: The counters of the round.
  static func of(_ mode: PipelineBenchmarkMode, counters: PipelineCounters) -> PlannerPorts {
    switch mode {
    case .transactional, .passthrough: PlannerPorts()
    case .unobserved: PlannerPorts(makeRecorder: { JSONRecorder() })
    case .observed: PlannerPorts(cluster: RealCluster(.planner, counters))
    case .idempotent: PlannerPorts(cluster: IdempotentCluster())
    case .unlogged: PlannerPorts(makeRecorder: { CountingRecorder(UnloggedRecorder(counters: counters)) })
    }
  }
}

/// Counts decisions instead of writing them, to measure the cost of the decision log.
private struct UnloggedRecorder: PlannerRecorder {
  let counters: PipelineCounters
  private var written = JSONRecorder()

  init(counters: PipelineCounters) { self.counters = counters }

  mutating func recordDecisions(_ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch) {
    counters.add(.decisions, output.decisionCount)
  }

  mutating func recordCommands(_ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch) {
    written.recordCommands(output, by: planner, into: &batch)
  }
}

/// A cluster whose transactional producers are only idempotent, to measure the cost of transactions. Commits are not atomic.
private final class IdempotentCluster: Cluster {
  private let cluster = RealCluster()

  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    try cluster.consumer(configuration, listener: listener)
  }

  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    var plain = configuration
    plain["transactional.id"] = nil
    plain["transaction.timeout.ms"] = nil
    return IdempotentProducer(try cluster.producer(plain, queueFullTimeout: queueFullTimeout))
  }

  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32] {
    try cluster.partitionCounts(of: topics, configuration)
  }
}

/// A producer without transactions: a commit waits until everything is delivered.
private final class IdempotentProducer: ClusterProducer {
  private let producer: any ClusterProducer

  init(_ producer: any ClusterProducer) { self.producer = producer }

  var counts: KafkaDeliveryCounts { producer.counts }

  func send(_ record: KafkaRecord) throws(KafkaError) { try producer.send(record) }

  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    try producer.send(topic: topic, partition: partition, key: key, value: value)
  }

  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    try producer.send(topic: topic, partition: partition, removing: key)
  }

  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError) {
    try producer.send(topic: topic, partition: partition, records: records, in: bytes)
  }

  func send(topic: String, partition: Int32, value: Span<UInt8>, headers: [KafkaHeader]) throws(KafkaError) {
    try producer.send(topic: topic, partition: partition, value: value, headers: headers)
  }

  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64
  ) throws(KafkaError) {
    try producer.send(topic: topic, partition: partition, records: records, in: bytes, tag: tag)
  }

  func inFlight(tag: UInt64) -> UInt64 { producer.inFlight(tag: tag) }
  func poll(timeout: Duration) throws(KafkaError) { try producer.poll(timeout: timeout) }
  func flush(timeout: Duration) throws(KafkaError) -> Bool { try producer.flush(timeout: timeout) }
  func takeDeliveryFailures() -> [KafkaDeliveryFailure] { producer.takeDeliveryFailures() }
  func initTransactions(timeout: Duration) throws(KafkaError) {}
  func beginTransaction() throws(KafkaError) {}
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {}
  func abortTransaction(timeout: Duration) throws(KafkaError) {}

  func commitTransaction(timeout: Duration) throws(KafkaError) {
    guard try producer.flush(timeout: timeout) else {
      throw KafkaError(
        code: .timedOut, message: "the broker did not confirm in time", operation: "flushing", isRetriable: true)
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }
}
