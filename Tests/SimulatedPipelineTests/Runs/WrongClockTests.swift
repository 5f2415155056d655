import Domain
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// A planner whose clock is so wrong that the broker refuses the time of all that it writes.
@Suite struct WrongClockTests {
  private let run: PipelineRun
  private let planner: PlannerStage

  init() throws {
    var scenario = Scenario(seed: 1)
    scenario.partitions = 1
    scenario.faultsPerThousand = 0
    run = try PipelineRun(scenario, story: Story(isKept: true))
    planner = PlannerStage(number: 0, run: run)
  }

  private var topics: TopicNames { run.scenario.settings.topics }
  private var letters: Int64? { run.broker.topics[topics.deadLetters]?.logs[0].end }

  private func append(_ count: Int) throws {
    for _ in 0..<count {
      var record: [UInt8] = []
      LogRecord(origin: nil, content: .policy(document: try PipelineRun.policyText(0))).encode(into: &record)
      run.broker.append(topics.log, 0, key: nil, value: record)
    }
  }

  @Test(
    "it ends with an error that says so and starts again; nothing is set aside, and all is planned once its clock is set"
  )
  func wrongClock() throws {
    let state = try #require(run.broker.topics[topics.state]?.logs[0])
    try append(5)
    let (before, log) = (state.end, topics.log)
    run.broker.refusal = { $0.topic == log ? nil : .invalidTimestamp }
    for _ in 0..<2000 {
      planner.step()
      run.broker.pass(20_000)
    }
    let failures = run.story.text.split(separator: "\n").filter {
      $0.contains("failed: the broker refuses the time of this process: set the clock")
    }
    #expect(failures.count >= 3, "\(run.story.text)")
    #expect(run.counters[.recordsSetAside] == 0)
    #expect(letters == 0)
    run.broker.refusal = { _ in nil }
    for _ in 0..<2000 where state.end == before {
      planner.step()
      run.broker.pass(20_000)
    }
    #expect(state.end > before)
    #expect(run.counters[.recordsSetAside] == 0)
  }
}
