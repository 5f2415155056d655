import ArgumentParser
import Domain

/// Reads times on the command line.
enum Instant {
  /// - Throws: `ValidationError` when the text is no RFC 3339 date and time.
  static func read(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else {
      throw ValidationError("expected an RFC 3339 date and time such as 2013-07-04T12:00:00Z, found '\(text)'")
    }
    return time
  }

  /// Reads the offset of an RFC 3339 time, such as `+02:00` or `-04:00`.
  /// - Throws: `ValidationError` when the text is no offset.
  static func readOffset(_ text: String) throws -> TimeSpan {
    guard let offset = TimeSpan(utcOffset: text) else {
      throw ValidationError("expected an offset to UTC such as +02:00 or -04:00, found '\(text)'")
    }
    return offset
  }
}
