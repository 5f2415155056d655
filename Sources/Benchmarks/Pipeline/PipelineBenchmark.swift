import Foundation
import KafkaClient
import Pipeline

/// Measures the cost of a decision from the log to a committed transaction, compared with a plain copy of the same output, one
/// record a decision.
///
/// Every round runs on separate topics, with the same fleet and the same events in its log.
package struct PipelineBenchmark {
  private let broker: BenchmarkBroker
  private let load: FleetLoad
  private let events: Int
  private let partitions: Int
  private let workers: Int
  private let commitInterval: Duration
  private let progress: (String) -> Void

  /// Creates a benchmark.
  /// - Parameters:
  ///   - broker: the broker to run on.
  ///   - load: the fleet and its events.
  ///   - events: the number of events of each round, at least 1.
  ///   - partitions: the number of partitions of each topic.
  ///   - workers: the number of planner threads.
  ///   - commitInterval: the commit interval (`PlannerSettings.commitInterval`).
  ///   - progress: called with a few words before each part of the work.
  package init(
    broker: BenchmarkBroker, load: FleetLoad, events: Int, partitions: Int, workers: Int, commitInterval: Duration,
    progress: @escaping (String) -> Void
  ) {
    self.broker = broker
    self.load = load
    self.events = events
    self.partitions = partitions
    self.workers = workers
    self.commitInterval = commitInterval
    self.progress = progress
  }

  /// The number of records that a planner reads at once.
  private static let readMax = PlannerSettings().pollRecordsMax
  /// The most events that only warm up.
  /// - Beyond: the screens of some subjects are not known when the measurement begins.
  private static let warmUpEventsMax = 1_000_000

  /// Returns the number of events that only warm up: one for each subject, because the first event of a subject is always news to its
  /// screens. A few events are measured from the first one on.
  ///
  /// - Parameters:
  ///   - load: The fleet.
  ///   - events: The number of events of a round.
  package static func warmUpEvents(_ load: FleetLoad, _ events: Int) -> Int {
    events <= lateEventsMax ? 0 : min(load.subjects, warmUpEventsMax)
  }
  private var warmUpEvents: Int { Self.warmUpEvents(load, events) }
  /// The largest number of events that are written only after the fleet is registered. More events are in the log from
  /// the start.
  private static let lateEventsMax = 100

  /// Runs one round of the pipeline.
  /// - Parameters:
  ///   - mode: the way to run it; not ``PipelineBenchmarkMode/passthrough``, which needs another round's output.
  ///   - passthrough: whether to run a passthrough over the round's output as well.
  /// - Returns: the round, followed by the passthrough if there is one.
  /// - Throws: ``BenchmarkError`` when the figures would be meaningless, `KafkaError` when the broker fails.
  package func run(_ mode: PipelineBenchmarkMode, passthrough: Bool) throws -> [PipelineRound] {
    var planning = PlannerSettings()
    planning.commitInterval = commitInterval
    let stage = try BenchmarkStage(broker: broker, partitions: partitions, planning: planning, mode: mode)
    progress("\(mode.words): feeding")
    let feeder = try stage.feeder(load)
    try feeder.feedFleet()
    var rounds = [try events <= Self.lateEventsMax ? runLate(stage, feeder, mode) : runWhole(stage, feeder, mode)]
    try stage.end()
    progress("\(mode.words): counting the records in the topics")
    try stage.verify(mode)
    if passthrough {
      progress("passthrough")
      rounds.append(try PassthroughLoop(stage: stage, commitInterval: commitInterval).run())
    }
    try stage.remove()
    return rounds
  }

  /// Measures planning of events that are in the log from the start, after the fleet's registrations.
  private func runWhole(_ stage: BenchmarkStage, _ feeder: LoadFeeder, _ mode: PipelineBenchmarkMode) throws
    -> PipelineRound
  {
    let warm = try feeder.feedEvents(0..<warmUpEvents)
    let measured = try feeder.feedEvents(warmUpEvents..<warmUpEvents + events)
    progress("\(mode.words): registering the fleet, warming up")
    let counters = stage.counters
    let before = partitions + load.devices + warm
    stage.startPlanners(workers, mode)
    // Registrations must not be part of the measurement.
    try stage.wait("registering") {
      counters[.registrationsPlanned] >= load.devices && counters[.logRecordsPlanned] >= before
    }
    return try measure(stage, mode) {
      try stage.wait("planning") { counters[.logRecordsPlanned] >= before + measured }
    }
  }

  /// Measures from the moment when the first event is written, after the fleet is committed, to the last commit.
  private func runLate(_ stage: BenchmarkStage, _ feeder: LoadFeeder, _ mode: PipelineBenchmarkMode) throws
    -> PipelineRound
  {
    progress("\(mode.words): registering the fleet")
    let counters = stage.counters
    let before = partitions + load.devices
    stage.startPlanners(workers, mode)
    try stage.wait("registering") { counters[.logRecordsPlanned] >= before }
    _ = try stage.waitForCommit()
    return try measure(stage, mode) {
      let measured = try feeder.feedEvents(0..<events)
      try stage.wait("planning") { counters[.logRecordsPlanned] >= before + measured }
    }
  }

  /// Runs `work` and waits for its commit.
  private func measure(_ stage: BenchmarkStage, _ mode: PipelineBenchmarkMode, _ work: () throws -> Void) throws
    -> PipelineRound
  {
    progress("\(mode.words): measuring")
    let counters = stage.counters
    ProcessMemory.restartPeak()
    let counts = counts(counters)
    let start = ProcessUsage.now()
    try work()
    let usage = try stage.waitForCommit() - start
    let made = zip(self.counts(counters), counts).map { $0 - $1 }
    guard made[1] > 0 else {
      throw BenchmarkError(
        "--events \(events): the warm-up took them all, as the log is read in pieces of \(Self.readMax) records; give at least \(4 * Self.readMax) for each partition"
      )
    }
    let written = (mode == .unlogged ? 0 : made[1]) + made[2] + made[3]
    return PipelineRound(
      mode: mode, wallSeconds: usage.wallSeconds, processorSeconds: usage.processorSeconds, logRecords: made[0],
      decisions: made[1], commands: made[2], stateRecords: made[3], outputRecords: written, transactions: made[4],
      peakBytes: ProcessMemory.peakBytes)
  }

  /// Returns log records, decisions, commands, state records and transactions, in this order.
  private func counts(_ counters: PipelineCounters) -> [Int] {
    [
      counters[.logRecordsPlanned], counters[.decisions], counters[.commands], counters[.stateRecords],
      counters[.transactionsCommitted],
    ]
  }
}

/// The ways to run a round of the pipeline benchmark.
package enum PipelineBenchmarkMode: String, CaseIterable, Sendable {
  /// The complete pipeline, as `rouse run` runs it.
  case transactional
  /// A plain loop that copies the output of the transactional round, one small record for each decision, with as many transactions.
  case passthrough
  /// The pipeline without transactions: its producers are only idempotent.
  case idempotent
  /// The pipeline with transactions, but without decision records.
  case unlogged
  /// The complete pipeline without what is done for metrics and traces; counts by batch remain, because benchmarks read them.
  case unobserved
  /// The complete pipeline while its metrics are scraped and one of a hundred events is traced, in turns with another one.
  case observed

  /// The modes that `rouse bench pipeline` compares. The others are those of `rouse bench observing`.
  package static let compared: [PipelineBenchmarkMode] = [.transactional, .passthrough, .idempotent, .unlogged]

  /// The name of the mode in a report for people.
  package var words: String {
    switch self {
    case .transactional: "transactional"
    case .passthrough: "passthrough"
    case .idempotent: "idempotent only"
    case .unlogged: "no decision log"
    case .unobserved: "off"
    case .observed: "on"
    }
  }
}

/// The rounds of a pipeline benchmark and the figures derived from them.
package struct PipelineResult: Sendable {
  /// The rounds in the order in which they ran.
  package private(set) var rounds: [PipelineRound]

  /// Creates a result.
  /// - Parameter rounds: the rounds in the order in which they ran.
  package init(rounds: [PipelineRound] = []) { self.rounds = rounds }

  /// Adds rounds at the end.
  package mutating func append(_ more: [PipelineRound]) { rounds += more }

  /// The modes that ran, in the order of their declaration.
  package var modes: [PipelineBenchmarkMode] {
    PipelineBenchmarkMode.allCases.filter { mode in rounds.contains { $0.mode == mode } }
  }

  /// Returns the median of a figure over the rounds of a mode; nil when the mode did not run.
  package func median(_ mode: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double) -> Double? {
    rounds.filter { $0.mode == mode }.map(figure).median
  }

  /// Returns the median over the rounds of one mode's figure divided by another mode's figure in the same round; nil when
  /// one of the modes did not run.
  ///
  /// Modes take turns, so both figures of a ratio come from the same minutes of the machine.
  package func ratio(
    _ mode: PipelineBenchmarkMode, to other: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double
  ) -> Double? {
    ratios(mode, to: other, figure).median
  }

  /// Returns one mode's figure divided by another mode's figure in the same round, for each round. A round
  /// in which the other figure is 0 has none.
  package func ratios(
    _ mode: PipelineBenchmarkMode, to other: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double
  ) -> [Double] {
    zip(rounds.filter { $0.mode == mode }, rounds.filter { $0.mode == other }).map { figure($0) / figure($1) }
      .filter(\.isFinite)
  }
}

/// The figures of one round of the pipeline benchmark, without its warm-up.
package struct PipelineRound: Sendable {
  /// The mode of the round.
  package var mode: PipelineBenchmarkMode
  /// The time from the start of the measurement to the last commit.
  package var wallSeconds: Double
  /// The processor time of the whole process meanwhile, librdkafka's threads included.
  package var processorSeconds: Double
  /// The number of log records planned. In a passthrough, it is 0, and so are `decisions`, `commands` and
  /// `stateRecords`.
  package var logRecords = 0
  /// The number of decisions made.
  package var decisions = 0
  /// The number of commands written.
  package var commands = 0
  /// The number of state records written.
  package var stateRecords = 0
  /// The number of decisions, commands and state records written to the topics. Many decisions share a record of the pipeline; a
  /// passthrough writes a record for each.
  package var outputRecords: Int
  /// The number of transactions committed.
  package var transactions = 0
  /// The largest resident size of the process; nil if the system does not report it.
  package var peakBytes: Int?

  /// Microseconds of processor time for each output record.
  package var processorPerRecord: Double { processorSeconds * 1e6 / Double(max(1, outputRecords)) }
  /// Seconds of processor time for a million decisions.
  package var processorPerMillionDecisions: Double { processorSeconds * 1e6 / Double(max(1, decisions)) }
  /// Decisions per second of elapsed time.
  package var decisionsPerSecond: Double { Double(decisions) / wallSeconds }
  /// Output records per second of elapsed time.
  package var recordsPerSecond: Double { Double(outputRecords) / wallSeconds }
}
