@testable import Installation
@testable import Pipeline

/// A clock that moves only when somebody sleeps.
final class SteppedClock: StageClock {
  var elapsed = Duration.zero
  var wallMicroseconds: Int64 { 1_782_907_200_000_000 + elapsed.milliseconds * 1000 }
  func sleep(_ duration: Duration) { elapsed += duration }
}
