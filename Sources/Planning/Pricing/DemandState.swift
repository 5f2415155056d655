/// The demand of one instance so far, in 53 bytes: its need (changes that people could see) and the worth of the pushes
/// made, in looks. It is stored with the instance; only `KindDemand` computes its next value. Numbers are stored
/// exactly, so a restored planner computes the same.
struct DemandState: Equatable {
  /// The sum of the need of past days. Each day has 0.85 times the weight of the day after it.
  var needSum: Float = 0
  /// The sum of the worth of the pushes made on past days, with the same weights. The worth of a day that ran out of
  /// tokens is raised to that of a whole day.
  var worthSum: Float = 0
  /// The number of past days, with the same weights. The first day counts only as the share of its looks that came
  /// after the instance was added.
  var days: Float = 0
  /// The need of the current budget day so far.
  var needToday: Float = 0
  /// The worth of the pushes made in the current budget day so far.
  var worthToday: Float = 0
  /// The need of about the last two hours before `recentAt`: each change fades as `FadingMemory` says.
  var needRecent: Float = 0
  /// The worth of the pushes made in about the last two hours before `recentAt`, faded in the same way.
  var worthRecent: Float = 0
  /// The share of the usual worth of today that cannot be observed because the instance has no tokens: that of the
  /// whole hours after the one in which its last token was spent. On its first day, today begins when it was added. 0
  /// if it has not run out of tokens today.
  var unseenShare: Float = 0
  /// The hours from the beginning of the budget day to the time at which the instance was added, on its first day; 0 on
  /// later days.
  var startHours: Float = 0
  /// The log time for which `needRecent` and `worthRecent` are given, in seconds since 1970. Wraps.
  var recentAt: UInt32 = 0
  /// The log time of the last change that was counted as need, in seconds since 1970; 0 if there was none. Wraps.
  var countedAt: UInt32 = 0
  /// The worth of the newest push, which a refund takes out of every sum that holds it. It means nothing once the push can no
  /// longer be refunded (`DayWindow.chargedByLast`).
  var lastWorth: Float = 0
  /// The part of `worthSum` that `lastWorth` has become; 0 while the budget day of the push goes on.
  var lastWorthSum: Float = 0
  /// The hour of the budget day in which the kind counted `lastWorth`, 0…23.
  var lastHour: UInt8 = 0

  /// Creates the demand of an instance that is added at a place in the day.
  init(start: DayPlace = .start) { startHours = Float(start.hours) }
}
