/// The demand that one instance has shown, in 44 bytes. It stands with the instance; only `KindDemand` makes another one
/// of it. Numbers are stored as they are computed with, so a restored planner computes the same.
struct DemandState: Equatable {
  /// The need of past days, each day counting 0.85 of the one after it.
  var needSum: Float = 0
  /// The worth of the pushes of past days, likewise.
  var worthSum: Float = 0
  /// The number of past days, likewise; the first one counts as the share of its looks that the instance saw.
  var days: Float = 0
  /// The need of today.
  var needToday: Float = 0
  /// The worth of the pushes of today.
  var worthToday: Float = 0
  /// The need in the memory of the last two hours, as of `recentAt`.
  var needRecent: Float = 0
  /// The worth of pushes in the memory of the last two hours, as of `recentAt`.
  var worthRecent: Float = 0
  /// The share of the worth of the day, from the time on at which the instance came, that it does not see because it has no tokens:
  /// that of the whole hours after the one in which the last token was spent. 0 while there are tokens.
  var unseenShare: Float = 0
  /// The hours between the anchor and the time at which the instance came, on its first day; 0 from then on.
  var startHours: Float = 0
  /// The second of log time for which the memories are given. Wraps.
  var recentAt: UInt32 = 0
  /// The second of log time of the last change that was counted as need; 0 if there was none. Wraps.
  var countedAt: UInt32 = 0

  /// Creates the state of an instance that comes at a place in the day.
  init(start: DayPlace = .start) { startHours = Float(start.hours) }
}
