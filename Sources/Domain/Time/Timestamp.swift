/// An instant: microseconds since 1970-01-01T00:00:00Z. The only time type of the project; nothing here reads a clock.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since the Unix epoch; may be negative.
  public var microseconds: Int64

  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// From whole milliseconds since the Unix epoch (Kafka's unit). Clamped to the range of `Int64` microseconds.
  @inlinable public init(milliseconds: Int64) {
    let (value, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    microseconds = overflow ? (milliseconds < 0 ? .min : .max) : value
  }

  /// Whole milliseconds since the Unix epoch, rounded down.
  @inlinable public var milliseconds: Int64 { roundedDown(microsecondsPerUnit: 1000) }

  /// Whole seconds since the Unix epoch, rounded down.
  @inlinable public var seconds: Int64 { roundedDown(microsecondsPerUnit: 1_000_000) }

  /// Divides and rounds down. Defined for every instant: a record's timestamp may be any number, and the usual
  /// `(microseconds - unit + 1) / unit` overflows near the lower end of the range.
  @inlinable func roundedDown(microsecondsPerUnit unit: Int64) -> Int64 {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: unit)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// An instant before every other: "never yet".
  @inlinable public static var distantPast: Timestamp { Timestamp(microseconds: .min) }
  /// An instant after every other: "never".
  @inlinable public static var distantFuture: Timestamp { Timestamp(microseconds: .max) }

  @inlinable public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds.addingSaturating(b.microseconds))
  }
  @inlinable public static func - (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }
  @inlinable public static func - (a: Timestamp, b: Timestamp) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }
}

/// A length of time in microseconds. Named `TimeSpan` because `Duration` is the standard library's attosecond type, which is
/// twice as large and slower to compute with.
public struct TimeSpan: Hashable, Comparable, Sendable {
  public var microseconds: Int64

  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }
  @inlinable public static func seconds(_ n: Int64) -> TimeSpan {
    TimeSpan(microseconds: n.multipliedSaturating(by: 1_000_000))
  }
  @inlinable public static func minutes(_ n: Int64) -> TimeSpan { .seconds(n.multipliedSaturating(by: 60)) }
  @inlinable public static func hours(_ n: Int64) -> TimeSpan { .seconds(n.multipliedSaturating(by: 3600)) }
  @inlinable public static var zero: TimeSpan { TimeSpan(microseconds: 0) }
  /// A span longer than every other: "without bound".
  @inlinable public static var unbounded: TimeSpan { TimeSpan(microseconds: .max) }

  @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.addingSaturating(b.microseconds))
  }
  @inlinable public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }
  @inlinable public static func * (a: TimeSpan, n: Int64) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.multipliedSaturating(by: n))
  }
}

extension FixedWidthInteger {
  /// Returns the sum, or the nearest bound of the type where it does not fit.
  @inlinable
  @inline(__always)
  func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, or the nearest bound of the type where it does not fit.
  @inlinable
  @inline(__always)
  func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// Returns the product, or the nearest bound of the type where it does not fit.
  @inlinable
  @inline(__always)
  func multipliedSaturating(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
