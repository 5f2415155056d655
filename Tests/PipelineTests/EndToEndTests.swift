import Domain
import Foundation
import KafkaClient
import Observing
import Planning
import Policies
import Testing

@testable import Installation
@testable import Pipeline

/// The address of a real broker to run the same tests against; nil if none was given.
let realBroker = ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"]

/// The whole pipeline on a broker. Each test has its own topics.
@Suite(.serialized) struct EndToEndTests {
  static let brokers: [String?] = [nil] + (realBroker.map { [$0] } ?? [])

  @Test("events in, commands and decisions out, each charged and each named", arguments: brokers)
  func endToEnd(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    let done = try fixture.run(
      fixture.registering(20) { $0 < 10 ? "flight/UA1" : "flight/UA2" },
      fixture.phase(.decisions, plus: 30) {
        try fixture.delay(10, id: "e1", after: 60)
        try fixture.delay(30, id: "e2", subject: "flight/UA2", after: 120)
        try fixture.delay(31, id: "e3", subject: "flight/UA2", after: 180)
      })
    #expect(done)
    let decisions = try fixture.decisions().values
    #expect(decisions.count == 30)
    #expect(decisions.filter { $0.reason == .emitted }.count == 20)
    #expect(decisions.filter { $0.reason == .notVisible && $0.event == "e3" }.count == 10)
    let commands = try fixture.commands()
    #expect(Set(commands.values.map(\.device)).count == 20)
    for decision in decisions where decision.verdict == .emit {
      let command = commands[decision.command ?? ""]
      #expect(command?.serves.first?.events == [decision.event])
      #expect(command?.charged.first?.left == 2)
    }
  }

  @Test("a token that devices of two log partitions have registered is pushed once", arguments: brokers)
  func oneToken(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    func device(_ partition: Int32) throws -> Identifier {
      try #require(
        (0..<100).lazy.map { Identifier("d\($0)") }.first { DevicePartitioner.partition(of: $0, count: 2) == partition }
      )
    }
    let (old, new) = (try device(0), try device(1))
    /// Registers a device, and waits until so many claims are in the log.
    func registering(_ device: Identifier, _ token: String, after seconds: Int64, claims: Int) -> PipelineFixture.Phase
    {
      PipelineFixture.Phase(
        publish: { try fixture.register(device, interest: "flight/UA1", token: token, after: seconds) },
        until: {
          do {
            let log = try fixture.read(fixture.settings.topics.log)
            let records = try log.map { try LogRecord(bytes: $0.value ?? []).content }
            return records.count { if case .claims = $0 { true } else { false } } >= claims
          } catch {
            Issue.record(error)
            return true
          }
        })
    }
    let done = try fixture.run(
      registering(old, "5a4d5a4d", after: 0, claims: 1), registering(new, "5A4D5A4D", after: 30, claims: 2),
      fixture.deciding(2) { try fixture.delay(10, id: "e1", after: 60) })
    #expect(done)
    let reasons = Dictionary(try fixture.decisions().values.map { ($0.device, $0.reason) }) { $1 }
    #expect(reasons == [old: .noToken, new: .emitted])
    #expect(try fixture.commands().values.map(\.device) == [new])
  }

  @Test("bad input becomes a dead letter with its reason and origin, and nothing else is lost", arguments: brokers)
  func deadLetters(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    let events = fixture.settings.eventTopics[0]
    let devices = fixture.settings.topics.devices
    let manyInterests = (0..<10_000).map { "\"k\($0)\"" }.joined(separator: ",")
    let zone =
      #"{"device":"x","app":"a","environment":"production","platform":"iOS","osVersion":"26.0","timeZone":"Mars/Base","updatedAt":"2026-07-01T00:00:00Z"}"#
    let interests =
      #"{"device":"x","app":"a","environment":"production","platform":"iOS","osVersion":"26.0","timeZone":"GMT","updatedAt":"2026-07-01T00:00:00Z","widgets":[{"id":"w","kind":"K","interests":["#
      + manyInterests + "]}]}"
    try fixture.publish(events, key: nil, value: Array(#"{"specversion":"1.0","id":"trunc"#.utf8))
    try fixture.publish(events, key: nil, value: Array(#"{"specversion":"1.0","id":7,"source":"/s","type":"t"}"#.utf8))
    try fixture.publish(events, key: nil, value: [0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])
    // 900 kB is below a broker's default limit and above Rouse's own. A broker with the default limit refuses larger records.
    try fixture.publish(events, key: nil, value: Array(repeating: 0x20, count: 900_000))
    try fixture.publish(events, key: "gone", value: nil)
    try fixture.publish(devices, key: "x", value: Array(zone.utf8))
    try fixture.publish(devices, key: "x", value: Array(interests.utf8))
    try fixture.publish(devices, key: "unknown-device", value: nil)
    try fixture.publish(
      fixture.settings.topics.signals, key: "d1",
      value: Array(
        #"{"specversion":"1.0","id":"s","source":"/s","type":"rouse.signal.app.exploded","subject":"d1"}"#.utf8))
    let done = try fixture.run(
      fixture.phase(.deadLetters, plus: 8), fixture.registering(1),
      fixture.phase(.decisions, plus: 1) { try fixture.delay(10, id: "good", after: 60) })
    #expect(done)
    let letters = try fixture.read(fixture.settings.topics.deadLetters)
    let reasons = letters.map { letter in
      letter.headers.first { $0.name == "rouse-reason" }.map { String(decoding: $0.value ?? [], as: UTF8.self) } ?? ""
    }
    #expect(
      reasons.sorted() == [
        "INVALID_JSON", "INVALID_UTF8", "MISSING_FIELD", "OUT_OF_BOUNDS", "TOO_LARGE", "UNKNOWN_TIME_ZONE",
        "UNKNOWN_TYPE", "WRONG_TYPE",
      ])
    for letter in letters {
      #expect(letter.headers.contains { $0.name == "rouse-origin-topic" })
      #expect(letter.headers.contains { $0.name == "rouse-origin-offset" })
    }
    #expect(letters.contains { $0.value?.count == 900_000 }, "the original bytes are kept")
    #expect(try fixture.decisions().values.map(\.event) == ["good"])
  }

  @Test("an event sent twice by its publisher reaches the log once", arguments: brokers)
  func duplicates(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    let done = try fixture.run(
      fixture.registering(1),
      fixture.phase(.decisions, plus: 2) {
        for _ in 0..<3 { try fixture.delay(10, id: "e1", after: 60) }
        try fixture.delay(20, id: "e2", after: 120)
      })
    #expect(done)
    #expect(fixture.counters[.duplicatesDropped] == 2)
    #expect(try fixture.decisions().count == 2)
  }

  @Test("a signal that is sent again reaches the log once, and a different one with its id does", arguments: brokers)
  func repeatedSignals(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    func fetched(_ time: String) -> [UInt8] {
      Array(
        #"{"specversion":"1.0","id":"1","source":"/app","type":"rouse.signal.widget.fetched","subject":"d0","time":"\#(time)"}"#
          .utf8)
    }
    let done = try fixture.run(
      fixture.registering(1),
      fixture.phase(.signalsAccepted, plus: 2) {
        for _ in 0..<3 {
          try fixture.publish(fixture.settings.topics.signals, key: "d0", value: fetched("2026-07-01T12:00:00Z"))
        }
        try fixture.publish(fixture.settings.topics.signals, key: "d0", value: fetched("2026-07-01T12:00:01Z"))
      })
    #expect(done)
    #expect(fixture.counters.intake.duplicatesDropped.value(["signal"]) == 2)
    // The window has one that became a dead letter behind it, so a replay is none.
    let replayed = try fixture.run(
      fixture.phase(.signalsAccepted, plus: 2) {
        for headers in [[], [KafkaHeader(DeadLetterHeaders.replayedFrom, "rouse.dead-letters[0]@0")]] {
          try fixture.publish(
            fixture.settings.topics.signals, key: "d0", value: fetched("2026-07-01T13:00:00Z"), headers: headers)
        }
      })
    #expect(replayed)
    #expect(fixture.counters.intake.duplicatesDropped.value(["event"]) == 0)
  }

  @Test("a restart in the middle forgets nothing and spends nothing twice", arguments: brokers)
  func restart(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    func change(_ step: Int) -> PipelineFixture.Phase {
      fixture.phase(.decisions, plus: 6) {
        try fixture.delay(10 * (step + 1), id: "e\(step)", after: Int64(step) * 120)
      }
    }
    #expect(try fixture.run(fixture.registering(6), change(0), change(1)))
    #expect(try fixture.run(change(2), change(3)))
    let decisions = try fixture.decisions().values
    #expect(decisions.count == 24)
    #expect(decisions.filter { $0.reason == .emitted }.count == 18, "three tokens a day, six devices")
    #expect(decisions.filter { $0.reason == .budgetInstance && $0.event == "e3" }.count == 6)
    let left = Dictionary(grouping: try fixture.commands().values, by: \.device)
      .mapValues { $0.sorted { $0.at < $1.at }.map { $0.charged[0].left } }
    #expect(left.values.allSatisfy { $0 == [2, 1, 0] })
  }

  @Test("deferred events are closed by ticks", arguments: brokers)
  func ticks(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    let done = try fixture.run(
      fixture.registering(1),
      fixture.phase(.decisions, plus: 2) {
        try fixture.delay(10, id: "e1", after: 0)
        try fixture.delay(20, id: "e2", after: 10)
      }, fixture.phase(.decisions, plus: 1) { try fixture.tick(after: 70) })
    #expect(done)
    let reasons = try fixture.decisions().values.sorted { $0.at < $1.at }.map(\.reason)
    #expect(reasons.contains(.minInterval) && reasons.contains(.emittedAfterDefer))
  }

  @Test("an idle owner appends its own ticks when log time is the broker's", arguments: brokers)
  func ownTicks(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker, timestamps: .arrival, minInterval: "3s")
    let now = Int64(Date().timeIntervalSince1970)
    func publish(_ i: Int64) throws {
      let json =
        #"{"specversion":"1.0","id":"e\#(i)","source":"/test","type":"flight.delay.changed","subject":"flight/UA1","#
        + #""time":"\#(Timestamp(milliseconds: now * 1000 + i))","data":{"delay":\#(i * 10)}}"#
      try fixture.publish(fixture.settings.eventTopics[0], key: "flight/UA1", value: Array(json.utf8))
    }
    // The second event comes after the push for the first one: at the same log time it would count as shown by it.
    let done = try fixture.run(
      fixture.registering(1), fixture.phase(.decisions, plus: 1) { try publish(0) },
      fixture.phase(.decisions, plus: 2) { try publish(1) })
    #expect(done)
    let decisions = try fixture.decisions().values
    #expect(decisions.filter { $0.verdict == .defer }.count == 1)
    #expect(decisions.filter { $0.reason == .emittedAfterDefer }.count == 1)
    #expect(fixture.counters[.ticksAppended] > 0)
    #expect(decisions.allSatisfy { $0.at.seconds >= now - 5 && $0.at.seconds < now + 60 })
  }

  @Test("two workers share the partitions, and one takes over from the other", arguments: brokers)
  func twoWorkers(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker, partitions: 4)
    let first = fixture.phase(.decisions, plus: 30) { try fixture.delay(10, id: "e1", after: 60) }
    #expect(try fixture.run(workers: 2, fixture.registering(30), first))
    let second = fixture.phase(.decisions, plus: 30) { try fixture.delay(40, id: "e2", after: 300) }
    #expect(try fixture.run(workers: 1, second))
    let commands = try fixture.commands().values
    #expect(commands.count == 60)
    #expect(commands.filter { $0.charged[0].left == 1 }.count == 30)
  }

  @Test("a record too large for the dead letters leaves its value out and stops nothing")
  func hugeRecord() throws {
    let fixture = try PipelineFixture()
    try fixture.publish(fixture.settings.eventTopics[0], key: nil, value: Array(repeating: 0x20, count: 4_600_000))
    let done = try fixture.run(
      fixture.phase(.deadLetters, plus: 1), fixture.registering(1),
      fixture.phase(.decisions, plus: 1) { try fixture.delay(10, id: "good", after: 60) })
    #expect(done)
    let letter = try #require(try fixture.read(fixture.settings.topics.deadLetters).first)
    #expect(letter.headers.contains(KafkaHeader("rouse-truncated", "4600000")))
    #expect(letter.headers.contains(KafkaHeader("rouse-reason", "TOO_LARGE")))
  }

  @Test("the decisions of an aborted transaction are made again, with the same ids, and charged once")
  func aborted() throws {
    let fixture = try PipelineFixture()
    let done = try fixture.run(
      fixture.registering(8),
      fixture.phase(.transactionsAborted, plus: 1) {
        fixture.inject(.transactionOffsetCommit, [.illegalGeneration])
        try fixture.delay(10, id: "e1", after: 60)
      },
      // The embedded broker keeps what an aborted transaction has written. When that was all of it, nothing is left to decide
      // again, so the counter of decisions does not tell when the worker is done.
      fixture.deciding(16) { try fixture.delay(30, id: "e2", after: 300) })
    #expect(done)
    let commands = try fixture.commands().values
    #expect(commands.count == 16)
    let left = Dictionary(grouping: commands, by: \.device)
      .mapValues { $0.sorted { $0.at < $1.at }.map { $0.charged[0].left } }
    #expect(left.values.allSatisfy { $0 == [2, 1] })
  }
}
