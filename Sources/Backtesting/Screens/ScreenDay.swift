import Domain
import Replay

/// One budget day of one screen: the changes of the truth, the looks, and the reloads that cost nothing.
struct ScreenDay: Sendable {
  /// The budget day.
  let day: LocalDays.Day
  /// The places of the day's changes in the stream.
  let changes: Range<Int>
  /// The looks by which the day is measured.
  let looks: DayLooks
  /// The instants at which the instance reloads without a push, µs, rising.
  let free: ArraySlice<Int64>

  /// The local date on which the day begins: `2013-07-01`.
  var date: String {
    String(Timestamp(microseconds: day.index * LocalDays.day).description.prefix { $0 != "T" })
  }
}
