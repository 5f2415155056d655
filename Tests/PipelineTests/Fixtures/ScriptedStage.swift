import Domain
import InMemoryLogging
import KafkaClient

@testable import Installation
@testable import Pipeline

/// A `ScriptedCluster` with the settings, counters and log of the stages that work on it.
struct ScriptedStage {
  let cluster: ScriptedCluster
  let counters = PipelineCounters()
  let log = InMemoryLogHandler()
  let clock = SteppedClock()
  var settings: PipelineSettings

  init(partitions: Int32, timestamps: ClusterSettings.Timestamps = .arrival) {
    cluster = ScriptedCluster(partitions: partitions)
    var settings = PipelineSettings(
      kafka: ["bootstrap.servers": "none"], topics: TopicNames(prefix: "r."), eventTopics: ["r.events"], group: "r",
      instance: "test", timestamps: timestamps)
    // The script answers no questions about the lag of planners.
    settings.intake.plannerLagMax = 0
    self.settings = settings
    cluster.clock = clock
  }

  func makeIntake() -> Intake {
    Intake(
      settings: settings, stop: StopSignal(), counters: counters, logger: log.logger, cluster: cluster,
      clock: clock)
  }

  /// The dead letters that the broker took.
  var letters: [KafkaMessage] { cluster.taken.filter { $0.topic == settings.topics.deadLetters } }

  /// The ids of the events that the planner of a log partition takes, in order: it drops an origin below the highest that it
  /// has seen.
  func planned(_ partition: Int32 = 0) throws -> [Identifier] {
    var position = PlannerPosition()
    return try cluster.taken.filter { $0.topic == settings.topics.log && $0.partition == partition }.compactMap {
      let record = try LogRecord(bytes: $0.value ?? [])
      if let origin = record.origin, !position.note(origin) { return nil }
      guard case .event(let event) = record.content else { return nil }
      return event.id
    }
  }
}
