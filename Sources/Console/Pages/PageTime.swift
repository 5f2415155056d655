import Auditing
import Domain
import Foundation

/// Times on pages: in UTC, at an offset from it, or in a time zone, whose offset is that of each time.
struct PageTime {
  private var fixed = TimeSpan.zero
  private var region: TimeZone?
  /// Whether the address of the page names the offset, so that links to other pages name it, too.
  private var isChosen = false

  /// The name of the zone: `UTC`, an offset such as `UTC+5:30`, or a time zone such as `America/New_York`.
  var zone: String { region?.identifier ?? Self.name(fixed) }

  /// Whether every time is in UTC.
  var isUTC: Bool { region == nil && fixed == .zero }

  /// The offset as a query has it, such as `-04:00`; nil unless the address of the page names one.
  var query: String? {
    guard isChosen else { return nil }
    let minutes = fixed.microseconds / 60_000_000
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    return "\(minutes < 0 ? "-" : "+")\(hours < 10 ? "0" : "")\(hours):\(rest < 10 ? "0" : "")\(rest)"
  }

  /// Makes times in UTC.
  init() {}

  /// Makes times in a time zone such as `America/New_York`; nil if no zone has the name.
  init?(region name: String) {
    guard let region = TimeZone(identifier: name) else { return nil }
    self.region = region
  }

  /// Makes times at an offset such as `-04:00`; nil for any other text.
  init?(offset text: String) {
    // A plus sign in a query stands for a space.
    let text = text.hasPrefix(" ") ? "+" + text.dropFirst() : text
    let parts = text.dropFirst().split(separator: ":")
    guard let sign = text.first, sign == "+" || sign == "-", parts.count == 2, parts.allSatisfy({ $0.count == 2 }),
      let hours = Int64(parts[0]), let minutes = Int64(parts[1]), (0...14).contains(hours), (0..<60).contains(minutes)
    else { return nil }
    fixed = .minutes((hours * 60 + minutes) * (sign == "-" ? -1 : 1))
    isChosen = true
  }

  private static func name(_ offset: TimeSpan) -> String {
    let minutes = offset.microseconds / 60_000_000
    if minutes == 0 { return "UTC" }
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    return "UTC\(minutes < 0 ? "-" : "+")\(hours)\(rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)")"
  }

  /// Returns the offset at an instant, positive to the east.
  func offset(at time: Timestamp) -> TimeSpan {
    guard let region else { return fixed }
    let seconds = region.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.microseconds / 1_000_000)))
    return .minutes(Int64(seconds / 60))
  }

  /// Returns the instant at which clocks of the zone show a time. Of two such instants, or of none, it is one within an hour.
  ///
  /// - Parameter local: The time on the clocks, as if they showed UTC.
  func instant(_ local: Timestamp) -> Timestamp { local - offset(at: local - offset(at: local)) }

  /// Returns the date and the time of day, such as `2013-03-08 21:05:00`.
  func text(_ time: Timestamp) -> String {
    Figure.time(time + offset(at: time)).replacing("T", with: " ", maxReplacements: 1).replacing("Z", with: "")
  }

  /// Returns the date and the time of day with the offset at that time, and in UTC unless that is the same, such as
  /// `2013-03-08 16:05:00 UTC-5 (2013-03-08 21:05:00 UTC)`.
  func full(_ time: Timestamp) -> String {
    let offset = offset(at: time)
    return "\(text(time)) \(Self.name(offset))" + (offset == .zero ? "" : " (\(PageTime().text(time)) UTC)")
  }

  /// Returns a cell of a table: the time, and below it the same in UTC if the page is in another zone.
  func cell(_ time: Timestamp, link: String? = nil) -> PageCell {
    PageCell(text(time), link: link, detail: isUTC ? nil : "\(PageTime().text(time)) UTC")
  }

  /// Reads a time as people type it in this zone, such as `2013-03-08 21:05` or `2013-03-08`; nil for any other text.
  func read(_ text: String) -> Timestamp? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
    guard (1...2).contains(parts.count) else { return nil }
    var clock = parts.count == 2 ? String(parts[1]) : "00:00"
    if clock.utf8.count == 5 { clock += ":00" }
    return Timestamp(rfc3339: "\(parts[0])T\(clock)Z").map { instant($0) }
  }

  /// Returns the date, such as `2013-03-08`.
  func date(_ time: Timestamp) -> String { String(text(time).prefix(10)) }

  /// Returns the text of a mark below a drawing: the time of day, with the day for the first mark, and the date alone for midnight.
  func mark(_ time: Timestamp, isFirst: Bool) -> String {
    let clock = clock(time)
    if clock == "00:00" { return date(time) }
    return isFirst ? "\(date(time).dropFirst(5)) \(clock)" : clock
  }

  /// Returns the time of day, such as `21:05`.
  func clock(_ time: Timestamp) -> String { String(text(time).dropFirst(11).prefix(5)) }
}
