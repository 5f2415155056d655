import Foundation
import Installation
package import KafkaClient
package import Logging
import Operating
package import Pipeline
import Policies

/// One pipeline of a benchmark: topics under a separate prefix, and the stages that run on them.
package final class BenchmarkStage {
  /// The settings of the pipeline, with the names of its topics.
  package let settings: PipelineSettings
  /// The number of partitions of each topic.
  package let partitions: Int
  let broker: BenchmarkBroker
  let counters: PipelineCounters
  private let stop = StopSignal()
  private let runner: RoleRunner
  private let logger: Logger
  private let topics: [String]

  /// The longest time without progress before a benchmark gives up, in seconds.
  package static let patienceSeconds = 120.0

  /// Creates the topics and appends the benchmark's policy to the log, or takes over topics that exist.
  /// - Parameters:
  ///   - broker: the broker to run on.
  ///   - existing: the prefix of topics that exist already; nil creates topics under a random prefix.
  ///   - partitions: the number of partitions of each topic.
  ///   - planning: the settings of the planners.
  ///   - mode: the way to run the stage, which says what is done for metrics and traces.
  ///   - logHandler: receives the pipeline's log from level `info` on; nil prints errors to standard error.
  /// - Throws: `KafkaError` or ``BenchmarkError`` when the topics cannot be created or the policy not be written.
  package init(
    broker: BenchmarkBroker, prefix existing: String? = nil, partitions: Int, planning: PlannerSettings,
    mode: PipelineBenchmarkMode = .transactional, logHandler: (@Sendable (String) -> any LogHandler)? = nil
  ) throws {
    let run = "rouse-bench-\(UInt32.random(in: 0 ..< .max))."
    let prefix = existing ?? run
    // Each stage joins a separate group, so that it need not wait until the members of an earlier stage time out. The
    // planners' positions are in the state topic, so no progress is lost by that.
    var settings = PipelineSettings(
      kafka: broker.kafka, topics: TopicNames(prefix: prefix), eventTopics: [prefix + "events"], group: run + "group",
      instance: "bench", timestamps: .event, planner: planning)
    if mode == .unobserved {
      settings.statistics = nil
      settings.planner.sweepInterval = nil
    } else if mode == .observed {
      // It works in turns, half of the time, and both go by the clock.
      settings.statistics = settings.statistics.map { $0 * 2 }
      settings.planner.sweepInterval = settings.planner.sweepInterval.map { $0 * 2 }
    }
    counters = PipelineCounters(traces: mode == .observed ? PipelineTraces(share: 0) : nil)
    self.settings = settings
    self.broker = broker
    self.partitions = partitions
    var logger = Logger(label: "rouse") { label in
      logHandler?(label) ?? PrintableLogHandler.standardError(label: label)
    }
    logger.logLevel = logHandler == nil ? .error : .info
    self.logger = logger
    runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    let plan = Self.plan(settings, partitions)
    topics = plan.topics.map(\.name)
    guard existing == nil else { return }
    try broker.create(plan)
    _ = try PolicyAppender(settings: settings.cluster).seed(PolicyDocument(yaml: FleetLoad.policy, file: "policy"))
  }

  /// Returns Rouse's own topics, the public topic of events and the topics of the passthrough.
  private static func plan(_ settings: PipelineSettings, _ partitions: Int) -> TopicPlan {
    var plan = TopicPlan.make(settings.topics, partitions: partitions, replicas: nil, replayTimestamps: true)
    // The benchmark counts and copies the state records, so the broker must not compact them meanwhile.
    for place in plan.topics.indices where plan.topics[place].name == settings.topics.state {
      plan.topics[place].configuration["min.compaction.lag.ms"] = "86400000"
    }
    for name in [copyTopic(settings.topics.prefix), singlesTopic(settings.topics.prefix)] {
      plan.topics.append(KafkaNewTopic(name: name, partitions: partitions))
    }
    for name in settings.eventTopics { plan.topics.append(KafkaNewTopic(name: name, partitions: partitions)) }
    return plan
  }

  /// The topic that the passthrough writes to.
  var copyTopic: String { Self.copyTopic(settings.topics.prefix) }

  private static func copyTopic(_ prefix: String) -> String { prefix + "copy" }

  /// The topic that the passthrough reads decisions from: one record for each.
  var singlesTopic: String { Self.singlesTopic(settings.topics.prefix) }

  private static func singlesTopic(_ prefix: String) -> String { prefix + "singles" }

  /// Returns a feeder that writes a load into this stage's log.
  /// - Throws: `KafkaError` when its producer cannot be created.
  func feeder(_ load: FleetLoad) throws(KafkaError) -> LoadFeeder {
    try LoadFeeder(load, kafka: broker.kafka, log: settings.topics.log, partitions: partitions)
  }

  /// Starts planner threads.
  /// - Parameters:
  ///   - count: the number of threads.
  ///   - mode: selects the Kafka clients and the recorders of the threads.
  func startPlanners(_ count: Int, _ mode: PipelineBenchmarkMode = .transactional) {
    let (settings, stop, counters, logger) = (settings, stop, counters, logger)
    for number in 0..<count {
      runner.start("planner-\(number)") { () throws(PipelineError) in
        let ports = PlannerPorts.of(mode, counters: counters)
        try PlannerWorker(
          settings: settings, number: number, stop: stop, counters: counters, logger: logger, cluster: ports.cluster,
          makeRecorder: ports.makeRecorder
        ).run()
      }
    }
  }

  /// Starts a planner thread that works in turns.
  ///
  /// - Parameters:
  ///   - mode: Selects the Kafka clients and the recorders of the thread.
  ///   - gate: Says when it is its turn.
  ///   - number: Its number at the gate.
  func startPlanner(_ mode: PipelineBenchmarkMode, _ gate: TurnGate, _ number: Int) {
    let (settings, stop, counters, logger) = (settings, stop, counters, logger)
    runner.start("planner-0") { () throws(PipelineError) in
      let ports = PlannerPorts.of(mode, counters: counters)
      let worker = try PlannerWorker(
        settings: settings, number: 0, stop: stop, counters: counters, logger: logger, cluster: ports.cluster,
        makeRecorder: ports.makeRecorder)
      func counts() -> (decisions: Int, records: Int, commits: Int) {
        (counters[.decisions], counters[.logRecordsPlanned], counters[.transactionsCommitted])
      }
      try worker.run { (turn: () throws(PipelineError) -> Void) throws(PipelineError) in
        gate.enter(number, counts())
        try turn()
        gate.leave(number, counts())
      }
    }
  }

  /// Starts the intake thread.
  func startIntake() {
    let (settings, stop, counters, logger) = (settings, stop, counters, logger)
    runner.start("intake") { () throws(PipelineError) in
      try Intake(settings: settings, stop: stop, counters: counters, logger: logger).run()
    }
  }

  /// Waits until a condition holds.
  /// - Parameters:
  ///   - work: the name of the awaited work, for the error.
  ///   - patience: the seconds without any progress before it gives up.
  ///   - done: the condition; called about every 2 ms.
  /// - Throws: ``BenchmarkError`` when there is no progress for `patience`, or when a stage failed.
  func wait(_ work: String, patience: Double = patienceSeconds, until done: () -> Bool) throws(BenchmarkError) {
    var moved = MonotonicClock.seconds()
    var last = -1
    while !done() {
      try check()
      let sum = counters[.logRecordsPlanned] + counters[.decisions] + counters[.transactionsCommitted]
      if sum != last {
        last = sum
        moved = MonotonicClock.seconds()
      }
      if MonotonicClock.seconds() - moved > patience {
        throw BenchmarkError("\(work): nothing moved for \(Int(patience)) s")
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  /// Waits until everything planned so far is committed: until the next commit, or for so long that there would have
  /// been one if anything had been left to commit.
  /// - Returns: the usage at the moment of the commit, or at the moment of the call when nothing was left.
  /// - Throws: ``BenchmarkError`` as ``wait(_:patience:until:)`` does.
  func waitForCommit() throws(BenchmarkError) -> ProcessUsage {
    let asked = ProcessUsage.now()
    let committed = counters[.transactionsCommitted]
    let quiet = settings.planner.commitInterval / .seconds(1) * 3 + 1
    var isQuiet = false
    try wait("committing") {
      isQuiet = MonotonicClock.seconds() - asked.wallSeconds > quiet
      return counters[.transactionsCommitted] > committed || isQuiet
    }
    return isQuiet ? asked : .now()
  }

  /// Throws when anything failed meanwhile, because the figures of such a run would be meaningless.
  func check() throws(BenchmarkError) {
    if let error = runner.fatalError { throw BenchmarkError(error.description) }
    if counters[.restarts] > 0 || counters[.transactionsAborted] > 0 {
      throw BenchmarkError(
        "a stage failed and was restarted, so the figures would be meaningless; look at the broker's log")
    }
  }

  /// Ends the stages in order; they commit first what they have planned.
  /// - Throws: ``BenchmarkError`` when they take more than 30 seconds, or when one of them failed.
  package func end() throws(BenchmarkError) {
    stop.ask()
    guard runner.join(timeout: .seconds(30)) else { throw BenchmarkError("the stages did not end within 30 s") }
    try check()
  }

  /// Checks that the topics hold exactly the decisions and the records that the pipeline counted.
  ///
  /// - Parameter mode: The mode in which the stage ran.
  /// - Throws: ``BenchmarkError`` when they hold others, `KafkaError` when the broker does not answer.
  func verify(_ mode: PipelineBenchmarkMode) throws {
    let names = settings.topics
    for (topic, things, found, expected) in [
      (
        names.decisions, "decisions", try broker.countDecisions(names.decisions, partitions: partitions),
        mode == .unlogged ? 0 : counters[.decisions]
      ),
      (
        names.commands, "records", try broker.count(names.commands, partitions: partitions), counters[.commands]
      ),
      (names.state, "records", try broker.count(names.state, partitions: partitions), counters[.stateRecords]),
    ] where found != expected {
      throw BenchmarkError(
        "\(topic) holds \(found) \(things), but \(expected) were written: some were dropped or doubled")
    }
  }

  /// Deletes the stage's topics from a real broker.
  /// - Throws: `KafkaError` when the broker does not answer.
  package func remove() throws(KafkaError) { try broker.delete(topics) }
}
