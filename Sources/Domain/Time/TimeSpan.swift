/// A length of time in microseconds. `Duration` of the standard library counts attoseconds, is twice as large, and is slower to
/// compute with.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// The microseconds; may be negative.
  public var microseconds: Int64

  /// Creates a span from microseconds.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }
  /// Returns a span of whole seconds.
  @inlinable public static func seconds(_ n: Int64) -> TimeSpan { TimeSpan(microseconds: n * 1_000_000) }
  /// Returns a span of whole minutes.
  @inlinable public static func minutes(_ n: Int64) -> TimeSpan { .seconds(n * 60) }
  /// Returns a span of whole hours.
  @inlinable public static func hours(_ n: Int64) -> TimeSpan { .seconds(n * 3600) }

  /// The span of no length.
  public static let zero = TimeSpan(microseconds: 0)

  /// Whether the first span is shorter.
  /// Returns the sum of two spans.
  @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds &+ b.microseconds)
  }
  /// Returns the difference of two spans.
  @inlinable public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds &- b.microseconds)
  }
  /// Returns a multiple of a span.
  @inlinable public static func * (a: TimeSpan, n: Int64) -> TimeSpan { TimeSpan(microseconds: a.microseconds &* n) }
}
