/// The clocks of a stage. Log time is not one of them: it comes from the log.
protocol StageClock: AnyObject {
  /// The time since a fixed instant that the clock chooses; never runs backwards.
  var elapsed: Duration { get }
  /// The wall clock, in µs since 1970; may jump.
  var wallMicroseconds: Int64 { get }
  /// Lets the calling thread wait.
  func sleep(_ duration: Duration)
}
