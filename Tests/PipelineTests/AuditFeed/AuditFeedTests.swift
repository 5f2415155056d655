import Dispatch
import Domain
import Foundation
import InMemoryLogging
import KafkaClient
import Logging
import Observing
import Synchronization
import Testing

@testable import Installation
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

  @Test("an audit whose store cannot be used gives up alone, says so, and goes on when the store can be used")
  func unusableStore() throws {
    let fixture = try PipelineFixture()
    let sink = GatedSink(.isUnusable)
    let feed = Feed(fixture.settings, sink, isDispensable: true)
    defer { feed.end() }
    let done = try fixture.run(
      fixture.registering(20),
      fixture.phase(.decisions, plus: 20) { try fixture.delay(0, id: "e0", after: 60) })
    #expect(done)
    #expect(feed.wait { feed.counters.status.snapshot.auditGaveUp == "the store is damaged" && sink.calls > 2 })
    let thread = PipelineStatus.StageThread(role: .audit, number: 0)
    #expect(feed.counters.status.snapshot.reasonsNotReady([thread]) == [])
    #expect(feed.metrics.contains("\nrouse_audit_gave_up 1\n"))
    #expect(feed.gaveUp.count == 1, "the same reason is logged once")
    #expect(feed.isRunning)
    sink.open()
    #expect(feed.wait { sink.decisions.count == 20 && feed.counters.status.snapshot.auditGaveUp == nil })
    #expect(feed.metrics.contains("\nrouse_audit_gave_up 0\n"))
  }

  @Test("an audit without other roles beside it ends the process when its store cannot be used")
  func unusableStoreAlone() throws {
    let fixture = try PipelineFixture(partitions: 1)
    try fixture.publish(fixture.settings.topics.decisions, key: "x", value: Self.decision("d-0-0-0"))
    let feed = Feed(fixture.settings, GatedSink(.isUnusable))
    defer { feed.end() }
    #expect(feed.wait { !feed.isRunning })
    #expect(feed.fatalError == .store("the store is damaged"))
    #expect(feed.gaveUp.isEmpty)
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

  init(
    _ settings: PipelineSettings, _ sink: GatedSink, longRefusal: Duration = .seconds(60), isDispensable: Bool = false
  ) {
    self.sink = sink
    let counters = counters
    let stop = stop
    let logger = log.logger
    runner = RoleRunner(stop: stop, counters: counters, logger: logger, giveUpPause: 0.01)
    runner.start("audit", isDispensable: isDispensable) { () throws(PipelineError) in
      try AuditFeed(
        settings: settings, sink: sink, stop: stop, counters: counters, logger: logger, longRefusal: longRefusal
      ).run()
    }
  }

  /// Whether the thread runs.
  var isRunning: Bool { runner.runningCount > 0 }
  /// The metrics of the process.
  var metrics: String { String(decoding: Exposition.bytes(of: counters.registry, as: .prometheus), as: UTF8.self) }
  /// The error that ended the thread.
  var fatalError: PipelineError? { runner.fatalError }
  /// The messages that the audit gave up alone.
  var gaveUp: [Logger.Metadata] {
    log.entries.map(\.metadata).filter { $0["incident"] == "auditGaveUp" }
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

/// A store that hangs, refuses or is damaged until a test opens it.
private final class GatedSink: DecisionSink, Sendable {
  enum Trouble { case hangs, refuses, isUnusable }
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
    case .isUnusable: throw UnusableStore(reason: "the store is damaged")
    case nil: break
    }
    contents.withLock { contents in
      for case .decision(let line) in batch.lazy.map(\.content) { contents.decisions.append(line.identifier(line.id)) }
      for position in positions where position.topic == .decisions { contents.next = position.next }
    }
  }

  func idle() {}
}
