extension FixedWidthInteger {
  /// Returns the sum, or the nearest bound of the type if the sum does not fit.
  @inlinable
  @inline(__always)
  package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, or the nearest bound of the type if the difference does not fit.
  @inlinable
  @inline(__always)
  package func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// Returns the product, or the nearest bound of the type if the product does not fit.
  @inlinable
  @inline(__always)
  package func multipliedSaturating(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
