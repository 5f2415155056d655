import Planning

/// The budget days and local hours of one time zone. A budget day goes from one anchor to the next and has 23 to 25 hours
/// when the clocks change.
struct LocalDays {
  /// The IANA id of the time zone.
  let zone: String
  /// The start of a budget day, in minutes after local midnight.
  let anchorMinute: Int
  private let offsets: TimeZoneOffsets
  /// The offset from UTC in the quarter hour of the last call, µs.
  private var offset: Int64 = 0
  /// The start of that quarter hour, µs.
  private var quarter: Int64 = .min

  /// One hour, µs.
  static let hour: Int64 = 3_600_000_000
  /// 24 hours, µs.
  static let day: Int64 = 24 * hour

  /// Creates the days of a zone.
  /// - Parameters:
  ///   - zone: The IANA id of the time zone.
  ///   - anchorMinute: The start of a budget day, in minutes after local midnight.
  ///   - offsets: The source of offsets from UTC.
  init(zone: String, anchorMinute: Int, offsets: TimeZoneOffsets = .system) {
    self.zone = zone
    self.anchorMinute = anchorMinute
    self.offsets = offsets
  }

  /// One budget day.
  struct Day: Equatable, Sendable {
    /// The number of local days since 1970-01-01.
    var index: Int64
    /// The first instant, µs.
    var start: Int64
    /// The end, µs; the first instant of the next day.
    var end: Int64
  }

  /// Returns the local hour at an instant, 0…23. Keeps the offset of the last quarter hour, because offsets change on
  /// quarter hours at the finest.
  /// - Parameter instant: µs.
  mutating func hour(at instant: Int64) -> Int {
    let place = Self.floor(instant, 900_000_000)
    if place != quarter {
      quarter = place
      offset = offset(at: instant)
    }
    let local = instant + offset
    return Int((local - Self.floor(local, Self.day) * Self.day) / Self.hour)
  }

  /// Returns the budget day that contains an instant.
  /// - Parameter instant: µs.
  func day(at instant: Int64) -> Day {
    var index = Self.floor(instant + offset(at: instant) - Int64(anchorMinute) * 60_000_000, Self.day)
    // A clock change between the instant and the anchor can put the guess off by one.
    while anchor(index) > instant { index -= 1 }
    while anchor(index + 1) <= instant { index += 1 }
    return Day(index: index, start: anchor(index), end: anchor(index + 1))
  }

  /// Returns the start of a budget day, µs.
  private func anchor(_ index: Int64) -> Int64 {
    let local = index * Self.day + Int64(anchorMinute) * 60_000_000
    return local - offset(at: local - offset(at: local))
  }

  /// Returns the offset from UTC at an instant, µs.
  private func offset(at instant: Int64) -> Int64 {
    offsets.secondsEast(zone, Self.floor(instant, 1_000_000)) * 1_000_000
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((-a + b - 1) / b) }
}
