import Foundation
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

@Suite("records of the audit's topics that no release writes")
struct ForeignRecordsTests {
  private let stage = ScriptedStage(partitions: 2)

  /// Records that are no decisions.
  private func records(_ partition: Int32, _ offsets: Range<Int64>) -> [KafkaMessage] {
    offsets.map {
      KafkaMessage(topic: stage.settings.topics.decisions, partition: partition, offset: $0, value: [0x20])
    }
  }

  @Test("a flood of them causes one critical line for each partition in ten seconds, and each is counted")
  func flood() throws {
    stage.cluster.batches = [
      KafkaBatch(messages: records(0, 0..<500)), KafkaBatch(messages: records(1, 7..<8)),
      KafkaBatch(messages: records(0, 500..<600)),
    ]
    let clock = SteppedClock()
    let feed = AuditFeed(
      settings: stage.settings, sink: EmptySink(), stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger, longRefusal: .seconds(60), cluster: stage.cluster, clock: clock)
    defer { feed.end() }
    try feed.start()
    for _ in 0..<3 { try feed.workOnce() }
    let topic = stage.settings.topics.decisions
    /// The metadata of the critical lines.
    var lines: [String] {
      stage.log.criticalLines.map { String($0[($0.range(of: "place=")?.lowerBound ?? $0.startIndex)...]) }
    }
    let words = "unreadable=1 of 1 lines"
    #expect(lines == ["place=\(topic)[0]@0 \(words)", "place=\(topic)[1]@7 \(words)"])
    clock.sleep(.seconds(10))
    stage.cluster.batches = [KafkaBatch(messages: records(0, 600..<602))]
    try feed.workOnce()
    #expect(lines.dropFirst(2) == ["place=\(topic)[0]@600 repetitions=599 \(words)"])
    #expect(stage.counters[.auditUnreadable] == 603)
  }
}
