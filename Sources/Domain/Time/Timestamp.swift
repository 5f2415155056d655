/// An instant, in microseconds since 1970-01-01T00:00:00Z. It is the only type for instants; nothing here reads a clock.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since the Unix epoch; may be negative.
  public var microseconds: Int64

  /// Creates an instant from microseconds since the Unix epoch.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates an instant from milliseconds since the Unix epoch, which is Kafka's unit. Instants beyond the range of `Int64`
  /// microseconds are clamped to it.
  @inlinable public init(milliseconds: Int64) {
    let (value, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    microseconds = overflow ? (milliseconds < 0 ? .min : .max) : value
  }

  /// The milliseconds since the Unix epoch, rounded down.
  @inlinable public var milliseconds: Int64 { roundedDown(microsecondsPerUnit: 1000) }

  /// The whole seconds since the Unix epoch, rounded down.
  @inlinable public var seconds: Int64 { roundedDown(microsecondsPerUnit: 1_000_000) }

  /// Returns the whole units since the Unix epoch, rounded down. A record's timestamp may be any number, and the usual
  /// `(microseconds - unit + 1) / unit` overflows near the lower end of the range; this does not.
  @inlinable func roundedDown(microsecondsPerUnit unit: Int64) -> Int64 {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: unit)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The instant before every other. It means "never happened".
  @inlinable public static var distantPast: Timestamp { Timestamp(microseconds: .min) }
  /// The instant after every other. It means "never will".
  @inlinable public static var distantFuture: Timestamp { Timestamp(microseconds: .max) }

  /// Whether the first instant is earlier.
  @inlinable public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

  /// Returns the instant that is a span later, or the nearest bound of the type.
  @inlinable public static func + (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds.addingSaturating(b.microseconds))
  }

  /// Returns the instant that is a span earlier, or the nearest bound of the type.
  @inlinable public static func - (a: Timestamp, b: TimeSpan) -> Timestamp {
    Timestamp(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }

  /// Returns the span from the second instant to the first, or the nearest bound of the type.
  @inlinable public static func - (a: Timestamp, b: Timestamp) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }
}
