import Domain
package import Planning

/// The budget days and local hours of one time zone. A budget day begins at the anchor, a fixed local time, and ends at
/// the next one. It has 23 to 25 hours when the clocks change.
package struct LocalDays {
  /// The IANA id of the time zone.
  package let zone: String
  /// The start of a budget day, in minutes after local midnight.
  package let anchorMinute: Int
  private let offsets: any TimeZoneOffsets
  /// The offset from UTC in the quarter hour of the last call, µs.
  private var offset: Int64 = 0
  /// The start of that quarter hour, µs.
  private var quarter: Int64 = .min

  /// One hour, µs.
  package static let hour: Int64 = 3_600_000_000
  /// 24 hours, µs.
  package static let day: Int64 = 24 * hour

  /// Creates the days of a zone.
  /// - Parameters:
  ///   - zone: The IANA id of the time zone.
  ///   - anchorMinute: The start of a budget day, in minutes after local midnight.
  ///   - offsets: The source of offsets from UTC.
  package init(zone: String, anchorMinute: Int, offsets: any TimeZoneOffsets = .system) {
    self.zone = zone
    self.anchorMinute = anchorMinute
    self.offsets = offsets
  }

  /// One budget day.
  package struct Day: Equatable, Sendable {
    /// The number of local days since 1970-01-01.
    package var index: Int64
    /// The first instant, µs.
    package var start: Int64
    /// The end, µs; the first instant of the next day.
    package var end: Int64

    /// Creates a day.
    /// - Parameters:
    ///   - index: The number of local days since 1970-01-01.
    ///   - start: The first instant, µs.
    ///   - end: The end, µs.
    package init(index: Int64, start: Int64, end: Int64) {
      self.index = index
      self.start = start
      self.end = end
    }
  }

  /// Returns the local hour at an instant, 0…23. Keeps the offset of the last quarter hour, because offsets change on
  /// quarter hours at the finest.
  /// - Parameter instant: µs.
  package mutating func hour(at instant: Int64) -> Int {
    let place = Self.floor(instant, 900_000_000)
    if place != quarter {
      quarter = place
      offset = offset(at: instant)
    }
    let local = instant + offset
    return Int((local - Self.floor(local, Self.day) * Self.day) / Self.hour)
  }

  /// Returns the instants of a day at which a local hour begins, µs, with the chance of a look in that hour.
  /// - Parameters:
  ///   - day: The day.
  ///   - views: The chance of a look by local hour, 24 values.
  package mutating func hours(of day: Day, views: [Double]) -> [(start: Int64, view: Double)] {
    // Offsets from UTC are multiples of a quarter hour, so a local hour begins at one of the quarter hours.
    var hours: [(start: Int64, view: Double)] = []
    var instant = day.start
    var last = -1
    while instant < day.end {
      let hour = hour(at: instant)
      if hour != last { hours.append((instant, views[hour])) }
      last = hour
      instant += 900_000_000
    }
    return hours
  }

  /// Returns the budget day that contains an instant.
  /// - Parameter instant: µs.
  package func day(at instant: Int64) -> Day {
    var index = Self.floor(instant + offset(at: instant) - Int64(anchorMinute) * 60_000_000, Self.day)
    // A clock change between the instant and the anchor can put the guess off by one.
    while anchor(index) > instant { index -= 1 }
    while anchor(index + 1) <= instant { index += 1 }
    return Day(index: index, start: anchor(index), end: anchor(index + 1))
  }

  /// Returns the start of a budget day, µs.
  private func anchor(_ index: Int64) -> Int64 {
    let local = Timestamp(microseconds: index * Self.day + Int64(anchorMinute) * 60_000_000)
    return offsets.firstInstant(of: local, in: zone).microseconds
  }

  /// Returns the offset from UTC at an instant, µs.
  private func offset(at instant: Int64) -> Int64 {
    offsets.secondsEast(zone, Self.floor(instant, 1_000_000)) * 1_000_000
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((-a + b - 1) / b) }
}
