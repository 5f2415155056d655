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
