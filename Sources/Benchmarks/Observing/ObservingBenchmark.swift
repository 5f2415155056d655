import KafkaClient
import Pipeline

/// Measures the cost of metrics and traces: two pipelines with the same fleet and the same events, one with and one without them, plan in
/// turns of a part of a second in one process.
///
/// Machines are noisy over seconds and minutes, and much less from one quarter of a second to the next. So a turn is compared with the one beside it,
/// and there are many.
package struct ObservingBenchmark {
  private let broker: BenchmarkBroker
  private let load: FleetLoad
  private let events: Int
  private let partitions: Int
  private let commitInterval: Duration
  private let turnSeconds: Double
  private let progress: (String) -> Void

  /// The number of events in a hundred that are traced.
  package static let tracedPercent = 1
  /// A pair of turns.
  package struct TurnPair: Sendable {
    /// The decisions and the usage without metrics and traces, and with them.
    package var (off, on): (ObservedTurn, ObservedTurn)
  }

  /// A turn of one of the pipelines.
  package struct ObservedTurn: Sendable {
    /// The elapsed time, in seconds.
    package var wallSeconds: Double
    /// The processor time of the whole process, in seconds.
    package var processorSeconds: Double
    /// The decisions that were committed.
    package var decisions: Int

    /// Decisions per second of elapsed time.
    package var decisionsPerSecond: Double { Double(decisions) / wallSeconds }
    /// Seconds of processor time for a million decisions.
    package var processorPerMillionDecisions: Double { processorSeconds * 1e6 / Double(max(1, decisions)) }

    /// Takes the figures of a turn.
    init(_ turn: TurnGate.PlannerTurn) {
      (wallSeconds, processorSeconds) = (turn.usage.wallSeconds, turn.usage.processorSeconds)
      decisions = turn.decisions
    }
  }

  /// The figures of a run.
  package struct ObservingResult: Sendable {
    /// The pairs of turns, in order.
    package var pairs: [TurnPair] = []
    /// The work for metrics and traces.
    package var observed = ObservedFigures()

    /// A figure with metrics and traces divided by the one without, of each pair.
    package func ratios(_ figure: (ObservedTurn) -> Double) -> [Double] {
      pairs.map { figure($0.on) / figure($0.off) }.filter(\.isFinite)
    }
  }

  /// Creates a benchmark.
  ///
  /// - Parameters:
  ///   - broker: The broker to run on.
  ///   - load: The fleet and its events.
  ///   - events: The number of events of each pipeline and round, at least 1; turns are taken until they are used up.
  ///   - partitions: The number of partitions of each topic.
  ///   - commitInterval: The commit interval (`PlannerSettings.commitInterval`).
  ///   - turnSeconds: The shortest length of a turn; it ends with the next commit.
  ///   - progress: Called with a few words before each part of the work.
  package init(
    broker: BenchmarkBroker, load: FleetLoad, events: Int, partitions: Int, commitInterval: Duration,
    turnSeconds: Double, progress: @escaping (String) -> Void
  ) {
    self.broker = broker
    self.load = load
    self.events = events
    self.partitions = partitions
    self.commitInterval = commitInterval
    self.turnSeconds = turnSeconds
    self.progress = progress
  }

  /// Runs both rounds.
  ///
  /// - Throws: ``BenchmarkError`` when the figures would be meaningless, `KafkaError` when the broker fails.
  package func run() throws -> ObservingResult {
    var result = ObservingResult()
    for observedFirst in [false, true] { try run(observedFirst: observedFirst, into: &result) }
    return result
  }

  /// Runs a round.
  ///
  /// - Parameters:
  ///   - observedFirst: Whether the pipeline with metrics and traces is made before the other one.
  ///   - result: Gets the pairs of turns.
  private func run(observedFirst: Bool, into result: inout ObservingResult) throws {
    let gate = TurnGate()
    let modes: [PipelineBenchmarkMode] = observedFirst ? [.observed, .unobserved] : [.unobserved, .observed]
    let (off, on) = observedFirst ? (1, 0) : (0, 1)
    let first = result.pairs.count
    var planning = PlannerSettings()
    planning.commitInterval = commitInterval
    let stages = try modes.map { mode in
      try BenchmarkStage(broker: broker, partitions: partitions, planning: planning, mode: mode)
    }
    defer { gate.open() }
    // A planner that waits has an open transaction, and the broker ends one that is open for a minute: so both are fed before.
    let fed = try modes.indices.map { try feed(stages[$0], modes[$0]) }
    let left = try modes.indices.map { try warmUp(stages[$0], $0, modes[$0], fed[$0], gate) }
    let observer = StageObserver(stages[on].counters) { gate.isTurn(of: on) }
    let planned = stages.map { $0.counters[.logRecordsPlanned] }
    var (used, hasBegun) = (0, false)
    // Behind the largest pair so far there must be enough for another one of twice the size.
    while used == 0
      || zip(stages, planned).allSatisfy({ $0.counters[.logRecordsPlanned] - $1 + 2 * used < left.min() ?? 0 })
    {
      progress("pair \(result.pairs.count + 1)")
      // The order changes, so that neither always finds the machine as the other has left it.
      let order = result.pairs.count % 2 == 0 ? [off, on] : [on, off]
      var turns: [Int: TurnGate.PlannerTurn] = [:]
      for number in order {
        turns[number] = gate.turn(of: number, seconds: turnSeconds)
        try stages[number].check()
      }
      guard let without = turns[off], let with = turns[on] else { break }
      used = max(used, without.records, with.records)
      // The planners were stopped in the middle of a transaction, so the first turns do not begin with one.
      guard hasBegun else {
        hasBegun = true
        continue
      }
      result.pairs.append(TurnPair(off: ObservedTurn(without), on: ObservedTurn(with)))
    }
    guard result.pairs.count > first else {
      throw BenchmarkError("--events \(events): too few for a pair of turns; give more, or shorter turns")
    }
    result.observed.add(try observer.end())
    gate.open()
    progress("ending, counting the records in the topics")
    for (stage, mode) in zip(stages, modes) {
      try stage.end()
      try stage.verify(mode)
      try stage.remove()
    }
  }

  /// Writes the fleet and the events of a pipeline.
  ///
  /// - Returns: The log records before the turns, and those of the turns.
  private func feed(_ stage: BenchmarkStage, _ mode: PipelineBenchmarkMode) throws -> (before: Int, measured: Int) {
    progress("\(mode.words): feeding")
    var load = load
    if mode == .observed { load.tracedPercent = Self.tracedPercent }
    let feeder = try stage.feeder(load)
    try feeder.feedFleet()
    let warmUpEvents = PipelineBenchmark.warmUpEvents(load, events)
    let warm = try feeder.feedEvents(0..<warmUpEvents)
    return (
      partitions + load.devices + warm, try feeder.feedEvents(warmUpEvents..<warmUpEvents + events)
    )
  }

  /// Lets a pipeline register the fleet and handle the events that only warm up, and makes it wait for its turns.
  ///
  /// - Returns: The log records that are left for turns.
  private func warmUp(
    _ stage: BenchmarkStage, _ number: Int, _ mode: PipelineBenchmarkMode, _ fed: (before: Int, measured: Int),
    _ gate: TurnGate
  ) throws -> Int {
    progress("\(mode.words): registering the fleet, warming up")
    stage.startPlanner(mode, gate, number)
    try stage.wait("registering") { stage.counters[.logRecordsPlanned] >= fed.before }
    gate.close(number)
    return fed.measured - (stage.counters[.logRecordsPlanned] - fed.before)
  }
}
