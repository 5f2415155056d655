import Auditing
import Domain

/// Measures how fast an audit store takes decisions in from the records that planners write, and the bytes that it needs for each.
package enum AuditBenchmark {
  /// The figures of a run.
  package struct Result: Equatable, Sendable {
    /// The number of decisions stored.
    package var decisions: Int
    /// The number of commands stored.
    package var commands: Int
    /// The time for reading the records and storing what they hold, without the time for making them.
    package var seconds: Double
    /// The processor time of the process in these seconds.
    package var processorSeconds: Double
    /// Decisions per second of reading and storing.
    package var decisionsPerSecond: Double
    /// Seconds of processor time for a million decisions.
    package var processorPerMillion: Double { processorSeconds * 1e6 / Double(max(1, decisions)) }
    /// The size of the file, commands and names included, divided by the number of decisions.
    package var bytesPerDecision: Double
  }

  /// The number of decisions in one transaction of the store: about as many as an audit feed that lags behind stores at once.
  private static let batch = 30_000

  /// Fills a new store with synthetic decisions.
  ///
  /// The decisions are those of a fleet with three widgets on each device. An event reaches 50 widgets, one decision in
  /// 20 has a command, and the decisions come from 12 log partitions in turn.
  /// - Parameters:
  ///   - decisions: the number of decisions to store.
  ///   - devices: the number of devices that they are about.
  ///   - path: the file to create.
  ///   - clock: returns the seconds of a clock that never runs backwards.
  /// - Throws: `AuditError` when the store cannot be created or written, `DomainError` when a record cannot be read.
  package static func run(
    decisions: Int, devices: Int = 100_000, path: String, clock: () -> Double = MonotonicClock.seconds
  ) throws -> Result {
    let store = try AuditStore.open(path: path)
    let (reader, lines) = (Command.makeReader(), DecisionBlockReader())
    var synthetic = SyntheticDecisions(devices: devices)
    var batch = AuditBatch()
    var (seconds, processorSeconds) = (0.0, 0.0)
    var (stored, commands) = (0, 0)
    while stored < decisions {
      let records = synthetic.records(count: min(Self.batch, decisions - stored))
      let (start, usage) = (clock(), ProcessUsage.now())
      batch.removeAll()
      for block in records.blocks {
        _ = lines.read(block) { _, line in if case .success(let line) = line { batch.append(line) } }
      }
      for command in records.commands { batch.append(try Command(json: command, reader: reader)) }
      let counts = try store.store(batch)
      seconds += clock() - start
      processorSeconds += (ProcessUsage.now() - usage).processorSeconds
      stored += counts.decisions
      commands += counts.commands
    }
    seconds = max(1e-6, seconds)
    return Result(
      decisions: stored, commands: commands, seconds: seconds, processorSeconds: processorSeconds,
      decisionsPerSecond: Double(stored) / seconds,
      bytesPerDecision: Double(try store.bytesUsed()) / Double(max(1, stored)))
  }
}
