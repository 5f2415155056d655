import Dispatch
import Domain
import Foundation
import InMemoryLogging
import KafkaClient
import Logging
import Observing
import Synchronization
import Testing

@testable import Pipeline

@Suite("The audit feed", .serialized)
struct AuditFeedTests {
  @Test(
    "planners commit everything while the audit store hangs or refuses; afterwards the store receives each record once")
  func slowStore() throws {
    for trouble in [GatedSink.Trouble.hangs, .refuses] {
      let fixture = try PipelineFixture()
      let sink = GatedSink(trouble)
      let feed = Feed(fixture.settings, sink)
      defer { feed.end() }
      let done = try fixture.run(
        fixture.registering(20),
        PipelineFixture.Phase(
          publish: { try fixture.delay(0, id: "e0", after: 60) }, until: { sink.calls > 0 }),
        fixture.phase(.decisions, plus: 160) {
          for number in 1...8 { try fixture.delay(number * 10, id: "e\(number)", after: 60 + Int64(number)) }
        })
      #expect(done, "stages that ended in order have committed what they decided")
      let decided = try fixture.decisions()
      #expect(decided.count == 180)
      #expect(sink.decisions.isEmpty)
      sink.open()
      #expect(feed.wait { sink.decisions.count >= 180 })
      #expect(sink.decisions.sorted() == decided.keys.sorted())
      #expect(feed.losses.isEmpty)
    }
  }

  @Test("at its start the audit feed reports the records that retention removed, and nothing else")
  func lossAtStart() throws {
    let fixture = try PipelineFixture(partitions: 1)
    try flood(fixture, 8)
    let low = try low(fixture)
    try #require(low > 1 && low < 8)
    let lost: Logger.Metadata = ["partition": "\(fixture.settings.topics.decisions)[0]", "from": "1", "to": "\(low)"]
    for (next, losses) in [(1, [lost]), (low, [])] {
      let sink = GatedSink(nil, at: AuditPosition(topic: .decisions, partition: 0, next: next))
      let feed = Feed(fixture.settings, sink)
      defer { feed.end() }
      #expect(feed.wait { sink.next == 8 })
      #expect(feed.losses == losses)
      #expect(feed.counters.audit.lostRecords.total == Double(low) - Double(next))
    }
  }

  @Test("records that retention removes while the store hangs are reported, except those that were read ahead")
  func lossMeanwhile() throws {
    for isOvertaken in [true, false] {
      let fixture = try PipelineFixture(partitions: 1)
      fixture.settings.kafka = fixture.settings.kafka.merging([
        "queued.max.messages.kbytes": "1024", "fetch.message.max.bytes": "1000000",
      ])
      try fixture.publish(fixture.settings.topics.decisions, key: "x", value: [0x20])
      let sink = GatedSink(.hangs)
      let feed = Feed(fixture.settings, sink, longRefusal: .zero)
      defer { feed.end() }
      #expect(feed.wait { sink.calls > 0 })
      try flood(fixture, isOvertaken ? 12 : 2)
      sink.open()
      #expect(feed.wait { sink.next == (isOvertaken ? 13 : 3) })
      let losses = feed.losses
      if isOvertaken {
        // Each of the 13 records was either read, although none is a decision, or logged as lost.
        let lost = 13 - feed.counters[.auditUnreadable]
        let low = try low(fixture)
        #expect(lost > 0)
        #expect(
          losses == [
            [
              "partition": "\(fixture.settings.topics.decisions)[0]", "from": "\(Int(low) - lost)", "to": "\(low)",
            ]
          ])
      } else {
        #expect(losses.isEmpty)
      }
    }
  }

  @Test("bytes that no release writes are told as critical, counted and passed over, on both topics")
  func foreignBytes() throws {
    let fixture = try PipelineFixture(partitions: 1)
    let decision = Self.decision("d-0-1-0")
    let foreign: [[UInt8]?] = [
      nil, [], [0xff, 0xfe, 0], Array("[]".utf8), Array("{}".utf8), Array(decision.dropLast()),
      Array(repeating: UInt8(ascii: "["), count: 900_000),
      Array(String(decoding: decision, as: UTF8.self).replacing("NOT_VISIBLE", with: "NO_SUCH_REASON").utf8),
    ]
    for value in foreign {
      try fixture.publish(fixture.settings.topics.decisions, key: "x", value: value)
      try fixture.publish(fixture.settings.topics.commands, key: "x", value: value)
    }
    // It is stored, and counted because it has no header.
    try fixture.publish(fixture.settings.topics.decisions, key: "x", value: decision)
    let sink = GatedSink(nil)
    let feed = Feed(fixture.settings, sink)
    defer { feed.end() }
    #expect(
      feed.wait { sink.decisions == ["d-0-1-0"] && feed.counters[.auditUnreadable] == 2 * foreign.count + 1 })
    #expect(feed.losses.isEmpty)
    for topic in [fixture.settings.topics.decisions, fixture.settings.topics.commands] {
      #expect(feed.unreadable.contains("\(topic)[0]@0"))
    }
  }

  /// A block that no release writes: its lines, the value of its header, and the number of unreadable things in it.
  struct ForeignBlock: CustomTestStringConvertible {
    var testDescription: String
    var lines: [String]
    var count: String?
    var unreadable: Int
    var said: String
  }

  private static let foreignBlocks = [
    ForeignBlock(testDescription: "an empty line", lines: ["1", "", "2"], count: "3", unreadable: 1, said: "line 2: "),
    ForeignBlock(
      testDescription: "an empty last line", lines: ["1", "2", ""], count: "2", unreadable: 1, said: "line 3: "),
    ForeignBlock(
      testDescription: "lines that are no decisions", lines: ["[]", "1", "{\"a\":1}", "2"], count: "4", unreadable: 2,
      said: "line 1: "),
    ForeignBlock(
      testDescription: "a document over two lines", lines: ["{\"a\":", "1}", "1", "2"], count: "4", unreadable: 2,
      said: "2 of 4 lines"),
    ForeignBlock(
      testDescription: "fewer lines than stated", lines: ["1", "2"], count: "3", unreadable: 1,
      said: "the header rouse-decisions says 3, and the record has 2 lines"),
    ForeignBlock(
      testDescription: "no header", lines: ["1", "2"], count: nil, unreadable: 1,
      said: "the record has no header rouse-decisions"),
    ForeignBlock(
      testDescription: "a header that is no number", lines: ["1", "2"], count: "two", unreadable: 1,
      said: "says two, and"),
    ForeignBlock(
      testDescription: "a block that was cut", lines: ["1", "2", "{\"decision\":\"d-0-"], count: "5", unreadable: 1,
      said: "says 5, and the record has 3 lines"),
  ]

  @Test(
    "of a block that no release writes the decisions are stored, and the rest is told and counted",
    arguments: foreignBlocks)
  func foreignBlock(block: ForeignBlock) throws {
    let stage = ScriptedStage(partitions: 1)
    let topic = stage.settings.topics.decisions
    func message(_ offset: Int64, _ lines: [String], _ count: String?) -> KafkaMessage {
      let lines = lines.map {
        $0.count == 1 ? String(decoding: Self.decision("d-0-\(offset)-\($0)"), as: UTF8.self) : $0
      }
      return KafkaMessage(
        topic: topic, partition: 0, offset: offset, value: Array(lines.joined(separator: "\n").utf8),
        headers: count.map { [KafkaHeader(DecisionBlock.countHeader, $0)] } ?? [])
    }
    stage.cluster.batches = [
      KafkaBatch(messages: [message(0, block.lines, block.count), message(1, ["1"], "1")])
    ]
    let sink = GatedSink(nil)
    let feed = AuditFeed(
      settings: stage.settings, sink: sink, stop: StopSignal(), counters: stage.counters, logger: stage.log.logger,
      longRefusal: .seconds(60), cluster: stage.cluster, clock: SteppedClock())
    defer { feed.end() }
    try feed.start()
    try feed.workOnce()
    #expect(sink.decisions == ["d-0-0-1", "d-0-0-2", "d-0-1-1"] && sink.next == 2)
    #expect(stage.counters[.auditUnreadable] == block.unreadable && stage.counters[.auditedDecisions] == 3)
    let said = stage.log.criticalLines
    #expect(said.count == 1 && said[0].contains("place=\(topic)[0]@0") && said[0].contains(block.said), "\(said)")
  }

  private static func decision(_ id: Identifier) -> [UInt8] {
    Decision(
      decision: id, event: "e", events: ["e"], device: "d", instance: "w", kind: "K", surface: .widget,
      verdict: .suppress, reason: .notVisible, final: true, at: Timestamp(microseconds: 0), relevance: 1, wrong: 0,
      looks: 0, value: 0, price: 0, tokensLeft: Decision.TokensLeft(), policy: PolicyReference(version: "1", hash: "a")
    ).json()
  }

  /// Publishes records of 900 kB; the embedded broker keeps about the last 5 MB.
  private func flood(_ fixture: PipelineFixture, _ count: Int) throws {
    for _ in 0..<count {
      try fixture.publish(fixture.settings.topics.decisions, key: "x", value: Array(repeating: 0x20, count: 900_000))
    }
  }

  private func low(_ fixture: PipelineFixture) throws -> Int64 {
    let consumer = try KafkaConsumer(fixture.settings.client(["group.id": "looking"]))
    defer { consumer.close() }
    return try consumer.watermarks(
      of: KafkaTopicPartition(topic: fixture.settings.topics.decisions, partition: 0), timeout: .seconds(10)
    ).low
  }
}

/// A feed on a separate thread, next to the stages of the fixture.
private struct Feed {
  private let log = InMemoryLogHandler()
  let counters = PipelineCounters()
  private let sink: GatedSink
  private let stop = StopSignal()
  private let runner: RoleRunner

  init(_ settings: PipelineSettings, _ sink: GatedSink, longRefusal: Duration = .seconds(60)) {
    self.sink = sink
    let counters = counters
    let stop = stop
    let logger = log.logger
    runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    runner.start("audit") { () throws(PipelineError) in
      try AuditFeed(
        settings: settings, sink: sink, stop: stop, counters: counters, logger: logger, longRefusal: longRefusal
      ).run()
    }
  }

  /// The critical messages about records that retention removed.
  var losses: [Logger.Metadata] { critical.filter { $0["place"] == nil } }
  /// The places of the critical messages about records that were read and are no decisions.
  var unreadable: [String] { critical.compactMap { $0["place"].map { "\($0)" } } }
  private var critical: [Logger.Metadata] {
    log.entries.filter { $0.level == .critical }.map { $0.metadata.filter { $0.key != "incident" } }
  }

  /// Waits for up to a minute.
  ///
  /// - Returns: Whether the condition came true.
  func wait(until done: () -> Bool) -> Bool {
    let deadline = Date().addingTimeInterval(60)
    while !done(), Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
    return done()
  }

  func end() {
    sink.open()
    stop.ask()
    #expect(runner.join(timeout: .seconds(60)))
  }
}

/// A store that hangs or refuses until a test opens it.
private final class GatedSink: DecisionSink, Sendable {
  enum Trouble { case hangs, refuses }
  private struct Contents {
    var trouble: Trouble?
    var calls = 0
    var decisions: [Identifier] = []
    var next: Int64 = 0
  }
  private struct Refusal: Error {}

  private let contents: Mutex<Contents>
  private let gate = DispatchSemaphore(value: 0)
  private let start: [AuditPosition]

  init(_ trouble: Trouble?, at position: AuditPosition? = nil) {
    contents = Mutex(Contents(trouble: trouble))
    start = position.map { [$0] } ?? []
  }

  /// The number of calls of `store`.
  var calls: Int { contents.withLock { $0.calls } }
  /// The ids of the decisions that were stored.
  var decisions: [Identifier] { contents.withLock { $0.decisions } }
  /// The position in the only partition of the decisions.
  var next: Int64 { contents.withLock { $0.next } }

  /// Ends the trouble.
  func open() {
    contents.withLock { $0.trouble = nil }
    gate.signal()
  }

  func positions() -> [AuditPosition] { start }

  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
    let trouble = contents.withLock { contents in
      contents.calls += 1
      return contents.trouble
    }
    switch trouble {
    case .hangs: gate.wait()
    case .refuses: throw Refusal()
    case nil: break
    }
    contents.withLock { contents in
      for case .decision(let line) in batch.lazy.map(\.content) { contents.decisions.append(line.identifier(line.id)) }
      for position in positions where position.topic == .decisions { contents.next = position.next }
    }
  }

  func idle() {}
}
