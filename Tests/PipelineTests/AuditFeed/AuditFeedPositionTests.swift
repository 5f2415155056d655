import Domain
import Foundation
import InMemoryLogging
import KafkaClient
import Logging
import Observing
import Testing

@testable import Installation
@testable import Pipeline

/// The position of the audit feed after a restart, on the embedded broker. `SimulatedPipelineTests` covers its failures.
@Suite struct AuditFeedPositionTests {
  /// A store in memory.
  private final class Kept: DecisionSink {
    private(set) var ids: [Identifier] = []
    private var known: [AuditPosition] = []
    var refusals = 0
    /// Is called with each refusal.
    var onRefusal: (() -> Void)?
    /// Decisions that are refused for their content.
    var unwanted: Set<Identifier> = []
    private(set) var holes: [AuditHole] = []
    private(set) var calls = 0
    /// The number of calls after which the feed is asked to stop, as if the process ended there.
    var stopsAfter: Int?
    /// Is raised after many calls, so that a feed that never gives up ends.
    var stop: StopSignal?

    private struct Refused: Error {}

    func positions() throws -> [AuditPosition] { known }

    func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
      guard refusals == 0 else {
        refusals -= 1
        onRefusal?()
        throw Refused()
      }
      calls += 1
      if calls > 200 { stop?.ask() }
      let decisions = batch.compactMap {
        if case .decision(let line) = $0.content { line.identifier(line.id) } else { nil }
      }
      for id in decisions where unwanted.contains(id) {
        throw RecordRefusal(reason: "not \(id)")
      }
      // As the store does: what is stored again changes nothing.
      for id in decisions where !ids.contains(id) { ids.append(id) }
      if let stopsAfter, calls >= stopsAfter { stop?.ask() }
      known.removeAll { old in positions.contains { $0.topic == old.topic && $0.partition == old.partition } }
      known += positions
    }

    func note(_ hole: AuditHole, positions: [AuditPosition]) throws {
      holes.append(hole)
      try store([], positions: positions)
    }

    func idle() throws {}
  }

  /// Queues a block of decisions.
  private static func send(
    _ ids: [Identifier], to partition: Int32, _ producer: KafkaProducer, _ settings: PipelineSettings
  ) throws {
    let value = ids.map { decision($0).json() }.joined(separator: [UInt8(ascii: "\n")])
    try producer.send(
      topic: settings.topics.decisions, partition: partition, key: nil, value: Array(value),
      headers: [KafkaHeader(DecisionBlock.countHeader, "\(ids.count)")])
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
        try Self.send([id], to: Int32(i % 2), producer, settings)
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

  @Test(
    "a feed that starts before a store that refuses shows how long the oldest record has waited, and 0 once all are stored"
  )
  func lagAfterStart() throws {
    let broker = try EmbeddedBroker()
    let settings = PipelineSettings(
      kafka: ["bootstrap.servers": broker.bootstrapServers, "fetch.wait.max.ms": "20"], eventTopics: ["events"],
      instance: "test")
    for name in [settings.topics.decisions, settings.topics.commands] { try broker.createTopic(name, partitions: 1) }
    let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
    for number in 0..<3 { try Self.send(["d-0-\(number)-0"], to: 0, producer, settings) }
    try #require(try producer.flush(timeout: .seconds(60)))
    let (sink, counters, clock) = (Kept(), PipelineCounters(), SteppedClock())
    var refused: [(records: Double, seconds: Double)] = []
    func lag() -> (records: Double, seconds: Double) {
      _ = Exposition.bytes(of: counters.registry, as: .prometheus)
      let labels = ["decisions", "0"]
      return (counters.audit.lagRecords.value(labels), counters.audit.lagSeconds.value(labels))
    }
    sink.refusals = 5
    sink.onRefusal = { refused.append(lag()) }
    let feed = AuditFeed(
      settings: settings, sink: sink, stop: StopSignal(), counters: counters,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, longRefusal: .seconds(60), clock: clock)
    try feed.start()
    for _ in 0..<300 where sink.ids.count < 3 { try feed.workOnce() }
    let waiting = try #require(refused.last)
    #expect(waiting.records == 3 && waiting.seconds > 0, "\(refused)")
    clock.sleep(.seconds(2))
    try feed.workOnce()
    #expect(lag() == (0, 0))
    feed.end()
  }

  /// Twenty decisions in blocks, of which the store refuses two.
  private struct Refusing {
    let settings: PipelineSettings
    let sink = Kept()
    let counters = PipelineCounters()
    let log = InMemoryLogHandler()
    private let broker: EmbeddedBroker

    init(linesMax: Int) throws {
      broker = try EmbeddedBroker()
      settings = PipelineSettings(
        kafka: ["bootstrap.servers": broker.bootstrapServers, "fetch.wait.max.ms": "20"], eventTopics: ["events"],
        instance: "test")
      for name in [settings.topics.decisions, settings.topics.commands] { try broker.createTopic(name, partitions: 1) }
      let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
      for first in stride(from: 0, to: 20, by: linesMax) {
        let ids = (first..<min(20, first + linesMax)).map { "d-0-\($0)-0" as Identifier }
        try AuditFeedPositionTests.send(ids, to: 0, producer, settings)
      }
      try #require(try producer.flush(timeout: .seconds(60)))
      sink.unwanted = ["d-0-3-0", "d-0-19-0"]
    }

    /// Runs a feed until everything is stored or set aside, or until the store asks it to stop.
    func run() throws {
      let stop = StopSignal()
      sink.stop = stop
      let feed = AuditFeed(
        settings: settings, sink: sink, stop: stop, counters: counters, logger: log.logger, longRefusal: .seconds(60),
        clock: SteppedClock())
      try feed.start()
      for _ in 0..<300 where !stop.isAsked && sink.ids.count + sink.holes.count < 20 { try feed.workOnce() }
      feed.end()
    }

    var wanted: [Identifier] { (0..<20).map { "d-0-\($0)-0" }.filter { !sink.unwanted.contains($0) } }
  }

  @Test(
    "a decision that the store refuses for its content is set aside after three refusals, and all others are stored",
    arguments: [1, 7, 20])
  func setAside(linesMax: Int) throws {
    let refusing = try Refusing(linesMax: linesMax)
    try refusing.run()
    let sink = refusing.sink
    #expect(sink.stop?.isAsked == false)
    #expect(sink.ids == refusing.wanted)
    #expect(
      sink.holes
        == [3, 19].map { number in
          let offset = Int64(number / linesMax)
          return AuditHole(
            topic: .decisions, partition: 0, offsets: offset..<offset + 1, line: number % linesMax + 1,
            cause: .refused, reason: "not d-0-\(number)-0")
        })
    #expect(try sink.positions().first { $0.topic == .decisions }?.next == Int64((20 + linesMax - 1) / linesMax))
    #expect(refusing.counters[.auditSetAside] == 2 && refusing.counters[.auditedDecisions] == 18)
    let lines = refusing.log.criticalLines
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("place=rouse.decisions[0]@") })
  }

  @Test(
    "a process that ends while a part of a block is stored reads the block again, and nothing is stored twice or left out"
  )
  func cutBlock() throws {
    for calls in 1...12 {
      let refusing = try Refusing(linesMax: 10)
      refusing.sink.stopsAfter = calls
      try refusing.run()
      refusing.sink.stopsAfter = nil
      try refusing.run()
      #expect(refusing.sink.ids == refusing.wanted, "ended after \(calls) calls")
      #expect(Set(refusing.sink.holes.map(\.line)) == [4, 10], "ended after \(calls) calls")
      #expect(try refusing.sink.positions().first { $0.topic == .decisions }?.next == 2)
    }
  }
}
