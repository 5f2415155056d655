import Domain
import Foundation
import KafkaClient
import Logging
import Testing

@testable import Pipeline

/// The position of the audit feed after a restart, on the embedded broker. `SimulatedPipelineTests` covers its failures.
@Suite struct AuditFeedPositionTests {
  /// A store in memory.
  private final class Kept: DecisionSink {
    private(set) var ids: [Identifier] = []
    private var known: [AuditPosition] = []
    var refusals = 0

    private struct Refused: Error {}

    func positions() throws -> [AuditPosition] { known }

    func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
      guard refusals == 0 else {
        refusals -= 1
        throw Refused()
      }
      for record in batch { if case .decision(let decision) = record.content { ids.append(decision.decision) } }
      known.removeAll { old in positions.contains { $0.topic == old.topic && $0.partition == old.partition } }
      known += positions
    }

    func idle() throws {}
  }

  private static func decision(_ id: Identifier) -> Decision {
    Decision(
      decision: id, event: "e", events: ["e"], device: "d", instance: "w", kind: "K", surface: .widget,
      verdict: .suppress, reason: .cosmetic, final: true, at: Timestamp(microseconds: 0), relevance: 0, value: 0,
      price: 0, tokensLeft: Decision.TokensLeft(), policy: PolicyReference(version: "1", hash: "0123456789abcdef"))
  }

  @Test("the feed continues at the position of the store, and keeps records that the store refuses")
  func goesOn() throws {
    let broker = try EmbeddedBroker()
    let settings = PipelineSettings(
      kafka: ["bootstrap.servers": broker.bootstrapServers, "fetch.wait.max.ms": "20"], eventTopics: ["events"],
      instance: "test")
    for name in [settings.topics.decisions, settings.topics.commands] { try broker.createTopic(name, partitions: 2) }
    let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
    let sink = Kept()
    let counters = PipelineCounters()
    var expected: Set<Identifier> = []
    for round in 0..<2 {
      for i in 0..<10 {
        let id: Identifier = "d-\(i % 2)-\(round)-\(i)"
        expected.insert(id)
        try producer.send(
          topic: settings.topics.decisions, partition: Int32(i % 2), key: Array("d".utf8),
          value: Self.decision(id).json())
      }
      try producer.send(
        topic: settings.topics.decisions, partition: 0, key: Array("d".utf8), value: Array("not JSON".utf8))
      #expect(try producer.flush(timeout: .seconds(10)))
      sink.refusals = 2
      let feed = AuditFeed(
        settings: settings, sink: sink, stop: StopSignal(), counters: counters,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, longRefusal: .seconds(60))
      try feed.start()
      for _ in 0..<300 where sink.ids.count < expected.count { try feed.workOnce() }
      feed.end()
      #expect(sink.ids.count == expected.count && Set(sink.ids) == expected)
    }
    #expect(counters[.auditedDecisions] == 20 && counters[.auditRetries] == 4)
  }
}
