import Foundation

/// The clocks of a stage: one that measures durations, and the wall clock. Log time is neither: it is read from the
/// log.
package protocol StageClock: AnyObject {
  /// The time since a fixed instant that the clock chooses; never runs backwards.
  var elapsed: Duration { get }
  /// The wall clock, in µs since 1970; may jump.
  var wallMicroseconds: Int64 { get }
  /// Blocks the calling thread for a duration.
  func sleep(_ duration: Duration)
}

/// The machine's clocks.
package final class SystemClock: StageClock {
  private let start = ContinuousClock.now

  /// Starts the clock that measures durations.
  package init() {}

  package var elapsed: Duration { ContinuousClock.now - start }
  package var wallMicroseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  package func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: Double(duration.milliseconds) / 1000) }
}

extension Duration {
  /// The whole milliseconds of the duration.
  package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
