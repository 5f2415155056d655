import Foundation

/// The machine's clocks.
package final class SystemClock: StageClock {
  private let start = ContinuousClock.now

  /// Starts the clock that measures durations.
  package init() {}

  package var elapsed: Duration { ContinuousClock.now - start }
  package var wallMicroseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  package func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: Double(duration.milliseconds) / 1000) }
}
