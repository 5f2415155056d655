/// The turns of the sweeps of a planner thread.
///
/// A slice runs between two turns. The thread then rests from sweeping for two hundred times as long as the slice took, so that sweeps take at
/// most 0.5 % of its time, however slow the machine is. The partitions take turns.
struct SweepTurns {
  /// The number of the partition whose slice ran last.
  private var last: Int32 = -1
  /// The instant from which on a slice may run.
  private var next = Duration.zero

  /// The time between two slices, as a multiple of the time that the first one took.
  private static let restFactor = 200
  /// The shortest time between two slices.
  private static let restMin = Duration.milliseconds(5)

  /// Makes the turns of a thread that starts.
  init() {}

  /// Whether a slice may run.
  func isDue(at now: Duration) -> Bool { now >= next }

  /// Returns the partition whose turn it is: the next one after the last whose sweep is due.
  ///
  /// - Parameter due: The partitions whose sweeps are due, in ascending order.
  mutating func choose(among due: [Int32]) -> Int32? {
    guard let chosen = due.first(where: { $0 > last }) ?? due.first else { return nil }
    last = chosen
    return chosen
  }

  /// Notes a slice, or that none is due.
  mutating func rest(from began: Duration, to now: Duration) {
    next = now + max(Self.restMin, (now - began) * Self.restFactor)
  }
}
