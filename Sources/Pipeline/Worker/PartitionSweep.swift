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
