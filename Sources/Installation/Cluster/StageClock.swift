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
