import Glibc

/// The elapsed time and the processor time of this process, in seconds: at one moment, or between two moments.
package struct ProcessUsage {
  /// The elapsed time by ``MonotonicClock``.
  package var wallSeconds: Double
  /// User and system time of all threads, librdkafka's included.
  package var processorSeconds: Double

  /// Returns the usage since the start of the process.
  package static func now() -> ProcessUsage {
    ProcessUsage(wallSeconds: MonotonicClock.seconds(), processorSeconds: Double(clock()) / Double(CLOCKS_PER_SEC))
  }

  /// Returns the usage between two moments.
  package static func - (later: ProcessUsage, earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(
      wallSeconds: later.wallSeconds - earlier.wallSeconds,
      processorSeconds: later.processorSeconds - earlier.processorSeconds)
  }
}
