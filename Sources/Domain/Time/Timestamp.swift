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
  @inlinable public var milliseconds: Int64 { microseconds >= 0 ? microseconds / 1000 : (microseconds - 999) / 1000 }

  /// The whole seconds since the Unix epoch, rounded down.
  @inlinable public var seconds: Int64 {
    microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
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
