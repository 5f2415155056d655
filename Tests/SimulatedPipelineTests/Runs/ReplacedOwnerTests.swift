import Domain
import Testing

@testable import Installation
@testable import Pipeline

/// The orderly end of a planner that was replaced as the owner of its partition and does not know it yet.
@Suite struct ReplacedOwnerTests {
  private let run: PipelineRun
  private let first: PlannerStage
  private let second: PlannerStage

  init() throws {
    var scenario = Scenario(seed: 1)
    scenario.partitions = 1
    scenario.faultsPerThousand = 0
    scenario.keepsSnapshots = true
    scenario.settings.isStaticMember = false
    // Only an orderly end writes a snapshot.
    scenario.settings.planner.snapshotInterval = .seconds(3600)
    run = try PipelineRun(scenario)
    first = PlannerStage(number: 0, run: run)
    second = PlannerStage(number: 1, run: run)
  }

  /// Appends a record to the log, and steps a planner until it has committed it.
  private func plan(with planner: PlannerStage) throws {
    let topics = run.scenario.settings.topics
    let state = try #require(run.broker.topics[topics.state]?.logs[0])
    var record: [UInt8] = []
    LogRecord(origin: nil, content: .policy(document: try PipelineRun.policyText(0))).encode(into: &record)
    run.broker.append(topics.log, 0, key: nil, value: record)
    let end = state.end
    for _ in 0..<1000 where state.end == end {
      planner.step()
      run.broker.pass(20_000)
    }
    planner.step()
    #expect(planner.planning == [0])
    #expect(state.end > end)
  }

  @Test("an owner writes a snapshot when it ends")
  func owner() throws {
    try plan(with: first)
    #expect(run.disk.files.isEmpty)
    first.end(downFor: .max)
    #expect(run.disk.files.count == 1)
  }

  @Test("a planner whose partition was taken over while it was frozen writes none: another has committed since")
  func replaced() throws {
    try plan(with: first)
    run.broker.pass(run.scenario.session + run.scenario.transaction)
    try plan(with: second)
    #expect(first.planning == [0], "it does not know yet")
    first.end(downFor: .max)
    #expect(run.disk.files.isEmpty)
    second.end(downFor: .max)
    #expect(run.disk.files.count == 1)
  }
}
