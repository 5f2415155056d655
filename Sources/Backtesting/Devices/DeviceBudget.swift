import Replay

/// The hidden budget that the system of one device keeps for one widget.
struct DeviceBudget {
  /// The number of reloads that the system grants in a day.
  let perDay: Int
  /// The least time between two reloads, µs.
  let spacing: Int64
  private let days: LocalDays
  private var dayEnd = Int64.min
  private var spent = 0
  private var last = Int64.min

  /// Creates a full budget.
  /// - Parameters:
  ///   - perDay: The number of reloads in a day.
  ///   - spacing: The least time between two reloads, µs.
  ///   - days: The days by which the system counts.
  init(perDay: Int, spacing: Int64, days: LocalDays) {
    self.perDay = perDay
    self.spacing = spacing
    self.days = days
  }

  /// Returns whether a push reloads the widget. Otherwise nothing happens, and the planner does not learn of it.
  /// - Parameter instant: The time of the push, µs. Must not fall from call to call.
  mutating func grants(at instant: Int64) -> Bool {
    if instant >= dayEnd {
      dayEnd = days.day(at: instant).end
      spent = 0
    }
    if spent >= perDay || (last != .min && instant - last < spacing) { return false }
    spent += 1
    last = instant
    return true
  }
}
