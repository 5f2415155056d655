import Domain

/// One time zone as the planner uses it. The offset and the budget day of now are cached, because a fan-out asks for them
/// once per instance.
struct LocalZone {
  let id: String
  /// The offset from UTC, valid for `offsetFrom..<offsetUntil`.
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

  init(id: String) { self.id = id }

  static var day: TimeSpan { .hours(24) }
  static var hour: TimeSpan { .hours(1) }
  private static let microsecondsPerDay: Int64 = 86_400_000_000
  /// Offsets change on quarter hours at the finest.
  private static let quarter: Int64 = 900_000_000

  /// Whether `refresh` would change nothing.
  @inline(__always)
  func isFresh(_ now: Timestamp) -> Bool { now < offsetUntil && now >= offsetFrom }

  /// Updates `offset` for `now`.
  mutating func refresh(now: Timestamp, offsets: TimeZoneOffsets) {
    if isFresh(now) { return }
    offset = offset(at: now, offsets)
    offsetFrom = Timestamp(microseconds: Self.floor(now.microseconds, Self.quarter))
    offsetUntil = offsetFrom + TimeSpan(microseconds: Self.quarter)
  }

  /// Returns the local time of day; `refresh` first.
  @inline(__always)
  func timeOfDay(_ instant: Timestamp) -> TimeOfDay {
    let rest = (instant + offset).microseconds % Self.microsecondsPerDay
    return TimeOfDay(microseconds: rest < 0 ? rest + Self.microsecondsPerDay : rest)
  }

  /// Returns the budget day that holds `now`: from one anchor to the next, 23 to 25 h where the clocks change.
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

  /// Returns the first anchor at or after an instant.
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

/// A local time of day: the time since midnight.
struct TimeOfDay: Comparable {
  let microseconds: Int64

  /// The hour, 0…23.
  @inline(__always)
  var hour: Int { Int(microseconds / 3_600_000_000) }

  /// The time since the hour began.
  @inline(__always)
  var pastHour: TimeSpan { TimeSpan(microseconds: microseconds % 3_600_000_000) }

  static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { a.microseconds < b.microseconds }
}
