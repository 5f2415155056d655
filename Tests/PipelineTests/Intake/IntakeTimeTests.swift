import Domain
import Installation
import KafkaClient
import Testing

@testable import Pipeline

/// Times that would stop the clock of a subject, a device or a log partition are refused.
@Suite("the times that intake takes")
struct IntakeTimeTests {
  private let stage = ScriptedStage(partitions: 1, timestamps: .event)
  private var cluster: ScriptedCluster { stage.cluster }
  private var letters: [KafkaMessage] { stage.letters }
  /// The wall clock of `SteppedClock`, in ms since 1970.
  private static let now: Int64 = 1_782_907_200_000

  private func read(_ messages: [KafkaMessage]) throws {
    // As Kafka 4 by default.
    let latest = Self.now + 3_600_000
    cluster.refusal = { ($0.timestampMilliseconds ?? 0) > latest ? .invalidTimestamp : nil }
    cluster.batches = [KafkaBatch(messages: messages)]
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    try intake.workOnce()
  }

  private static func message(
    _ topic: String, _ offset: Int64, at time: Int64 = now, key: String? = nil, _ json: String?
  ) -> KafkaMessage {
    KafkaMessage(
      topic: topic, partition: 0, offset: offset, timestampMilliseconds: time, key: key.map { Array($0.utf8) },
      value: json.map { Array($0.utf8) }, headers: [])
  }

  private static func event(_ offset: Int64, time: String?, at: Int64 = now) -> KafkaMessage {
    let time = time.map { #""time":"\#($0)","# } ?? ""
    return message(
      "r.events", offset, at: at,
      #"{"specversion":"1.0","id":"e\#(offset)","source":"/test","type":"t","subject":"s",\#(time)"data":{}}"#)
  }

  private static func signal(_ offset: Int64, time: String) -> KafkaMessage {
    message(
      "r.signals", offset, key: "d",
      #"{"specversion":"1.0","id":"s\#(offset)","source":"/test","type":"rouse.signal.app.foregrounded","#
        + #""time":"\#(time)","data":{"device":"d"}}"#)
  }

  private static func registration(_ offset: Int64, updatedAt: String) -> KafkaMessage {
    message(
      "r.devices", offset, key: "d",
      #"{"device":"d","app":"a","environment":"production","platform":"iOS","osVersion":"26.0","timeZone":"UTC","#
        + #""updatedAt":"\#(updatedAt)"}"#)
  }

  private var logTimes: [Int64?] { cluster.taken.filter { $0.topic == "r.log" }.map(\.timestampMilliseconds) }

  @Test("an event, a signal and a registration more than an hour ahead become dead letters; an hour ahead is taken")
  func ahead() throws {
    try read([
      Self.event(0, time: "2026-07-01T13:00:00Z"), Self.event(1, time: "2026-07-01T13:00:00.001Z"),
      Self.event(2, time: "9999-12-31T23:59:59Z"), Self.event(3, time: nil, at: Self.now + 3_600_001),
      Self.event(4, time: nil, at: .max), Self.signal(0, time: "2026-07-01T13:00:00Z"),
      Self.signal(1, time: "2026-07-01T13:00:01Z"), Self.registration(0, updatedAt: "2026-07-01T13:00:00Z"),
      Self.registration(1, updatedAt: "2036-07-01T13:00:00Z"), Self.event(5, time: "2026-07-01T12:00:00Z"),
    ])
    #expect(letters.allSatisfy { $0.header("rouse-reason") == "OUT_OF_BOUNDS" })
    #expect(
      letters.map { "\($0.header("rouse-origin-topic") ?? "") \($0.header("rouse-origin-offset") ?? "")" } == [
        "r.events 1", "r.events 2", "r.events 3", "r.events 4", "r.signals 1", "r.devices 1",
      ])
    #expect(
      letters.first?.header("rouse-message")?.contains(
        "at most 1 h ahead of intake's clock, until 2026-07-01T13:00:00Z, found 2026-07-01T13:00:00.001Z")
        == true, "\(letters.first?.header("rouse-message") ?? "")")
    #expect(logTimes == [Self.now + 3_600_000, Self.now + 3_600_000, Self.now + 3_600_000, Self.now])
  }

  @Test("times before 1970 become dead letters, the least number too")
  func past() throws {
    try read([
      Self.event(0, time: "1969-12-31T23:59:59Z"), Self.event(1, time: nil, at: -(1 << 62)),
      Self.event(2, time: nil, at: .min), Self.event(3, time: "1970-01-01T00:00:00Z"),
    ])
    #expect(letters.map { $0.header("rouse-reason") } == ["OUT_OF_BOUNDS", "OUT_OF_BOUNDS", "OUT_OF_BOUNDS"])
    #expect(logTimes == [1])
  }

  @Test("a device is forgotten, whatever the time of its tombstone", arguments: [Int64.min, -1, 0, now, .max])
  func tombstone(time: Int64) throws {
    try read([Self.message("r.devices", 0, at: time, key: "d", nil)])
    #expect(letters.isEmpty)
    #expect(logTimes == [max(1, min(time, Self.now))])
  }
}
