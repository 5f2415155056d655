import Foundation

/// The clocks of a stage. Log time is not one of them: it is in the log.
protocol StageClock: AnyObject {
  /// The time since an instant of the clock's own; never runs backwards.
  var elapsed: Duration { get }
  /// The wall clock, in µs since 1970; may jump.
  var wallMicroseconds: Int64 { get }
  /// Lets the calling thread wait.
  func sleep(_ duration: Duration)
}

/// The machine's clocks.
final class SystemClock: StageClock {
  private let start = ContinuousClock.now

  var elapsed: Duration { ContinuousClock.now - start }
  var wallMicroseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: Double(duration.milliseconds) / 1000) }
}
