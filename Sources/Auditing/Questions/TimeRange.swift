public import Domain

/// A range of log time.
public struct TimeRange: Equatable, Sendable {
  /// The first instant of the range; nil: no lower limit.
  public var from: Timestamp?
  /// The first instant after the range; nil: no upper limit.
  public var to: Timestamp?

  /// - Parameters:
  ///   - from: the first instant of the range; nil: no lower limit.
  ///   - to: the first instant after the range; nil: no upper limit.
  public init(from: Timestamp? = nil, to: Timestamp? = nil) {
    self.from = from
    self.to = to
  }

  /// The range without limits.
  public static let all = TimeRange()

  /// The first microsecond of the range.
  var first: Int64 { from?.microseconds ?? .min }
  /// The first microsecond after the range.
  var end: Int64 { to?.microseconds ?? .max }
  /// Whether a time in microseconds lies in the range. A range without an upper limit includes the last `Int64`.
  func contains(_ at: Int64) -> Bool { at >= first && (to == nil || at < end) }
}
