/// The wrong looks of one plan over all instance-days: the looks at a screen, each counted by how wrong it was, 0…1.
struct WrongLooksScore {
  /// The number of wrong looks that reloads must have been able to set right on a day, or its share is left out. With
  /// less to gain, the share would compare two rounding errors.
  static let leastToGain = 0.01

  private var captured: [Double] = []
  private var days = 0
  private var none = 0.0
  private var plan = 0.0
  private var optimum = 0.0

  /// Adds an instance-day.
  /// - Parameters:
  ///   - plan: The wrong looks under the plan.
  ///   - none: The wrong looks without any paid reload; free reloads still happen.
  ///   - optimum: The least wrong looks that as many reloads as the day has tokens could have left.
  /// - Returns: The wrong looks that the plan set right, as a share of those that could have been set right; nil if
  ///   there is too little to gain.
  @discardableResult
  mutating func add(plan: Double, none: Double, optimum: Double) -> Double? {
    days += 1
    self.none += none
    self.plan += plan
    self.optimum += optimum
    guard none - optimum > Self.leastToGain else { return nil }
    let share = (none - plan) / (none - optimum)
    captured.append(share)
    return share
  }

  /// The result for the report.
  var result: BacktestReport.WrongLooks {
    let sorted = captured.sorted()
    let count = Double(max(1, days))
    return BacktestReport.WrongLooks(
      samples: sorted.count, capturedMean: sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count),
      capturedP10: Self.quantile(0.1, of: sorted),
      capturedTwentieths: (0...20).map { Self.quantile(Double($0) / 20, of: sorted) }, perDay: plan / count,
      perDayWithout: none / count, perDayOptimum: optimum / count)
  }

  /// Returns the q-quantile of sorted values, linear between the two nearest; 0 for no values.
  private static func quantile(_ q: Double, of sorted: [Double]) -> Double {
    if sorted.isEmpty { return 0 }
    let place = q * Double(sorted.count - 1)
    let low = Int(place.rounded(.down))
    let next = min(low + 1, sorted.count - 1)
    return sorted[low] + (place - Double(low)) * (sorted[next] - sorted[low])
  }
}
