import ArgumentParser

/// Checks numbers given to the benchmarks.
enum BenchLimits {
  /// - Throws: `ValidationError` when the value is outside the range.
  static func check(_ option: String, _ value: Int, _ range: ClosedRange<Int>) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(option): found \(Digits.grouped(value)), expected \(Digits.grouped(range.lowerBound)) to \(Digits.grouped(range.upperBound))"
      )
    }
  }
}
