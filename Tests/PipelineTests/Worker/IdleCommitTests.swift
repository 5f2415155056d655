import Domain
import KafkaClient
import Policies
import Testing

@testable import Installation
@testable import Pipeline

/// A planner thread on a scripted cluster and a stepped clock.
@Suite("the commits of a planner thread with little to do")
struct IdleCommitTests {
  private let stage = ScriptedStage(partitions: 1)
  private let clock = SteppedClock()

  private func tick(_ offset: Int64) -> KafkaBatch {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    return KafkaBatch(messages: [
      KafkaMessage(
        topic: stage.settings.topics.log, partition: 0, offset: offset,
        timestampMilliseconds: 1_782_907_200_000 + offset, value: bytes)
    ])
  }

  @Test("the first record after a pause is committed at once, and the next one a third of the interval later")
  func pause() throws {
    var settings = stage.settings
    settings.planner.commitInterval = .milliseconds(90)
    stage.cluster.clock = clock
    let worker = PlannerWorker(
      settings: settings, number: 0, initialPolicy: .none, stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger, cluster: stage.cluster, clock: clock, store: nil)
    defer { worker.end() }
    try worker.start()
    func turn(_ batch: KafkaBatch? = nil, after milliseconds: Int64) throws -> UInt64 {
      clock.elapsed += .milliseconds(milliseconds)
      if let batch { stage.cluster.batches = [batch] }
      try worker.workOnce()
      return UInt64(stage.counters[.transactionsCommitted])
    }
    // The partition is assigned with its first record, which is read again once the partition is restored.
    _ = try turn(tick(0), after: 0)
    for _ in 0..<20 { _ = try turn(after: 20) }
    let before = UInt64(stage.counters[.transactionsCommitted])
    #expect(try turn(tick(0), after: 20) == before + 1)
    #expect(try turn(tick(1), after: 10) == before + 1)
    #expect(try turn(after: 10) == before + 1)
    #expect(try turn(after: 10) == before + 2)
    // A busy thread waits for the whole interval.
    for offset in 2...9 as ClosedRange<Int64> { #expect(try turn(tick(offset), after: 10) == before + 2) }
    #expect(try turn(tick(10), after: 10) == before + 3)
    // While something waits for its commit, a poll is not longer than until then. A tick has no decision.
    #expect(try turn(after: 100) == before + 3)
    #expect(stage.cluster.pollTimeout == .milliseconds(20))
    #expect(try turn(tick(11), after: 100) == before + 4)
    stage.cluster.commitTime = .milliseconds(20)
    #expect(try turn(tick(12), after: 90) == before + 5)
    #expect(try turn(tick(13), after: 15) == before + 5)
    // 15 ms have passed since the end of the commit, of the 30 of an idle thread.
    #expect(try turn(after: 5) == before + 5)
    #expect(stage.cluster.pollTimeout == .milliseconds(10))
    #expect(try turn(after: 9) == before + 5)
    #expect(stage.cluster.pollTimeout == .milliseconds(1))
    #expect(try turn(after: 1) == before + 6)
    #expect(stage.counters[.logRecordsPlanned] >= 14)
  }
}
