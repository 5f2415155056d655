import Domain
import Foundation
import InMemoryLogging
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
    /// Decisions that are refused for their content.
    var unwanted: Set<Identifier> = []
    private(set) var holes: [AuditFeedHole] = []
    private(set) var calls = 0
    /// Is raised after many calls, so that a feed that never gives up ends.
    var stop: StopSignal?

    private struct Refused: Error {}

    func positions() throws -> [AuditPosition] { known }

    func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
      guard refusals == 0 else {
        refusals -= 1
        throw Refused()
      }
      calls += 1
      if calls > 200 { stop?.ask() }
      for case .decision(let decision) in batch.map(\.content) where unwanted.contains(decision.decision) {
        throw RecordRefusal(reason: "not \(decision.decision)")
      }
      for record in batch { if case .decision(let decision) = record.content { ids.append(decision.decision) } }
      known.removeAll { old in positions.contains { $0.topic == old.topic && $0.partition == old.partition } }
      known += positions
    }

    func note(_ hole: AuditFeedHole, positions: [AuditPosition]) throws {
      holes.append(hole)
      try store([], positions: positions)
    }

    func idle() throws {}
  }

  private static func decision(_ id: Identifier) -> Decision {
    Decision(
      decision: id, event: "e", events: ["e"], device: "d", instance: "w", kind: "K", surface: .widget,
      verdict: .suppress, reason: .cosmetic, final: true, at: Timestamp(microseconds: 0), relevance: 0, wrong: 0,
      looks: 0, value: 0, price: 0, tokensLeft: Decision.TokensLeft(),
      policy: PolicyReference(version: "1", hash: "0123456789abcdef"))
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
      #expect(try producer.flush(timeout: .seconds(60)))
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

  @Test("a record that the store refuses for its content is set aside after three refusals, and all others are stored")
  func setAside() throws {
    let broker = try EmbeddedBroker()
    let settings = PipelineSettings(
      kafka: ["bootstrap.servers": broker.bootstrapServers, "fetch.wait.max.ms": "20"], eventTopics: ["events"],
      instance: "test")
    for name in [settings.topics.decisions, settings.topics.commands] { try broker.createTopic(name, partitions: 1) }
    let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
    for number in 0..<20 {
      try producer.send(
        topic: settings.topics.decisions, partition: 0, key: Array("d".utf8),
        value: Self.decision("d-0-\(number)-0").json())
    }
    #expect(try producer.flush(timeout: .seconds(60)))
    let sink = Kept()
    sink.unwanted = ["d-0-3-0", "d-0-19-0"]
    let stop = StopSignal()
    sink.stop = stop
    let (counters, log) = (PipelineCounters(), InMemoryLogHandler())
    let feed = AuditFeed(
      settings: settings, sink: sink, stop: stop, counters: counters, logger: log.logger, longRefusal: .seconds(60),
      clock: SteppedClock())
    try feed.start()
    for _ in 0..<300 where !stop.isAsked && sink.ids.count + sink.holes.count < 20 { try feed.workOnce() }
    feed.end()
    #expect(!stop.isAsked)
    #expect(sink.ids == (0..<20).map { "d-0-\($0)-0" }.filter { !sink.unwanted.contains($0) })
    #expect(
      sink.holes
        == [3, 19].map {
          AuditFeedHole(
            topic: .decisions, partition: 0, first: $0, next: $0 + 1, cause: .refused, reason: "not d-0-\($0)-0")
        })
    #expect(try sink.positions().first { $0.topic == .decisions }?.next == 20)
    #expect(counters[.auditSetAside] == 2 && counters[.auditedDecisions] == 18)
    #expect(log.criticalLines.count == 2 && log.criticalLines.allSatisfy { $0.contains("place=rouse.decisions[0]@") })
  }
}
