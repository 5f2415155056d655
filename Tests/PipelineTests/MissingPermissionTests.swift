import KafkaClient
import Planning
import Policies
import Testing

@testable import Installation
@testable import Pipeline

/// librdkafka reports a missing permission with every poll, and goes on asking. A stage that only logged it would look alive
/// and do nothing.
@Suite("a missing permission ends the stage and says where to look")
struct MissingPermissionTests {
  private let stage = ScriptedStage(partitions: 2)
  private var cluster: ScriptedCluster { stage.cluster }

  private static let codes: [KafkaErrorCode] = [
    .topicAuthorizationFailed, .groupAuthorizationFailed, .transactionalIDAuthorizationFailed,
    .clusterAuthorizationFailed,
  ]

  private func script(_ code: KafkaErrorCode) {
    let error = KafkaError(code: code, message: "not allowed", operation: "consuming")
    cluster.batches = [KafkaBatch(events: [.error(error)])]
  }

  private func expectEnd(_ turn: () throws(PipelineError) -> Void) {
    do throws(PipelineError) {
      try turn()
      Issue.record("the stage goes on")
    } catch {
      #expect(!error.isWorthRetrying)
      #expect(error.description.hasSuffix("; `rouse topics acls` prints the permissions that each role needs"))
    }
  }

  @Test("intake", arguments: codes)
  func intake(_ code: KafkaErrorCode) throws {
    script(code)
    let intake = stage.makeIntake()
    defer { intake.end() }
    try intake.start()
    expectEnd { () throws(PipelineError) in try intake.workOnce() }
  }

  @Test("a planner", arguments: codes)
  func planner(_ code: KafkaErrorCode) throws {
    script(code)
    let worker = PlannerWorker(
      settings: stage.settings, number: 0, initialPolicy: .none, stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger, cluster: cluster, clock: SteppedClock(), store: nil)
    defer { worker.end() }
    try worker.start()
    expectEnd { () throws(PipelineError) in try worker.workOnce() }
  }

  @Test("a planner that restores", arguments: codes)
  func restore(_ code: KafkaErrorCode) throws {
    let clock = SteppedClock()
    cluster.stored = [KafkaMessage(topic: stage.settings.topics.state, partition: 0, offset: 4, key: [0], value: [0])]
    script(code)
    let reader = StateReader(
      settings: stage.settings, cluster: cluster, clock: clock, store: nil,
      report: PlannerReport(logger: stage.log.logger, counters: stage.counters, clock: clock))
    defer { reader.close() }
    try reader.begin(
      PartitionRestore(partition: 0, at: .zero) { PlannerRestore(partition: 0, partitionCount: 2) })
    #expect(throws: KafkaError.self) { try reader.step(timeout: .zero) }
  }

  @Test("the audit", arguments: codes)
  func audit(_ code: KafkaErrorCode) throws {
    script(code)
    let feed = AuditFeed(
      settings: stage.settings, sink: EmptySink(), stop: StopSignal(), counters: stage.counters,
      logger: stage.log.logger, longRefusal: .seconds(60), cluster: cluster, clock: SteppedClock())
    defer { feed.end() }
    try feed.start()
    expectEnd { () throws(PipelineError) in try feed.workOnce() }
  }
}
