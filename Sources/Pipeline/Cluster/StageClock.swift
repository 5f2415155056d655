/// The clocks of a stage. Log time is not one of them: it is in the log.
protocol StageClock: AnyObject {
  /// The time since an instant of the clock's own; never runs backwards.
  var elapsed: Duration { get }
  /// The wall clock, in µs since 1970; may jump.
  var wallMicroseconds: Int64 { get }
  /// Lets the calling thread wait.
  func sleep(_ duration: Duration)
}
