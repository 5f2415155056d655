import Foundation
import KafkaClient
import Logging
import Pipeline

/// One pipeline of a benchmark: its topics, under a prefix of their own, and the stages that run on them.
final class BenchStage {
  let settings: PipelineSettings
  let partitions: Int
  let broker: BenchBroker
  let counters = PipelineCounters()
  private let stop = StopSignal()
  private let runner: RoleRunner
  private let logger: Logger
  private let topics: [String]

  /// Longest time in which nothing moves before a benchmark gives up.
  static let patienceSeconds = 120.0

  /// Makes the topics and puts the policy into force, unless there are topics of that prefix already.
  init(
    broker: BenchBroker, prefix existing: String? = nil, partitions: Int, planning: PipelineSettings.Planning,
    logHandler: (@Sendable (String) -> any LogHandler)? = nil
  ) throws {
    let run = "rouse-bench-\(UInt32.random(in: 0 ..< .max))."
    let prefix = existing ?? run
    // A group of its own: positions stand in the state, and nobody waits for members that have left.
    var settings = PipelineSettings(
      kafka: broker.kafka, topics: TopicNames(prefix: prefix), eventTopics: [prefix + "events"],
      group: run + "group",
      instance: "bench", timestamps: .event, planner: planning)
    settings.planner = planning
    self.settings = settings
    self.broker = broker
    self.partitions = partitions
    var logger = Logger(label: "rouse") { label in
      logHandler?(label) ?? StreamLogHandler.standardError(label: label)
    }
    logger.logLevel = logHandler == nil ? .error : .info
    self.logger = logger
    runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    var plan = TopicPlan.make(settings.topics, partitions: partitions, replicas: nil, replayTimestamps: true)
    // What was written is counted and copied: the broker's cleaner must not take of it meanwhile.
    for place in plan.topics.indices where plan.topics[place].name == settings.topics.state {
      plan.topics[place].configuration["min.compaction.lag.ms"] = "86400000"
    }
    plan.topics.append(KafkaNewTopic(name: Self.copyTopic(prefix), partitions: partitions))
    plan.topics.append(KafkaNewTopic(name: prefix + "events", partitions: partitions))
    topics = plan.topics.map(\.name)
    guard existing == nil else { return }
    try broker.create(plan)
    _ = try PolicyAppender(settings: settings).seed(document: BenchLoad.policy)
  }

  /// Where the passthrough writes.
  var copyTopic: String { Self.copyTopic(settings.topics.prefix) }

  private static func copyTopic(_ prefix: String) -> String { prefix + "copy" }

  func feeder(_ load: BenchLoad) throws -> BenchFeeder {
    try BenchFeeder(load, kafka: broker.kafka, log: settings.topics.log, partitions: partitions)
  }

  func startPlanners(_ count: Int) {
    let (settings, stop, counters, logger) = (settings, stop, counters, logger)
    for number in 0..<count {
      runner.start("planner-\(number)") { () throws(PipelineError) in
        try PlannerWorker(settings: settings, number: number, stop: stop, counters: counters, logger: logger).run()
      }
    }
  }

  func startIntake() {
    let (settings, stop, counters, logger) = (settings, stop, counters, logger)
    runner.start("intake") { () throws(PipelineError) in
      try Intake(settings: settings, stop: stop, counters: counters, logger: logger).run()
    }
  }

  /// Waits until something is so.
  /// - Parameter patience: seconds without any progress before it gives up.
  func wait(_ what: String, patience: Double = patienceSeconds, until done: () -> Bool) throws {
    var moved = Machine.seconds()
    var last = -1
    while !done() {
      try check()
      let sum = counters[.logRecordsPlanned] + counters[.decisions] + counters[.transactionsCommitted]
      if sum != last {
        last = sum
        moved = Machine.seconds()
      }
      if Machine.seconds() - moved > patience {
        throw Failure("\(what): nothing moved for \(Int(patience)) s")
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  /// Waits until everything planned so far is committed: for a commit after the moment of asking, or for so long that
  /// there would have been one had there been anything to commit.
  /// - Returns: the moment of the commit.
  func waitForCommit() throws -> BenchUsage {
    let asked = BenchUsage.now()
    let committed = counters[.transactionsCommitted]
    let quiet = Double(settings.planner.commitInterval.milliseconds) * 3 / 1000 + 1
    var isQuiet = false
    try wait("committing") {
      isQuiet = Machine.seconds() - asked.wallSeconds > quiet
      return counters[.transactionsCommitted] > committed || isQuiet
    }
    return isQuiet ? asked : .now()
  }

  /// Figures of a run in which something failed would mean nothing.
  private func check() throws {
    if let error = runner.fatalError { throw Failure(error.description) }
    if counters[.restarts] > 0 || counters[.transactionsAborted] > 0 {
      throw Failure("a stage failed and started anew, so the figures would mean nothing; look at the broker's log")
    }
  }

  /// Ends the stages: what is planned is committed first.
  func end() throws {
    stop.ask()
    guard runner.join(timeout: .seconds(30)) else { throw Failure("the stages did not end within 30 s") }
    try check()
  }

  /// Removes what the broker keeps of it.
  func remove() throws { try broker.delete(topics) }
}

extension Duration {
  /// Whole milliseconds.
  fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
