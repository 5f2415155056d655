import Domain
import Policies

/// One time zone as the planner uses it. It caches the current offset, the current budget day and the quiet hours, because a
/// fan-out asks for them once per instance.
struct LocalZone {
  /// The IANA id.
  let id: String
  /// The offset from UTC, positive to the east; valid for `offsetFrom..<offsetUntil`.
  private(set) var offset = TimeSpan.zero
  private var offsetFrom = Timestamp.distantFuture
  private var offsetUntil = Timestamp.distantPast
  /// The end of the quiet hours that hold at the instant of the last `refresh`; nil if none hold.
  private(set) var quietEnd: Timestamp?
  /// The instant from which `quietEnd` is valid. It is valid until the quiet hours end or the next ones begin.
  private var quietFrom = Timestamp.distantFuture
  private var quietUntil = Timestamp.distantPast
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

  /// Returns whether `offset` and `quietEnd` are valid at an instant.
  func isFresh(_ now: Timestamp) -> Bool {
    now < offsetUntil && now >= offsetFrom && now < quietUntil && now >= quietFrom
  }

  /// Updates `offset` and `quietEnd`.
  /// - Parameters:
  ///   - now: The instant at which they must be valid.
  ///   - quiet: The quiet hours of the policy, the same as in the call before unless `forgetQuietHours` was called; nil if it
  ///     has none.
  ///   - offsets: The offsets of all zones.
  mutating func refresh(now: Timestamp, quiet: QuietHours?, offsets: any TimeZoneOffsets) {
    if now >= offsetUntil || now < offsetFrom {
      offset = offset(at: now, offsets)
      offsetFrom = Timestamp(microseconds: Self.floor(now.microseconds, Self.quarter))
      offsetUntil = offsetFrom + TimeSpan(microseconds: Self.quarter)
    }
    if now < quietUntil && now >= quietFrom { return }
    guard let quiet else {
      (quietEnd, quietFrom, quietUntil) = (nil, .distantPast, .distantFuture)
      return
    }
    findQuietHours(quiet, now: now, offsets)
  }

  /// Makes the next `refresh` find `quietEnd` again, because the policy has other quiet hours.
  mutating func forgetQuietHours() { (quietEnd, quietFrom, quietUntil) = (nil, .distantFuture, .distantPast) }

  /// Finds the quiet hours that hold now, or the time between two of them. They begin and end when the clock first shows
  /// their times, see `TimeZoneOffsets.firstInstant`.
  private mutating func findQuietHours(_ quiet: QuietHours, now: Timestamp, _ offsets: any TimeZoneOffsets) {
    let (from, to) = (TimeSpan.minutes(Int64(quiet.fromMinute)), TimeSpan.minutes(Int64(quiet.toMinute)))
    let today = Self.floorDivide((now + offset(at: now, offsets) - from).microseconds, Self.microsecondsPerDay)
    // In an hour that the clock shows twice, the quiet hours of the next day may have begun when it showed it first. Those of the
    // day may begin only after a change.
    var (day, next) = (today + 1, Timestamp.distantFuture)
    var start = firstInstant(day, from, offsets)
    while start > now, day >= today {
      next = start
      day -= 1
      start = firstInstant(day, from, offsets)
    }
    guard start <= now else {
      (quietEnd, quietFrom, quietUntil) = (nil, .distantPast, start)
      return
    }
    if next == .distantFuture { next = firstInstant(day + 1, from, offsets) }
    let end = firstInstant(to < from ? day + 1 : day, to, offsets)
    if now < end {
      (quietEnd, quietFrom, quietUntil) = (end, start, end)
    } else {
      (quietEnd, quietFrom, quietUntil) = (nil, end, next)
    }
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
  mutating func budgetDay(now: Timestamp, anchorMinute: Int, offsets: any TimeZoneOffsets) -> (
    start: Timestamp, end: Timestamp
  ) {
    for cached in days where cached.anchorMinute == anchorMinute && now >= cached.start && now < cached.end {
      return (cached.start, cached.end)
    }
    return computeBudgetDay(now: now, anchorMinute: anchorMinute, offsets: offsets)
  }

  private mutating func computeBudgetDay(
    now: Timestamp, anchorMinute: Int, offsets: any TimeZoneOffsets
  ) -> (start: Timestamp, end: Timestamp) {
    let shift = TimeSpan.minutes(Int64(anchorMinute))
    var index = Self.floorDivide((now + offset(at: now, offsets) - shift).microseconds, Self.microsecondsPerDay)
    var start = firstInstant(index, shift, offsets)
    // A clock change between `now` and the anchor can put the guess off by one day.
    if start > now {
      index -= 1
      start = firstInstant(index, shift, offsets)
    }
    var end = firstInstant(index + 1, shift, offsets)
    if end <= now {
      start = end
      end = firstInstant(index + 2, shift, offsets)
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
  func firstAnchor(atOrAfter instant: Timestamp, anchorMinute: Int, offsets: any TimeZoneOffsets) -> Timestamp {
    let shift = TimeSpan.minutes(Int64(anchorMinute))
    let local = (instant + offset(at: instant, offsets) - shift).microseconds
    var index = Self.floorDivide(local, Self.microsecondsPerDay) - 1
    var found = firstInstant(index, shift, offsets)
    while found < instant {
      index += 1
      found = firstInstant(index, shift, offsets)
    }
    return found
  }

  /// Returns the instant at which the clock first shows a time of a local day.
  /// - Parameters:
  ///   - day: The day, in days since 1970-01-01 local.
  ///   - timeOfDay: The time after midnight.
  ///   - offsets: The offsets of all zones.
  private func firstInstant(_ day: Int64, _ timeOfDay: TimeSpan, _ offsets: any TimeZoneOffsets) -> Timestamp {
    offsets.firstInstant(of: Timestamp(microseconds: 0) + LocalZone.day * day + timeOfDay, in: id)
  }

  private func offset(at instant: Timestamp, _ offsets: any TimeZoneOffsets) -> TimeSpan {
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
  var hour: Int { Int(microseconds / 3_600_000_000) }

  /// The time since the hour began.
  var pastHour: TimeSpan { TimeSpan(microseconds: microseconds % 3_600_000_000) }

  /// Whether the first time of day is earlier.
  static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { a.microseconds < b.microseconds }
}
