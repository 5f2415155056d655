extension Array where Element == Double {
  /// The middle value, or the mean of the two middle values; nil when the array is empty.
  package var median: Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
