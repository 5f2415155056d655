import KafkaClient
import Logging
import Policies
import Testing

@testable import Pipeline

@Suite("a batch that cannot be unpacked")
struct UnreadableBatchesTests {
  private let cluster = ScriptedCluster(partitions: 2)
  private let counters = PipelineCounters()
  private let log = CriticalLog()
  private let settings = {
    var settings = PipelineSettings(
      kafka: ["bootstrap.servers": "none"], topics: TopicNames(prefix: "u."), eventTopics: ["u.events"], group: "u",
      instance: "test")
    settings.intake.plannerLagMax = 0
    return settings
  }()

  /// Lets each poll bring the errors that librdkafka repeats: two batches of one partition, and an error of another kind.
  private func script() {
    let events = [1, 1, 7].map { (offset: Int64) -> KafkaEvent in
      let partition = KafkaTopicPartition(topic: "u.t", partition: 3)
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
    #expect(counters[.unreadableBatches] == 2)
    #expect(log.lines.count == 2, "\(log.lines)")
    for (line, offset) in zip(log.lines, [1, 7]) {
      #expect(line.contains("offset=\(offset) partition=3 topic=u.t"), "\(line)")
    }
  }

  @Test("intake logs it once, as critical")
  func intake() throws {
    script()
    let intake = Intake(
      settings: settings, stop: StopSignal(), counters: counters, logger: log.logger, cluster: cluster,
      clock: SteppedClock())
    defer { intake.end() }
    try intake.start()
    for _ in 0..<3 { try intake.workOnce() }
    expectToldOnce()
  }

  @Test("a planner logs it once, as critical")
  func planner() throws {
    script()
    let worker = PlannerWorker(
      settings: settings, number: 0, initialPolicy: .none, stop: StopSignal(), counters: counters, logger: log.logger,
      cluster: cluster, clock: SteppedClock(), store: nil)
    defer { worker.end() }
    try worker.start()
    for _ in 0..<3 { try worker.workOnce() }
    expectToldOnce()
  }

  @Test("the audit feed logs it once, as critical")
  func audit() throws {
    script()
    let feed = AuditFeed(
      settings: settings, sink: EmptySink(), stop: StopSignal(), counters: counters, logger: log.logger,
      longRefusal: .seconds(60), cluster: cluster, clock: SteppedClock())
    defer { feed.end() }
    try feed.start()
    for _ in 0..<3 { try feed.workOnce() }
    expectToldOnce()
  }
}

/// A store that gets nothing.
private final class EmptySink: DecisionSink {
  func positions() throws -> [AuditPosition] { [] }
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {}
  func idle() throws {}
}
