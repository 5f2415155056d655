extension FixedWidthInteger {
  /// The sum, or the end of the type's range that it lies beyond. Used for numbers from files and records, which may be any.
  func addingSaturated(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the end of the type's range that it lies beyond.
  func subtractingSaturated(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
