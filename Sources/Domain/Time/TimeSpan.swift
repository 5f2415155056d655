/// A length of time in microseconds. `Duration` of the standard library counts attoseconds, is twice as large, and is slower to
/// compute with. Arithmetic stops at the bounds of the type instead of overflowing.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// The microseconds; may be negative.
  public var microseconds: Int64

  /// Creates a span from microseconds.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Returns a span of whole seconds.
  @inlinable public static func seconds(_ n: Int64) -> TimeSpan {
    TimeSpan(microseconds: n.multipliedSaturating(by: 1_000_000))
  }

  /// Returns a span of whole minutes.
  @inlinable public static func minutes(_ n: Int64) -> TimeSpan { .seconds(n.multipliedSaturating(by: 60)) }

  /// Returns a span of whole hours.
  @inlinable public static func hours(_ n: Int64) -> TimeSpan { .seconds(n.multipliedSaturating(by: 3600)) }

  /// The span of no length.
  @inlinable public static var zero: TimeSpan { TimeSpan(microseconds: 0) }

  /// The span longer than every other: "without bound".
  @inlinable public static var unbounded: TimeSpan { TimeSpan(microseconds: .max) }

  /// Whether the first span is shorter.
  @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }

  /// Returns the sum of two spans.
  @inlinable public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.addingSaturating(b.microseconds))
  }

  /// Returns the difference of two spans.
  @inlinable public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.subtractingSaturating(b.microseconds))
  }

  /// Returns a multiple of a span.
  @inlinable public static func * (a: TimeSpan, n: Int64) -> TimeSpan {
    TimeSpan(microseconds: a.microseconds.multipliedSaturating(by: n))
  }
}
