/// The figures of one round of the pipeline benchmark, without its warm-up.
package struct PipelineRound: Sendable {
  package var mode: PipelineBenchmarkMode
  package var wallSeconds: Double
  package var processorSeconds: Double
  /// The counts of what the pipeline read and wrote. All are 0 in a passthrough, which only has ``outputRecords``.
  package var logRecords = 0
  package var decisions = 0
  package var commands = 0
  package var stateRecords = 0
  /// The number of records written to the topics.
  package var outputRecords: Int
  package var transactions = 0
  /// The largest resident size of the process; nil where the system does not tell.
  package var peakBytes: Int?

  /// Microseconds of processor time for each output record.
  package var processorPerRecord: Double { processorSeconds * 1e6 / Double(max(1, outputRecords)) }
  /// Seconds of processor time for a million decisions.
  package var processorPerMillionDecisions: Double { processorSeconds * 1e6 / Double(max(1, decisions)) }
  package var decisionsPerSecond: Double { Double(decisions) / wallSeconds }
  package var recordsPerSecond: Double { Double(outputRecords) / wallSeconds }
}
