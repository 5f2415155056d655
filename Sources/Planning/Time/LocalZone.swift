import Domain

/// One time zone as the planner uses it. It caches the current offset and the current budget day, because a fan-out asks for
/// them once per instance.
struct LocalZone {
  /// The IANA id.
  let id: String
  /// The offset from UTC, positive to the east; valid for `offsetFrom..<offsetUntil`.
  private(set) var offset = TimeSpan.zero
  private var offsetFrom = Timestamp.distantFuture
  private var offsetUntil = Timestamp.distantPast
  /// The current budget days by anchor minute; nearly always one entry.
  private var days: [CachedDay] = []

  private struct CachedDay {
    var anchorMinute: Int
    var start: Timestamp
    var end: Timestamp
  }

  /// Creates a zone whose offset is not known yet. Call `refresh` before asking for local times.
  init(id: String) { self.id = id }

  /// The length of a day without a clock change.
  static var day: TimeSpan { .hours(24) }
  /// The length of an hour.
  static var hour: TimeSpan { .hours(1) }
  private static let microsecondsPerDay: Int64 = 86_400_000_000
  /// The time for which an offset is cached: a quarter of an hour, in µs. Offsets change at whole quarter hours only.
  private static let quarter: Int64 = 900_000_000

  /// Returns whether `offset` is valid at an instant.
  @inline(__always)
  func isFresh(_ now: Timestamp) -> Bool { now < offsetUntil && now >= offsetFrom }

  /// Updates `offset`.
  /// - Parameters:
  ///   - now: The instant at which it must be valid.
  ///   - offsets: The offsets of all zones.
  mutating func refresh(now: Timestamp, offsets: TimeZoneOffsets) {
    if isFresh(now) { return }
    offset = offset(at: now, offsets)
    offsetFrom = Timestamp(microseconds: Self.floor(now.microseconds, Self.quarter))
    offsetUntil = offsetFrom + TimeSpan(microseconds: Self.quarter)
  }

  /// Returns the local time of day of an instant by the cached offset. Call `refresh` first.
  @inline(__always)
  func timeOfDay(_ instant: Timestamp) -> TimeOfDay {
    let rest = (instant + offset).microseconds % Self.microsecondsPerDay
    return TimeOfDay(microseconds: rest < 0 ? rest + Self.microsecondsPerDay : rest)
  }

  /// Returns the budget day that holds `now`: from one anchor to the next. It lasts 24 h, or 23 to 25 h if the clocks change
  /// in it.
  /// - Parameters:
  ///   - now: Log time.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  ///   - offsets: The offsets of all zones.
  @inline(__always)
  mutating func budgetDay(now: Timestamp, anchorMinute: Int, offsets: TimeZoneOffsets) -> (
    start: Timestamp, end: Timestamp
  ) {
    for cached in days where cached.anchorMinute == anchorMinute && now >= cached.start && now < cached.end {
      return (cached.start, cached.end)
    }
    return computeBudgetDay(now: now, anchorMinute: anchorMinute, offsets: offsets)
  }

  private mutating func computeBudgetDay(
    now: Timestamp, anchorMinute: Int, offsets: TimeZoneOffsets
  ) -> (start: Timestamp, end: Timestamp) {
    let shift = TimeSpan.minutes(Int64(anchorMinute))
    var index = Self.floorDivide((now + offset(at: now, offsets) - shift).microseconds, Self.microsecondsPerDay)
    var start = anchor(index, shift, offsets)
    // A clock change between `now` and the anchor can put the guess off by one day.
    if start > now {
      index -= 1
      start = anchor(index, shift, offsets)
    }
    var end = anchor(index + 1, shift, offsets)
    if end <= now {
      start = end
      end = anchor(index + 2, shift, offsets)
    }
    days.removeAll { $0.anchorMinute == anchorMinute }
    if days.count < 16 { days.append(CachedDay(anchorMinute: anchorMinute, start: start, end: end)) }
    return (start, end)
  }

  /// Returns the first beginning of a budget day at or after an instant.
  /// - Parameters:
  ///   - instant: The earliest instant to return.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  ///   - offsets: The offsets of all zones.
  func firstAnchor(atOrAfter instant: Timestamp, anchorMinute: Int, offsets: TimeZoneOffsets) -> Timestamp {
    let shift = TimeSpan.minutes(Int64(anchorMinute))
    let local = (instant + offset(at: instant, offsets) - shift).microseconds
    var index = Self.floorDivide(local, Self.microsecondsPerDay) - 1
    var found = anchor(index, shift, offsets)
    while found < instant {
      index += 1
      found = anchor(index, shift, offsets)
    }
    return found
  }

  /// Returns the instant of the anchor of local day `index` (days since 1970-01-01 local).
  private func anchor(_ index: Int64, _ shift: TimeSpan, _ offsets: TimeZoneOffsets) -> Timestamp {
    let local = Timestamp(microseconds: 0) + LocalZone.day * index + shift
    let guess = local - offset(at: local, offsets)
    return local - offset(at: guess, offsets)
  }

  private func offset(at instant: Timestamp, _ offsets: TimeZoneOffsets) -> TimeSpan {
    .seconds(offsets.secondsEast(id, instant.seconds))
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    let quotient = a / b
    return a % b < 0 ? quotient - 1 : quotient
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { floorDivide(a, b) * b }
}

/// A local time of day on the clock.
struct TimeOfDay: Comparable {
  /// The microseconds after 00:00, less than a day.
  let microseconds: Int64

  /// The hour, 0…23.
  @inline(__always)
  var hour: Int { Int(microseconds / 3_600_000_000) }

  /// The time since the hour began.
  @inline(__always)
  var pastHour: TimeSpan { TimeSpan(microseconds: microseconds % 3_600_000_000) }

  /// Whether the first time of day is earlier.
  static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { a.microseconds < b.microseconds }
}
