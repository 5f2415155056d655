import Foundation

/// A time in milliseconds since 1970, and its text as RFC 3339 has it.
struct ServerTime: Sendable, Comparable, Codable {
  /// The milliseconds since 1970.
  var milliseconds: Int64

  /// Makes a time.
  init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Rounds a date. A date that is out of reach becomes 1970.
  init(_ date: Date) { milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? 0 }

  /// The text, such as `2026-11-23T01:10:34.120Z`.
  var text: String {
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let whole = Date(timeIntervalSince1970: Double(rest < 0 ? seconds - 1 : seconds))
    let digits = String((rest + 1000) % 1000 + 1000).dropFirst()
    return whole.formatted(.iso8601).dropLast() + ".\(digits)Z"
  }

  /// Returns a later time.
  static func + (time: ServerTime, span: Duration) -> ServerTime {
    ServerTime(milliseconds: time.milliseconds + Int64((span / .milliseconds(1)).rounded()))
  }

  static func < (left: ServerTime, right: ServerTime) -> Bool { left.milliseconds < right.milliseconds }
}
