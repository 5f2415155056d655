import Foundation
import KafkaClient

@testable import Installation
@testable import Pipeline

/// One implementation of `Cluster` for the contract suite, with topics and clients.
final class ContractGround {
  enum Kind: String, CaseIterable, CustomStringConvertible {
    case simulated, embedded, real
    var description: String { rawValue }

    /// The implementations that can be tested here; the real one if `ROUSE_TEST_BOOTSTRAP=host:port` is set.
    static let atHand = allCases.filter { $0 != .real || bootstrap != nil }
    /// The implementations that isolate transactions and fence producers. The embedded broker does neither.
    static let isolating = atHand.filter { $0 != .embedded }
    fileprivate static let bootstrap = ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"]
  }

  let kind: Kind
  let cluster: any Cluster
  private let broker: SimulatedBroker?
  private let embedded: EmbeddedBroker?
  private let base: KafkaConfiguration
  /// The prefix of all names, unique on a broker that others use.
  let prefix: String
  var servers: String { base["bootstrap.servers"] ?? "" }
  /// The longest wait, in polls of 50 ms.
  private static let pollsMax = 3000

  init(_ kind: Kind) throws {
    self.kind = kind
    switch kind {
    case .simulated:
      let broker = SimulatedBroker()
      self.broker = broker
      embedded = nil
      cluster = SimulatedProcess(name: "contract", broker: broker)
      base = [:]
      prefix = "contract."
    case .embedded:
      let embedded = try EmbeddedBroker()
      self.embedded = embedded
      broker = nil
      cluster = RealCluster()
      base = ["bootstrap.servers": embedded.bootstrapServers]
      prefix = "contract."
    case .real:
      broker = nil
      embedded = nil
      cluster = RealCluster()
      base = ["bootstrap.servers": Kind.bootstrap ?? ""]
      prefix = "contract\(UInt32.random(in: 0 ..< .max))."
    }
  }

  func topic(_ name: String, partitions: Int = 1) throws -> String {
    let name = prefix + name
    switch kind {
    case .simulated: broker?.createTopic(name, partitions: partitions)
    case .embedded: try embedded?.createTopic(name, partitions: partitions)
    case .real:
      let plan = TopicPlan(topics: [KafkaNewTopic(name: name, partitions: partitions, replicas: 1)])
      for outcome in try plan.create(KafkaAdmin(base)) { if let error = outcome.error { throw error } }
    }
    return name
  }

  func producer(_ more: KafkaConfiguration = [:]) throws -> any ClusterProducer {
    let mine: KafkaConfiguration = ["enable.idempotence": "true", "linger.ms": "1"]
    return try cluster.producer(base.merging(mine).merging(more), queueFullTimeout: .seconds(5))
  }

  func transactional(_ id: String) throws -> any ClusterProducer {
    let producer = try producer(["transactional.id": prefix + id, "transaction.timeout.ms": "20000"])
    try retrying(clock: clock) { () throws(KafkaError) in try producer.initTransactions(timeout: .seconds(20)) }
    return producer
  }

  func consumer(
    _ more: KafkaConfiguration = [:], listener: (any KafkaRebalanceListener)? = nil
  ) throws -> any ClusterConsumer {
    let mine: KafkaConfiguration = [
      "group.id": prefix + "readers", "isolation.level": "read_committed", "enable.auto.commit": "false",
      "auto.offset.reset": "earliest", "enable.partition.eof": "true", "fetch.wait.max.ms": "20",
      "session.timeout.ms": "6000", "heartbeat.interval.ms": "300",
      "partition.assignment.strategy": "cooperative-sticky",
    ]
    return try cluster.consumer(base.merging(mine).merging(more), listener: listener)
  }

  /// Makes a consumer of partition 0, from its beginning.
  func reader(of topic: String, _ more: KafkaConfiguration = [:]) throws -> any ClusterConsumer {
    let consumer = try consumer(more)
    try consumer.incrementalAssign([KafkaTopicPartition(topic: topic, partition: 0): .beginning])
    return consumer
  }

  var clock: any StageClock {
    guard let process = cluster as? SimulatedProcess else { return SystemClock() }
    return SimulatedClock(process: process)
  }

  /// Polls the consumers in turn until the condition holds.
  ///
  /// - Returns: Whether it held in time.
  func poll(
    _ consumers: any ClusterConsumer..., max: Int = 100, until condition: (KafkaBatch) throws -> Bool
  ) throws -> Bool {
    for turn in 0..<Self.pollsMax {
      let batch = try consumers[turn % consumers.count].poll(maxMessages: max, timeout: .milliseconds(50))
      if try condition(batch) { return true }
    }
    return false
  }

  /// Returns the values that a reader gets of partition 0, up to its end.
  func values(_ topic: String, _ more: KafkaConfiguration = [:]) throws -> [String] {
    let consumer = try reader(of: topic, more)
    defer { consumer.close(timeout: .seconds(2)) }
    var values: [String] = []
    _ = try poll(consumer) { batch in
      values += batch.messages.map { String(decoding: $0.value ?? [], as: UTF8.self) }
      return batch.hasEnd
    }
    return values
  }
}

extension KafkaBatch {
  /// Whether the batch reports the end of a partition.
  var hasEnd: Bool { events.contains { if case .partitionEnd = $0 { true } else { false } } }
}

extension ClusterProducer {
  func send(_ topic: String, _ value: String, partition: Int32? = 0) throws {
    try send(KafkaRecord(topic: topic, partition: partition, key: Array("k".utf8), value: Array(value.utf8)))
  }

  func flushAll() throws {
    for _ in 0..<20 { if try flush(timeout: .seconds(1)) { return } }
    throw KafkaError(code: .timedOut, message: "not delivered", operation: "flushing")
  }
}
