import Foundation

/// The machine's clocks.
final class SystemClock: StageClock {
  private let start = ContinuousClock.now

  var elapsed: Duration { ContinuousClock.now - start }
  var wallMicroseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: Double(duration.milliseconds) / 1000) }
}
