import Auditing
import Domain

/// Times on pages: in UTC, or at an offset from it.
struct PageTime {
  /// The offset, positive to the east.
  var offset = TimeSpan.zero

  /// The name of the offset, such as `UTC+5:30`.
  var zone: String {
    let minutes = offset.microseconds / 60_000_000
    if minutes == 0 { return "UTC" }
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    return "UTC\(minutes < 0 ? "-" : "+")\(hours)\(rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)")"
  }

  /// The offset as a query has it, such as `-04:00`; nil for UTC.
  var query: String? {
    let minutes = offset.microseconds / 60_000_000
    if minutes == 0 { return nil }
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    return "\(minutes < 0 ? "-" : "+")\(hours < 10 ? "0" : "")\(hours):\(rest < 10 ? "0" : "")\(rest)"
  }

  /// Makes times in UTC.
  init() {}

  /// Makes times at an offset such as `-04:00`; nil for any other text.
  init?(offset text: String) {
    // A plus sign in a query stands for a space.
    let text = text.hasPrefix(" ") ? "+" + text.dropFirst() : text
    let parts = text.dropFirst().split(separator: ":")
    guard let sign = text.first, sign == "+" || sign == "-", parts.count == 2, parts.allSatisfy({ $0.count == 2 }),
      let hours = Int64(parts[0]), let minutes = Int64(parts[1]), (0...14).contains(hours), (0..<60).contains(minutes)
    else { return nil }
    offset = .minutes((hours * 60 + minutes) * (sign == "-" ? -1 : 1))
  }

  /// Returns the date and the time of day, such as `2013-03-08 21:05:00`.
  func text(_ time: Timestamp) -> String {
    Figure.time(time + offset).replacing("T", with: " ", maxReplacements: 1).replacing("Z", with: "")
  }

  /// Reads a time as people type it at this offset, such as `2013-03-08 21:05` or `2013-03-08`; nil for any other text.
  func read(_ text: String) -> Timestamp? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
    guard (1...2).contains(parts.count) else { return nil }
    var clock = parts.count == 2 ? String(parts[1]) : "00:00"
    if clock.utf8.count == 5 { clock += ":00" }
    return Timestamp(rfc3339: "\(parts[0])T\(clock)Z").map { $0 - offset }
  }

  /// Returns the time of day, such as `21:05`.
  func clock(_ time: Timestamp) -> String { String(text(time).dropFirst(11).prefix(5)) }
}
