import Domain
import KafkaClient
import Testing

@testable import Pipeline

/// A source topic that was deleted and made again has the old name and offsets from 0: none of its records may be dropped as a
/// repetition, and no repetition may be planned.
@Suite("source topics that were made again")
struct SourceGenerationsTests {
  private let stage = ScriptedStage(partitions: 1)
  private var cluster: ScriptedCluster { stage.cluster }
  private let partition = KafkaTopicPartition(topic: "r.events", partition: 0)

  /// Events of one topic; the name is part of their ids.
  private func events(_ name: String, _ offsets: Range<Int64>, at time: Int64 = 1_782_907_200_000) -> [KafkaMessage] {
    offsets.map { offset in
      let json =
        #"{"specversion":"1.0","id":"\#(name)\#(offset)","source":"/test","type":"t","subject":"s","#
        + #""time":"2026-07-01T12:00:00Z","data":{}}"#
      return KafkaMessage(
        topic: "r.events", partition: 0, offset: offset, timestampMilliseconds: time, key: nil, value: Array(json.utf8),
        headers: [])
    }
  }

  /// Starts intake, lets it read the batches, and ends it.
  private func read(_ batches: [KafkaMessage]..., between: () -> Void = {}) throws {
    cluster.batches = batches.map { KafkaBatch(messages: $0) }
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    for _ in 0...batches.count {
      try intake.workOnce()
      between()
    }
  }

  private func ids(_ name: String, _ numbers: Range<Int>) -> [Identifier] { numbers.map { "\(name)\($0)" } }

  @Test("the topic is made again while intake runs")
  func running() throws {
    cluster.stored = events("new", 0..<3)
    try read(events("old", 0..<5), events("new", 0..<3))
    #expect(try stage.planned() == ids("old", 0..<5) + ids("new", 0..<3))
  }

  @Test("the topic is made again before a start, and the broker has removed the group's offsets")
  func removedOffsets() throws {
    try read(events("old", 0..<5))
    cluster.committed = [:]
    try read(events("new", 0..<3))
    #expect(try stage.planned() == ids("old", 0..<5) + ids("new", 0..<3))
  }

  @Test("the topic is made again before a start, and has more records than the old one: it is read from its beginning")
  func longer() throws {
    try read(events("old", 0..<5))
    cluster.stored = events("new", 0..<9)
    try read(events("new", 5..<9), events("new", 0..<9))
    #expect(cluster.seeks == [partition])
    #expect(try stage.planned() == ids("old", 0..<5) + ids("new", 0..<9))
    // A later start finds the generation beside the offset.
    try read(events("new", 9..<10))
    cluster.stored = events("new", 0..<11)
    try read(events("new", 9..<11))
    #expect(try stage.planned() == ids("old", 0..<5) + ids("new", 0..<11))
  }

  @Test(
    "the topic is made again while intake runs, and grows beyond the old one before it is read",
    arguments: [true, false])
  func outgrown(keepsOffsets: Bool) throws {
    cluster.stored = events("new", 0..<9)
    let gone = KafkaEvent.error(
      KafkaError(code: .unknownPartition, message: "gone", operation: "consuming", isRetriable: false))
    try read(events("old", 0..<5), [], events("new", 5..<9), events("new", 0..<9)) {
      if !keepsOffsets { cluster.committed = [:] }
      if cluster.batches.first?.messages.isEmpty == true { cluster.batches[0].events = [gone] }
    }
    #expect(cluster.seeks == [partition])
    #expect(try stage.planned() == ids("old", 0..<5) + ids("new", 0..<9))
  }

  @Test("a topic is made again twice, and each begins with the same record")
  func alike() throws {
    for end in [5, 4, 3] as [Int64] {
      cluster.stored = events("e", 0..<end)
      try read(events("e", 0..<end))
    }
    #expect(try stage.planned() == ids("e", 0..<5) + ids("e", 0..<4) + ids("e", 0..<3))
  }

  @Test("a crash before the first commit, or after it, repeats nothing", arguments: [true, false])
  func crash(isCommitted: Bool) throws {
    cluster.stored = events("e", 0..<9)
    try read(events("e", 0..<5))
    if !isCommitted { cluster.committed = [:] }
    try read(isCommitted ? events("e", 5..<9) : events("e", 0..<9))
    #expect(try stage.planned() == ids("e", 0..<9))
    #expect(cluster.seeks.isEmpty)
  }

  @Test("offsets that a tool moved back, retention and compaction repeat nothing")
  func sameTopic() throws {
    cluster.stored = events("e", 0..<9)
    try read(events("e", 0..<5))
    // A tool commits without a remark.
    cluster.committed[partition] = KafkaCommittedOffset(KafkaPosition(partition, offset: 2), metadata: "")
    try read(events("e", 2..<6))
    // Retention removed the record before the committed offset, and the first one.
    cluster.stored = events("e", 7..<9)
    try read(events("e", 7..<9))
    #expect(try stage.planned() == ids("e", 0..<6) + ids("e", 7..<9))
    #expect(cluster.seeks.isEmpty)
  }
}
