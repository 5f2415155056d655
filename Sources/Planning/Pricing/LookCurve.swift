import Domain

/// The looks at one screen over a day, by local hour. Only the shape of the hours is known, so it is scaled to `looksPerDay`.
struct LookCurve {
  /// The number of looks at a screen that is assumed for every day.
  static let looksPerDay = 50.0
  /// The time ahead for which a reload is weighed. It is only the unit of worth: it scales worth and price alike.
  static let horizon = TimeSpan.minutes(20)

  /// The looks of each local hour; they sum to `looksPerDay`.
  private var looks: ContiguousArray<Double>

  /// Creates a curve.
  /// - Parameter weights: The weight of each local hour, 24 numbers that are not negative. If all are 0, every hour is alike.
  init(weights: [Double]) {
    let sum = weights.reduce(0, +)
    looks = ContiguousArray(weights.map { sum > 0 ? $0 / sum * Self.looksPerDay : Self.looksPerDay / 24 })
  }

  /// Returns V, the looks that are expected in the next 20 minutes. If the next hour has more looks, the rate of this
  /// hour is used for all 20 minutes, so that no reload is made early for people who are not there yet.
  /// - Parameter timeOfDay: The local time.
  func ahead(_ timeOfDay: TimeOfDay) -> Double {
    Self.ahead(timeOfDay, looks[timeOfDay.hour], next: looks[timeOfDay.hour == 23 ? 0 : timeOfDay.hour + 1])
  }

  /// Returns V for given looks of an hour.
  /// - Parameters:
  ///   - timeOfDay: The local time.
  ///   - now: The looks of its hour.
  ///   - next: The looks of the hour after that.
  @inline(__always)
  static func ahead(_ timeOfDay: TimeOfDay, _ now: Double, next: Double) -> Double {
    let third = now / 3
    let left = LocalZone.hour - timeOfDay.pastHour
    if left >= horizon || next >= now { return third }
    let part = Double(left.microseconds) / Double(LocalZone.hour.microseconds)
    return now * part + next * (1.0 / 3 - part)
  }

  /// Returns the share of the day's looks that comes in each hour of a budget day, 24 numbers that sum to 1.
  /// - Parameter anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  func shares(from anchorMinute: Int) -> ContiguousArray<Double> {
    let late = Double(anchorMinute % 60) / 60
    return ContiguousArray(
      (0..<24).map { place in
        let hour = (anchorMinute / 60 + place) % 24
        return (looks[hour] * (1 - late) + looks[(hour + 1) % 24] * late) / Self.looksPerDay
      })
  }
}
