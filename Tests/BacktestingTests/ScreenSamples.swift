import Domain
import Policies
import Replay

@testable import Backtesting

/// Screens and days for tests.
enum ScreenSamples {
  /// 2026-07-01T04:00:00Z, the start of a budget day.
  static let start: Int64 = 1_782_878_400_000_000
  /// One minute, µs.
  static let minute: Int64 = 60_000_000
  /// The budget days of the samples.
  static let days = LocalDays(zone: "GMT", anchorMinute: 240)

  /// Returns a stream of one number that counts in full from a difference of `per` on.
  static func number(per: Double, _ values: [(minute: Int64, value: Double)]) -> ScreenStream {
    var stream = ScreenStream(
      measures: [FieldDistance(DisplayField(path: "data.n", per: .units(per), initial: .number(0)))])
    for (minute, value) in values {
      stream.add(
        DisplayedValue(.number(value)), of: 0, subject: "s", at: start + minute * ScreenSamples.minute)
    }
    return stream
  }

  /// Returns the looks of a view curve on a day.
  static func looks(_ views: [Double] = Array(repeating: 1, count: 24)) -> (LocalDays.Day) -> DayLooks {
    { day in
      var days = days
      return DayLooks(hours: days.hours(of: day, views: views), views: views)
    }
  }

  /// Returns the first day of a stream, which must hold all its changes.
  static func day(of stream: ScreenStream, free: [Int64] = [], looks: DayLooks? = nil) -> ScreenDay {
    let day = days.day(at: start)
    return ScreenDay(
      day: day, changes: 0..<stream.changes.count, looks: looks ?? Self.looks()(day), free: free[...])
  }

  /// Returns the wrong looks of a plan on the first day.
  static func wrongLooks(_ stream: ScreenStream, _ day: ScreenDay, reloads: [Int64]) -> Double {
    var walk = ScreenWalk(stream, free: Array(day.free), reloads: reloads)
    return walk.wrongLooks(on: day)
  }
}
