import Domain
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// Records that cannot be accepted, and records that the broker refuses, never stop intake.
@Suite("Records that intake or the broker refuses")
struct IntakeRefusalTests {
  private let stage = ScriptedStage(partitions: 2)
  private var cluster: ScriptedCluster { stage.cluster }
  private var counters: PipelineCounters { stage.counters }
  private var letters: [KafkaMessage] { stage.letters }

  private static func message(
    _ topic: String, _ offset: Int64, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = []
  ) -> KafkaMessage {
    KafkaMessage(
      topic: topic, partition: 0, offset: offset, timestampMilliseconds: 1_782_907_200_000, key: key, value: value,
      headers: headers)
  }

  private static func event(_ offset: Int64, key: [UInt8]? = nil, headers: [KafkaHeader] = []) -> KafkaMessage {
    let json =
      #"{"specversion":"1.0","id":"e\#(offset)","source":"/test","type":"flight.delay.changed","subject":"flight/UA1","#
      + #""time":"2026-07-01T12:00:10Z","data":{"delay":30}}"#
    return message("r.events", offset, key: key, value: Array(json.utf8), headers: headers)
  }

  /// Lets intake read the records and work for a while.
  private func read(_ messages: [KafkaMessage]) throws {
    cluster.batches = [KafkaBatch(messages: messages)]
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    for _ in 0..<40 {
      try intake.workOnce()
      #expect(intake.checkInvariants() == [])
    }
  }

  private func committed(_ topic: String) -> Int64? {
    cluster.committed[KafkaTopicPartition(topic: topic, partition: 0)]?.position.offset
  }

  @Test("a tombstone with a key of 600 kB becomes a letter, and the next record is read")
  func largeTombstone() throws {
    // As Kafka by default.
    cluster.refusal = { $0.size > 1_048_588 ? .messageTooLarge : nil }
    let key = [UInt8](repeating: 0x61, count: 600_000)
    try read([
      Self.message("r.devices", 0, key: key, value: nil), Self.message("r.devices", 1, key: [0x64], value: nil),
    ])
    let letter = try #require(letters.first)
    #expect(letters.count == 1)
    #expect(letter.header("rouse-reason") == "TOO_LARGE")
    #expect(letter.key == key)
    #expect(committed("r.devices") == 2)
    #expect(cluster.taken.filter { $0.topic == "r.log" }.count == 1)
  }

  @Test("a letter that does not fit is cut, and says how much was left out", arguments: [4_194_304, 100_000, 10_000])
  func cut(limit: Int) throws {
    cluster.refusal = { $0.size > limit ? .messageTooLarge : nil }
    let key = [UInt8](repeating: 0x61, count: 5_000_000)
    try read([
      Self.event(0, key: key, headers: [KafkaHeader("mine", [UInt8](repeating: 0x62, count: 70_000))]), Self.event(1),
    ])
    let letter = try #require(letters.first)
    #expect(letters.count == 1)
    #expect(letter.size < 8192)
    #expect(letter.key == Array(key.prefix(letter.key?.count ?? 0)))
    #expect(letter.header("rouse-truncated-key") == "5000000")
    #expect(letter.header("rouse-truncated-headers") == "1")
    #expect(letter.header("rouse-origin-offset") == "0")
    #expect(try stage.planned(0) == ["e1"])
    #expect(committed("r.events") == 2)
  }

  @Test("keys and headers beyond their bounds are refused, keys and headers at their bounds are not")
  func bounds() throws {
    let header = KafkaHeader("h", [UInt8](repeating: 0x62, count: 65_536 - 17))
    try read([
      Self.event(0, key: [UInt8](repeating: 0x61, count: 4096), headers: [header]),
      Self.event(1, key: [UInt8](repeating: 0x61, count: 4097)),
      Self.event(2, headers: [header, KafkaHeader("", [])]),
      Self.message("r.devices", 0, key: [UInt8](repeating: 0x61, count: 256), value: nil),
      Self.message("r.devices", 1, key: [UInt8](repeating: 0x61, count: 257), value: nil),
    ])
    #expect(letters.map { $0.header("rouse-reason") } == ["TOO_LARGE", "TOO_LARGE", "OUT_OF_BOUNDS"])
    #expect(letters.map { $0.header("rouse-origin-offset") } == ["1", "2", "1"])
    #expect(counters[.deadLetters] == 3)
  }

  @Test(
    "a log record that the broker refuses becomes a letter, and planners take all others in order",
    arguments: [
      KafkaErrorCode.messageTooLarge, .recordListTooLarge, .invalidRecord, .policyViolation,
    ], 0..<9 as Range<Int64>)
  func refusedLogRecord(code: KafkaErrorCode, bad: Int64) throws {
    cluster.refusal = { $0.isEvent("e\(bad)") ? code : nil }
    try read((0..<9).map { Self.event($0) })
    #expect(letters.map { $0.header("rouse-reason") } == ["REFUSED"])
    #expect(letters.first?.header("rouse-origin-offset") == "\(bad)")
    let others = (0..<9).filter { $0 != bad }.map { "e\($0)" as Identifier }
    for partition in 0..<2 as Range<Int32> { #expect(try stage.planned(partition) == others) }
    #expect(committed("r.events") == 9)
    #expect(counters[.eventsAccepted] == 9)
    #expect(counters[.deadLetters] == 1)
  }

  @Test("a crash at any moment around a refusal loses no record and repeats none", arguments: 0..<9, 1..<13)
  func crash(bad: Int, turns: Int) throws {
    let messages = (0..<9).map { Self.event($0) }
    cluster.refusal = { $0.isEvent("e\(bad)") ? .invalidRecord : nil }
    let intake = stage.makeIntake()
    try intake.start()
    cluster.stored = messages
    let consumer = try #require(intake.consumer)
    cluster.assign(messages.map(\.topicPartition))
    intake.take(try intake.generations.current(messages, consumer))
    // With a time-out of 0 s, a call sends and waits once.
    for _ in 0..<turns { try intake.deliver(timeout: .zero) }
    intake.end()
    try read(messages)
    let others = (0..<9).filter { $0 != bad }.map { "e\($0)" as Identifier }
    for partition in 0..<2 as Range<Int32> { #expect(try stage.planned(partition) == others) }
  }

  @Test("after a refusal, later batches are sent together again")
  func together() throws {
    cluster.refusal = { $0.isEvent("e3") ? .invalidRecord : nil }
    try read((0..<9).map { Self.event($0) })
    // Log, letters, log one by one, log together.
    #expect(cluster.producersMade == 4)
  }

  @Test("intake logs a dead letter that the broker refuses in every form as critical, and continues")
  func refusedLetter() throws {
    cluster.refusal = { $0.topic == "r.dead-letters" ? .policyViolation : nil }
    try read([Self.event(0, key: [UInt8](repeating: 0x61, count: 5000)), Self.event(1)])
    #expect(letters.isEmpty)
    #expect(counters[.deadLettersRefused] == 1)
    let lines = stage.log.criticalLines
    #expect(lines.count == 1 && lines.first?.contains("r.events[0]@0") == true, "\(lines)")
    #expect(committed("r.events") == 2)
  }

  @Test(
    "a refused time is that of the process's clock: intake ends, to start again later, and no record becomes a letter",
    arguments: ["r.log", "r.dead-letters"])
  func refusedClock(topic: String) throws {
    let isLog = topic == "r.log"
    let message = isLog ? Self.event(0) : Self.message("r.events", 0, key: nil, value: [0x7b])
    cluster.refusal = { $0.topic == topic ? .invalidTimestamp : nil }
    let error = #expect(throws: PipelineError.self) { try read([message]) }
    #expect(error?.isWorthRetrying == true)
    #expect(error?.description.hasPrefix("the broker refuses the time of this process: set the clock") == true)
    #expect(cluster.taken.isEmpty && cluster.committed.isEmpty)
    // The clock is set.
    cluster.refusal = { _ in nil }
    try read([message])
    #expect(try stage.planned(0) == (isLog ? ["e0"] : []))
    #expect(letters.count == (isLog ? 0 : 1))
  }

  @Test("with the time of events as log time, a refused time is the record's own")
  func refusedEventTime() throws {
    let stage = ScriptedStage(partitions: 1, timestamps: .event)
    stage.cluster.refusal = { $0.isEvent("e1") ? .invalidTimestamp : nil }
    stage.cluster.batches = [KafkaBatch(messages: (0..<3).map { Self.event($0) })]
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    for _ in 0..<40 { try intake.workOnce() }
    #expect(stage.letters.map { $0.header("rouse-reason") } == ["REFUSED"])
    #expect(try stage.planned(0) == ["e0", "e2"])
  }

  @Test("any other failure of a delivery ends intake, so that the records are read again")
  func otherFailure() {
    cluster.refusal = { _ in .topicAuthorizationFailed }
    #expect(throws: PipelineError.self) { try read([Self.event(0)]) }
    #expect(cluster.committed.isEmpty)
  }
}

extension KafkaMessage {
  /// Whether this is the log record of the event with the id.
  fileprivate func isEvent(_ id: String) -> Bool {
    topic == "r.log" && value.map { String(decoding: $0, as: UTF8.self).contains(id) } == true
  }
}
