/// The result of one plan for one instance on one budget day.
struct DayScore: Equatable, Sendable {
  /// The value shown: the relevance of each change at its reload, decayed, times the chance of a look.
  var value = 0.0
  /// The seconds during which a visible change was not shown, weighted by the chance of a look.
  var staleSeconds = 0.0
  /// The seconds until each critical change was shown; infinite for one that was not shown that day.
  var criticalWaits: [Double] = []
  /// The number of visible changes.
  var arrivals = 0
  /// The number of reloads that the plan paid for.
  var reloads = 0
  /// The number of those reloads that showed nothing new.
  var wasted = 0
  /// The number of looks at the instance.
  var looks = 0
  /// The number of looks that saw outdated content.
  var looksStale = 0
  /// The tokens left at the beginning of each 24th of the day and at its end: 25 values.
  var left: [Int] = []

  /// The relevance from which a change is critical.
  static let criticalRelevance: Float = 0.8
}
