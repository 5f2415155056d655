import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

@Suite("the partitions of decisions and commands")
struct OutputPartitionsTests {
  private let stage = ScriptedStage(partitions: 4)
  private var topics: TopicNames { stage.settings.topics }

  @Test("a planner does not start when decisions have fewer partitions than the log, and says what to do")
  func tooFew() throws {
    stage.cluster.otherCounts = [topics.decisions: 3]
    let worker = PlannerWorker(
      settings: stage.settings, number: 0, stop: StopSignal(), counters: stage.counters, logger: stage.log.logger,
      cluster: stage.cluster, clock: SteppedClock(), store: nil)
    let error = #expect(throws: PipelineError.self) { try worker.start() }
    guard case .kafka(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.isFatal && !cause.isRetriable)
    #expect(cause.message.contains("it has 3 partitions and r.log has 4"))
    #expect(cause.message.contains("add partitions to r.decisions until it has 4"))
  }

  @Test(
    "more partitions of decisions than of the log are allowed; commands share the log's numbers if they have as many")
  func enough() throws {
    for (decisions, commands, areShared) in [(4, 4, true), (9, 4, true), (4, 8, false)] as [(Int32, Int32, Bool)] {
      stage.cluster.otherCounts = [topics.decisions: decisions, topics.commands: commands]
      let found = try stage.settings.cluster.outputPartitions(stage.cluster)
      #expect(found == (4, areShared))
    }
  }
}
