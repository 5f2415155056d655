package import Auditing

/// Measures how fast an audit store takes decisions in, and the bytes that it needs for each.
package enum AuditBenchmark {
  /// The figures of a run.
  package struct Result: Equatable, Sendable {
    /// The number of decisions stored.
    package var decisions: Int
    /// The number of commands stored.
    package var commands: Int
    /// The time spent storing, without the time for making the decisions.
    package var seconds: Double
    /// Decisions per second of storing.
    package var decisionsPerSecond: Double
    /// The size of the file, commands and names included, divided by the number of decisions.
    package var bytesPerDecision: Double
  }

  /// The number of decisions in one transaction of the store.
  private static let batch = 10_000

  /// Fills a new store with synthetic decisions.
  ///
  /// The decisions are those of a fleet with three widgets on each device. An event reaches 50 widgets, one decision in
  /// 20 has a command, and the records come from 12 partitions in turn.
  /// - Parameters:
  ///   - decisions: the number of decisions to store.
  ///   - devices: the number of devices that they are about.
  ///   - path: the file to create.
  ///   - clock: returns the seconds of a clock that never runs backwards.
  /// - Throws: `AuditError` when the store cannot be created or written.
  package static func run(
    decisions: Int, devices: Int = 100_000, path: String, clock: () -> Double = MonotonicClock.seconds
  ) throws(AuditError) -> Result {
    let store = try AuditStore.open(path: path)
    var synthetic = SyntheticDecisions(devices: devices)
    var seconds = 0.0
    var (stored, commands) = (0, 0)
    while stored < decisions {
      let batch = synthetic.batch(count: min(batch, decisions - stored))
      let start = clock()
      let counts = try store.store(batch)
      seconds += clock() - start
      stored += counts.decisions
      commands += counts.commands
    }
    seconds = max(1e-6, seconds)
    return Result(
      decisions: stored, commands: commands, seconds: seconds, decisionsPerSecond: Double(stored) / seconds,
      bytesPerDecision: Double(try store.bytesUsed()) / Double(max(1, stored)))
  }
}
