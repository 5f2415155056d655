import Policies
import Replay

/// The looks at one instance on one budget day: recorded looks, or the looks that a view curve leads one to expect.
struct DayLooks: Sendable {
  /// The number of looks that every view curve stands for on a day of 24 hours. Only the shape of a curve is known, not
  /// how often people look.
  static let perDay = 50.0

  /// A part of the day with the same rate of looks.
  private struct Part {
    /// The start, µs.
    var start: Int64
    /// The number of looks per µs.
    var rate: Double
    /// The number of looks of the day before the start.
    var before: Double
  }

  private var parts: [Part] = []
  private let recorded: ArraySlice<Int64>?

  /// Creates the looks that a view curve leads one to expect, `perDay` on a day of 24 hours.
  /// - Parameters:
  ///   - hours: The local hours of the day: their starts, µs, and the chance of a look in each.
  ///   - views: The whole curve, 24 values.
  init(hours: [(start: Int64, view: Double)], views: [Double]) {
    recorded = nil
    let sum = views.reduce(0, +)
    var before = 0.0
    for (place, hour) in hours.enumerated() {
      if let last = parts.last { before = last.before + last.rate * Double(hour.start - last.start) }
      let rate = sum > 0 ? Self.perDay * hours[place].view / sum / Double(LocalDays.hour) : 0
      parts.append(Part(start: hour.start, rate: rate, before: before))
    }
  }

  /// Takes recorded looks.
  /// - Parameter recorded: The looks of the day, µs, rising.
  init(recorded: ArraySlice<Int64>) { self.recorded = recorded }

  /// The times of recorded looks, µs; nil for looks by a curve.
  var times: ArraySlice<Int64>? { recorded }

  /// Returns the number of looks of the day before an instant, which may be the end of the day.
  func before(_ instant: Int64) -> Double {
    if let recorded {
      return Double(
        Self.first(in: recorded.startIndex..<recorded.endIndex) { recorded[$0] >= instant }
          - recorded.startIndex)
    }
    guard let part = part(at: instant) else { return 0 }
    return part.before + part.rate * Double(max(0, instant - part.start))
  }

  /// Returns whether the view curve leads one to expect looks at an instant; always true for recorded looks.
  func areExpected(at instant: Int64) -> Bool { (part(at: instant)?.rate ?? 1) > 0 }

  private func part(at instant: Int64) -> Part? {
    if parts.isEmpty { return nil }
    return parts[max(0, Self.first(in: parts.indices) { parts[$0].start > instant } - 1)]
  }

  /// Returns the first place of a range for which a condition holds, by binary search.
  private static func first(in range: Range<Int>, where holds: (Int) -> Bool) -> Int {
    var low = range.lowerBound
    var high = range.upperBound
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
