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

  @inlinable public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds &+ b.microseconds)
  }
  @inlinable public static func - (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds &- b.microseconds)
  }
  @inlinable public static func - (a: Timestamp, b: Timestamp) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds &- b.microseconds)
  }
}

/// A length of time in microseconds. Named `TimeSpan` because `Duration` is the standard library's attosecond type, which is
/// twice as large and slower to compute with.
public struct TimeSpan: Hashable, Comparable, Sendable {
  public var microseconds: Int64

  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }
  @inlinable public static func seconds(_ n: Int64) -> TimeSpan { TimeSpan(microseconds: n * 1_000_000) }
  @inlinable public static func minutes(_ n: Int64) -> TimeSpan { .seconds(n * 60) }
  @inlinable public static func hours(_ n: Int64) -> TimeSpan { .seconds(n * 3600) }
  public static let zero = TimeSpan(microseconds: 0)

  @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds &+ b.microseconds)
  }
  @inlinable public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds &- b.microseconds)
  }
  @inlinable public static func * (a: TimeSpan, n: Int64) -> TimeSpan { TimeSpan(microseconds: a.microseconds &* n) }
}
