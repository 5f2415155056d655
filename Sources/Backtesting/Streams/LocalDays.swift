import Planning

/// The budget days of one time zone: from one anchor to the next, 23 to 25 h where the clocks change; and local hours.
struct LocalDays {
  let zone: String
  let anchorMinute: Int
  private let offsets: TimeZoneOffsets
  /// Offset of the quarter hour asked for last, µs.
  private var offset: Int64 = 0
  private var quarter: Int64 = .min

  static let hour: Int64 = 3_600_000_000
  static let day: Int64 = 24 * hour

  init(zone: String, anchorMinute: Int, offsets: TimeZoneOffsets = .system) {
    self.zone = zone
    self.anchorMinute = anchorMinute
    self.offsets = offsets
  }

  struct Day: Equatable, Sendable {
    /// Days since 1970-01-01, local.
    var index: Int64
    /// µs
    var start: Int64
    var end: Int64
  }

  /// 0…23
  mutating func hour(at instant: Int64) -> Int {
    let place = Self.floor(instant, 900_000_000)
    if place != quarter {
      quarter = place
      offset = offset(at: instant)
    }
    let local = instant + offset
    return Int((local - Self.floor(local, Self.day) * Self.day) / Self.hour)
  }

  /// The budget day that holds an instant.
  func day(at instant: Int64) -> Day {
    var index = Self.floor(instant + offset(at: instant) - Int64(anchorMinute) * 60_000_000, Self.day)
    // A clock change between the instant and the anchor can put the guess off by one.
    while anchor(index) > instant { index -= 1 }
    while anchor(index + 1) <= instant { index += 1 }
    return Day(index: index, start: anchor(index), end: anchor(index + 1))
  }

  private func anchor(_ index: Int64) -> Int64 {
    let local = index * Self.day + Int64(anchorMinute) * 60_000_000
    return local - offset(at: local - offset(at: local))
  }

  private func offset(at instant: Int64) -> Int64 {
    offsets.secondsEast(zone, Self.floor(instant, 1_000_000)) * 1_000_000
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((-a + b - 1) / b) }
}
