import ArgumentParser
import Domain

/// An instant on the command line.
enum Instant {
  static func read(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else {
      throw ValidationError("expected an RFC 3339 date and time such as 2013-07-04T12:00:00Z, found '\(text)'")
    }
    return time
  }

  /// `+02:00`, `-04:00`: the offset of an RFC 3339 time.
  static func readOffset(_ text: String) throws -> TimeSpan {
    let midnight = "1970-01-01T00:00:00"
    guard let local = Timestamp(rfc3339: midnight + "Z"), let time = Timestamp(rfc3339: midnight + text) else {
      throw ValidationError("expected an offset to UTC such as +02:00 or -04:00, found '\(text)'")
    }
    return local - time
  }
}
