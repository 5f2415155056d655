import Domain
import Foundation
import InMemoryLogging
import KafkaClient
import Planning
import Policies
import Testing

@testable import Installation
@testable import Pipeline

/// A planner of this release meets what a newer release wrote. The page about deploying shows the lines that it then logs.
@Suite("Records of a newer release")
struct NewerFormatTests {
  /// The text of the page about deploying, which shows the lines.
  private func page() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: root.appending(path: "Sources/rouse/Documentation.docc/Deploying.md"), encoding: .utf8)
  }

  @Test("a state record of a newer format stops the restore, and the critical line is the one that the page shows")
  func stateRecord() throws {
    let restore = PartitionRestore(partition: 0, at: .zero) { PlannerRestore(partition: 0, partitionCount: 2) }
    restore.add(key: Array("n/0".utf8), value: [2, 0], at: 26)
    let error = try #require(restore.firstUnreadable)
    #expect(restore.isSpoilt && error.offset == 26)
    let place = KafkaPosition(KafkaTopicPartition(topic: "rouse.state", partition: 0), offset: error.offset)
    let log = InMemoryLogHandler()
    PlannerReport(logger: log.logger, counters: PipelineCounters(), clock: SteppedClock()).stopped(
      StoppedPartition(
        place: place, nextReminder: .zero,
        record: .state(content: StateKey.meaning(of: error.key), isDispensable: StateKey.isDispensable(error.key))),
      because: error)
    try expectShown(
      log, "the record has format version 2, and this program knows versions up to 1: upgrade it",
      "holds=the notes about all subjects of the partition")
  }

  @Test("a position of a newer format stops the restore: a planner without it would decide twice")
  func position() throws {
    var bytes = PlannerPosition().encoded()
    bytes[0] += 1
    let restore = PartitionRestore(partition: 0, at: .zero) { PlannerRestore(partition: 0, partitionCount: 2) }
    restore.add(key: PlannerPosition.key, value: bytes, at: 41)
    let policy = try PolicyDocument(yaml: PipelineFixture.policy, file: "policy").policy
    let error = try #require(
      #expect(throws: StateRecordError.self) { try restore.finish(initialPolicy: policy, recorder: JSONRecorder()) })
    #expect(error.offset == 41 && error.cause == .newerVersion(found: 4, newestKnown: 3))
    #expect(!StateKey.isDispensable(error.key))
  }

  @Test("a log record of a newer format is not passed, and the critical line is the one that the page shows")
  func logRecord() throws {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    bytes[0] += 1
    let restore = PartitionRestore(partition: 0, at: .zero) { PlannerRestore(partition: 0, partitionCount: 2) }
    let policy = try PolicyDocument(yaml: PipelineFixture.policy, file: "policy").policy
    let processor = try restore.finish(initialPolicy: policy, recorder: JSONRecorder())
    guard case .newerFormat(let error) = processor.begin(bytes, offset: 12, timestamp: 1) else {
      Issue.record("the record was taken")
      return
    }
    #expect(processor.position == PlannerPosition(), "the planner stays before the record")
    let log = InMemoryLogHandler()
    PlannerReport(logger: log.logger, counters: PipelineCounters(), clock: SteppedClock()).stopped(
      at: KafkaPosition(KafkaTopicPartition(topic: "rouse.log", partition: 0), offset: 12), because: error.description)
    try expectShown(
      log, "the record has format version 2, and this program knows versions up to 1: upgrade it",
      "place=rouse.log[0]@12")
  }

  @Test("a planner that meets a log record of a newer format says in its status that the process must be upgraded")
  func status() throws {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    bytes[0] += 1
    let stage = ScriptedStage(partitions: 1)
    let worker = PlannerWorker(
      settings: stage.settings, number: 0, initialPolicy: .none, stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger, cluster: stage.cluster, clock: stage.clock, store: nil)
    defer { worker.end() }
    try worker.start()
    // The partition is assigned with its first record, which is read again once the partition is restored.
    for _ in 0..<30 {
      stage.clock.elapsed += .milliseconds(100)
      stage.cluster.batches = [
        KafkaBatch(messages: [
          KafkaMessage(
            topic: stage.settings.topics.log, partition: 0, offset: 0, timestampMilliseconds: 1, value: bytes)
        ])
      ]
      try worker.workOnce()
    }
    let status = stage.counters.status.snapshot
    #expect(status.planners[0]?.partitions.map(\.state) == [.stopped])
    #expect(
      status.reasonsOutdated == ["log partition 0 is stopped before a record of a newer release: upgrade this process"])
  }

  /// Checks that the page shows the message of the only critical line, and parts of its metadata.
  private func expectShown(_ log: InMemoryLogHandler, _ parts: String...) throws {
    let line = try #require(log.criticalLines.first)
    #expect(log.criticalLines.count == 1)
    let page = try page()
    for part in parts {
      #expect(line.contains(part), "\(line)")
      #expect(page.contains(part))
    }
    let message = line.prefix { $0 != ";" }
    #expect(page.contains(message), "\(message)")
  }
}
