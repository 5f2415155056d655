@testable import Pipeline

/// The one time of a simulation: it passes when somebody waits or calls, and never by itself.
final class SimulatedTime {
  /// µs since the simulation began.
  private(set) var now: Int64 = 0
  /// The broker's wall clock against `now`, µs since 1970. Jumps at will: log append time is the broker's.
  var brokerOffset: Int64 = 1_782_907_200_000_000

  func pass(_ microseconds: Int64) { now += max(0, microseconds) }

  /// The broker's wall clock, ms since 1970.
  var brokerMilliseconds: Int64 { (now + brokerOffset) / 1000 }
}

extension Duration {
  /// Whole microseconds.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
