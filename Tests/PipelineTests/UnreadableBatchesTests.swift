import Domain
import KafkaClient
import Planning
import Policies
import Testing

@testable import Installation
@testable import Pipeline

@Suite("a batch that cannot be unpacked")
struct UnreadableBatchesTests {
  private let stage = ScriptedStage(partitions: 2)
  private var cluster: ScriptedCluster { stage.cluster }

  /// Lets each poll bring the errors that librdkafka repeats: two batches of one partition, and an error of another kind.
  private func script() {
    let events = [1, 1, 7].map { (offset: Int64) -> KafkaEvent in
      let partition = KafkaTopicPartition(topic: "r.t", partition: 3)
      return .error(
        KafkaError(
          code: .badCompression, message: "bad", operation: "consuming",
          position: KafkaPosition(partition, offset: offset)))
    }
    let other = KafkaEvent.error(KafkaError(code: .transportFailed, message: "gone", operation: "consuming"))
    cluster.batches = Array(repeating: KafkaBatch(events: events + [other]), count: 3)
  }

  private func expectToldOnce() {
    #expect(cluster.batches.isEmpty)
    #expect(stage.counters[.unreadableBatches] == 2)
    let lines = stage.log.criticalLines
    #expect(lines.count == 2, "\(lines)")
    for (line, offset) in zip(lines, [1, 7]) {
      #expect(line.contains("offset=\(offset) partition=3 topic=r.t"), "\(line)")
    }
  }

  @Test("intake logs it once, as critical")
  func intake() throws {
    script()
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    for _ in 0..<3 { try intake.workOnce() }
    expectToldOnce()
  }

  @Test("a planner logs it once, as critical")
  func planner() throws {
    script()
    let worker = PlannerWorker(
      settings: stage.settings, number: 0, initialPolicy: .none, stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger,
      cluster: cluster, clock: SteppedClock(), store: nil)
    defer { worker.end() }
    try worker.start()
    for _ in 0..<3 { try worker.workOnce() }
    expectToldOnce()
  }

  @Test("a batch of the state is logged once, as critical, with advice that leads on: `rouse skip` refuses it")
  func state() throws {
    let topic = stage.settings.topics.state
    let place = KafkaPosition(KafkaTopicPartition(topic: topic, partition: 0), offset: 4)
    let batch = KafkaEvent.error(
      KafkaError(code: .badCompression, message: "bad", operation: "consuming", position: place))
    cluster.stored = [KafkaMessage(topic: topic, partition: 0, offset: 4, key: [0], value: [0])]
    cluster.batches = Array(repeating: KafkaBatch(events: [batch]), count: 3)
    let clock = SteppedClock()
    let reader = StateReader(
      settings: stage.settings, cluster: cluster, clock: clock, store: nil,
      report: PlannerReport(logger: stage.log.logger, counters: stage.counters, clock: clock))
    defer { reader.close() }
    try reader.begin(
      PartitionRestore(partition: 0, at: .zero) { PlannerRestore(partition: 0, partitionCount: 2) })
    for _ in 0..<3 { #expect(try reader.step(timeout: .zero).isEmpty) }
    #expect(cluster.batches.isEmpty)
    #expect(stage.counters[.unreadableBatches] == 1)
    let lines = stage.log.criticalLines
    #expect(lines.count == 1, "\(lines)")
    #expect(lines.first?.contains("create rouse.state again") == true, "\(lines)")
    #expect(lines.first?.contains("rouse skip") == false, "\(lines)")
    #expect(lines.first?.contains("offset=4 partition=0 topic=\(topic)") == true, "\(lines)")
  }

  @Test("the audit feed logs it once, as critical")
  func audit() throws {
    script()
    let feed = AuditFeed(
      settings: stage.settings, sink: EmptySink(), stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger,
      longRefusal: .seconds(60), cluster: cluster, clock: SteppedClock())
    defer { feed.end() }
    try feed.start()
    for _ in 0..<3 { try feed.workOnce() }
    expectToldOnce()
  }
}

/// A store that gets nothing.
final class EmptySink: DecisionSink {
  func positions() throws -> [AuditPosition] { [] }
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {}
  func idle() throws {}
}
