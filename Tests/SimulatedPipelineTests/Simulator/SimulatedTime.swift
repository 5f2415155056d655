/// The time of a simulation. It passes with calls and waits, and never by itself.
final class SimulatedTime {
  /// The time since the simulation began, in µs.
  private(set) var now: Int64 = 0
  /// The broker's wall clock minus `now`, in µs since 1970. It may jump, and log append time with it.
  var brokerOffset: Int64 = 1_782_907_200_000_000

  func pass(_ microseconds: Int64) { now += max(0, microseconds) }

  /// The broker's wall clock, in ms since 1970.
  var brokerMilliseconds: Int64 { (now + brokerOffset) / 1000 }
}

extension Duration {
  /// The whole microseconds of the duration.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
