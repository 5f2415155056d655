import Foundation
package import Histogram
import Installation
import Pipeline

/// Measures the time from the moment when an event is due at its topic until its command can be read committed.
///
/// The load is open-loop: events are sent by the clock, regardless of the pipeline's progress, and a latency counts
/// from the moment when its event was due. So a stall shows in every event that it delayed.
package struct LatencyBenchmark {
  private let stage: BenchmarkStage
  private let load: FleetLoad
  private let burst: Int
  private let workers: Int
  private let seconds: Int
  private let progress: (String) -> Void

  /// The figures of a run.
  package struct Result: Sendable {
    /// The largest number of events a second through intake and planner; nil when a rate was given.
    package var maximumPerSecond: Double?
    /// The number of events that were sent per second.
    package var ratePerSecond: Double
    /// The latencies of commands, in microseconds.
    package var latencies: Histogram<UInt64>
    /// The processor time of this process divided by the measured time, the benchmark's own sender and reader included.
    /// 1 is one core kept busy.
    package var processorShare: Double
  }

  /// The time at the start of the load that is not measured, in seconds.
  package static let warmUpSeconds = 3
  /// The share of the burst that only warms up and is not measured, 0…1.
  private static let warmUpShare = 0.2

  /// Creates a benchmark.
  /// - Parameters:
  ///   - stage: the pipeline to measure; no stage of it may run yet.
  ///   - load: the fleet and its events.
  ///   - burst: the number of events with which the maximum is found.
  ///   - workers: the number of planner threads.
  ///   - seconds: the time to measure, after the warm-up.
  ///   - progress: called with a few words before each part of the work.
  package init(
    stage: BenchmarkStage, load: FleetLoad, burst: Int, workers: Int, seconds: Int,
    progress: @escaping (String) -> Void
  ) {
    self.stage = stage
    self.load = load
    self.burst = burst
    self.workers = workers
    self.seconds = seconds
    self.progress = progress
  }

  /// Registers the fleet, finds the maximum unless a rate is given, and measures.
  /// - Parameters:
  ///   - rate: events a second; nil takes `share` of the maximum.
  ///   - share: the part of the maximum to take when `rate` is nil, from 0 to 1.
  /// - Throws: ``BenchmarkError`` when the figures would be meaningless, `KafkaError` when the broker fails.
  package func run(rate: Double?, share: Double) throws -> Result {
    progress("registering the fleet")
    try stage.feeder(load).feedFleet()
    stage.startPlanners(workers)
    let registered = stage.partitions + load.devices
    try stage.wait("registering") { stage.counters[.logRecordsPlanned] >= registered }
    var maximum: Double?
    if rate == nil {
      maximum = try findMaximum(after: registered)
    } else {
      stage.startIntake()
    }
    let chosen = rate ?? (maximum ?? 0) * share
    progress("\(Int(chosen)) events/s")
    return try measure(rate: chosen, maximum: maximum, first: maximum == nil ? 0 : burst)
  }

  /// Returns the events a second that intake and planner take from a topic in which ``burst`` events wait.
  private func findMaximum(after registered: Int) throws -> Double {
    progress("finding the maximum")
    let sender = try EventSender(stage: stage, load: load)
    for number in 0..<burst { try sender.send(number, due: nil) }
    try sender.deliver()
    stage.startIntake()
    let counters = stage.counters
    let warm = Int(Double(burst) * Self.warmUpShare)
    // Intake sends an event to every partition.
    try stage.wait("planning") { counters[.logRecordsPlanned] >= registered + warm * stage.partitions }
    let start = ProcessUsage.now()
    let planned = counters[.logRecordsPlanned]
    let all = registered + burst * stage.partitions
    try stage.wait("planning") { counters[.logRecordsPlanned] >= all }
    let usage = try stage.waitForCommit() - start
    return Double(all - planned) / Double(stage.partitions) / usage.wallSeconds
  }

  /// Sends events at a rate and reads their commands.
  private func measure(rate: Double, maximum: Double?, first: Int) throws -> Result {
    let reader = try CommandReader(
      kafka: stage.broker.kafka, topic: stage.settings.topics.commands, partitions: stage.partitions)
    let sender = try EventSender(stage: stage, load: load)
    let start = MonotonicClock.seconds() + 0.5
    let measuredFrom = start + Double(Self.warmUpSeconds)
    let count = Int(rate * Double(Self.warmUpSeconds + seconds))
    let planned = stage.counters[.logRecordsPlanned]
    reader.start(measuredFrom: measuredFrom)
    var usage = ProcessUsage.now()
    var isWarm = false
    for number in 0..<count {
      let due = start + Double(number) / rate
      if !isWarm, due >= measuredFrom {
        isWarm = true
        usage = .now()
      }
      while MonotonicClock.seconds() < due {
        try sender.poll()
        Thread.sleep(forTimeInterval: min(0.001, max(0, due - MonotonicClock.seconds())))
      }
      try sender.send(first + number, due: due)
    }
    try sender.deliver()
    usage = .now() - usage
    // On a busy machine the pipeline may be seconds behind; the reader ends when no command comes for a second.
    try stage.wait("planning") { stage.counters[.logRecordsPlanned] >= planned + count * stage.partitions }
    _ = try stage.waitForCommit()
    let latencies = try reader.end()
    return Result(
      maximumPerSecond: maximum, ratePerSecond: rate, latencies: latencies,
      processorShare: usage.processorSeconds / usage.wallSeconds)
  }
}
