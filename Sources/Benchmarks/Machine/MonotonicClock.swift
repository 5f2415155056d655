/// The clock by which all benchmarks of this process measure. It never runs backwards.
package enum MonotonicClock {
  private static let start = ContinuousClock.now

  /// Returns the seconds since the first call in this process.
  package static func seconds() -> Double {
    let span = start.duration(to: .now)
    return Double(span.components.seconds) + Double(span.components.attoseconds) / 1e18
  }
}
