import KafkaClient

@testable import Installation
@testable import Pipeline

/// The clocks of one process. Its wall clock differs from the broker's, and jumps.
final class SimulatedClock: StageClock {
  private let process: SimulatedProcess
  /// The difference from the broker's wall clock, in µs.
  var skew: Int64 = 0

  init(process: SimulatedProcess) { self.process = process }

  var elapsed: Duration { .microseconds(process.broker.time.now) }
  var wallMicroseconds: Int64 { process.broker.time.brokerMilliseconds * 1000 + skew }

  func sleep(_ duration: Duration) {
    // A process that crashes while it waits gets the error at its next call.
    do throws(KafkaError) {
      try process.perform(.sleep) { () throws(KafkaError) in process.broker.pass(duration.microseconds) }
    } catch {}
  }
}
