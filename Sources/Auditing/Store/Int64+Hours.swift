/// Converts times from microseconds since 1970, which rows hold, to hours, which tallies count by.
extension Int64 {
  static var hourMicroseconds: Int64 { 3_600_000_000 }
  /// The whole hours since 1970-01-01T00:00:00Z, rounded down.
  var hourIndex: Int64 { self >= 0 ? self / .hourMicroseconds : (self + 1) / .hourMicroseconds - 1 }
}
