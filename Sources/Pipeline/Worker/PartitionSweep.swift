import Planning

/// The sweeps over one partition: the one that goes on, and the figures of the last one that was complete.
struct PartitionSweep {
  /// The sweep that goes on.
  var sweep = ScreenSweep()
  /// The figures of the last complete sweep; nil before the first.
  private(set) var figures: ScreenFigures?
  /// The wall clock at the end of the last complete sweep, in µs since 1970; nil before the first, or if log time is the only clock.
  private(set) var completedAt: Int64?
  /// The instant from which on the next slice may run.
  private(set) var due = Duration.zero
  private var began: Duration?
  private var next = Duration.zero

  /// Makes the first sweep.
  init() {}

  /// Notes that a slice runs.
  ///
  /// - Parameters:
  ///   - now: The present instant.
  ///   - interval: The shortest time from the begin of one sweep to that of the next.
  mutating func goesOn(at now: Duration, interval: Duration) {
    if began != nil { return }
    began = now
    next = now + interval
  }

  /// Notes that the sweep is complete.
  ///
  /// - Parameters:
  ///   - figures: The figures of the sweep.
  ///   - wall: The wall clock, in µs since 1970; nil if log time is the only clock.
  mutating func ended(_ figures: ScreenFigures, at wall: Int64?) {
    self.figures = figures
    completedAt = wall
    began = nil
    due = next
  }
}

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
