import Foundation

extension Array where Element == Double {
  /// The middle value, or the mean of the two middle values; nil when the array is empty.
  package var median: Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// The values between which the median of what was measured lies, with a confidence of at least 95 %, whatever its distribution is; nil for fewer
  /// than 6 values.
  ///
  /// The interval is that of the sign test: from the k-th smallest value to the k-th largest, with the largest k for which at most 2.5 % of all
  /// series of as many coin tosses have fewer than k heads.
  package var medianInterval: ClosedRange<Double>? {
    // The share of series with exactly `heads` heads.
    var share = Foundation.pow(0.5, Double(count))
    var (fewer, k) = (0.0, 0)
    while k <= count / 2, fewer + share <= 0.025 {
      fewer += share
      share *= Double(count - k) / Double(k + 1)
      k += 1
    }
    guard k > 0 else { return nil }
    let sorted = sorted()
    return sorted[k - 1]...sorted[count - k]
  }
}
