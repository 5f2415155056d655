/// The figures of one run of the intake benchmark, without its warm-up.
package struct IntakeRound: Sendable {
  /// The program that ran.
  package enum Kind: String, Sendable {
    /// Intake, as `rouse run` runs it.
    case intake
    /// A loop that only copies bytes, and writes as many records of the same size.
    case passthrough
  }

  /// The program that ran.
  package var kind: Kind
  /// The number of partitions of the log.
  package var partitions: Int
  /// The number of events that were read.
  package var events: Int
  /// The time until their last record was delivered, in seconds.
  package var wallSeconds: Double
  /// The processor time of the whole process meanwhile, librdkafka's threads included.
  package var processorSeconds: Double

  /// Events per second of elapsed time.
  package var eventsPerSecond: Double { Double(events) / wallSeconds }
  /// Seconds of processor time for a million events.
  package var processorPerMillion: Double { processorSeconds * 1e6 / Double(max(1, events)) }
}
