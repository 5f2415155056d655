/// Offsets from UTC by IANA zone id, given from outside so that a planner reads no database itself.
public struct TimeZoneOffsets: Sendable {
  /// Seconds east of UTC at an instant (Unix seconds); 0 for an unknown zone.
  public let secondsEast: @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64

  public init(secondsEast: @escaping @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64) {
    self.secondsEast = secondsEast
  }
}

/// One time zone as the planner uses it: the offset now and the budget day now, both cached, because a fan-out asks for
/// them once per instance.
struct LocalZone {
  let id: String
  /// Offset in µs, valid for `offsetFrom..<offsetUntil`.
  private(set) var offset: Int64 = 0
  private var offsetFrom: Int64 = .max
  private var offsetUntil: Int64 = .min
  /// Days by anchor minute; nearly always one entry.
  private var days: [CachedDay] = []

  private struct CachedDay {
    var anchorMinute: Int
    var start: Int64
    var end: Int64
  }

  init(id: String) { self.id = id }

  static let day: Int64 = 86_400_000_000
  static let hour: Int64 = 3_600_000_000
  /// Offsets change on quarter hours at the finest.
  private static let quarter: Int64 = 900_000_000

  /// Whether `refresh` would change nothing.
  @inline(__always)
  func isFresh(_ now: Int64) -> Bool { now < offsetUntil && now >= offsetFrom }

  /// Makes `offset` right for `now`.
  mutating func refresh(now: Int64, offsets: TimeZoneOffsets) {
    if isFresh(now) { return }
    offset = offset(at: now, offsets)
    offsetFrom = Self.floor(now, Self.quarter)
    offsetUntil = offsetFrom + Self.quarter
  }

  /// µs after local midnight; `refresh` first.
  @inline(__always)
  func timeOfDay(_ instant: Int64) -> Int64 {
    let local = instant &+ offset
    let rest = local % Self.day
    return rest < 0 ? rest + Self.day : rest
  }

  /// The budget day that holds `now`: from one anchor to the next, 23 to 25 h where the clocks change.
  @inline(__always)
  mutating func budgetDay(now: Int64, anchorMinute: Int, offsets: TimeZoneOffsets) -> (start: Int64, end: Int64) {
    for cached in days where cached.anchorMinute == anchorMinute && now >= cached.start && now < cached.end {
      return (cached.start, cached.end)
    }
    return computeBudgetDay(now: now, anchorMinute: anchorMinute, offsets: offsets)
  }

  private mutating func computeBudgetDay(
    now: Int64, anchorMinute: Int, offsets: TimeZoneOffsets
  ) -> (start: Int64, end: Int64) {
    let shift = Int64(anchorMinute) * 60_000_000
    var index = Self.floorDivide(now + offset(at: now, offsets) - shift, Self.day)
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

  /// The first anchor at or after an instant.
  mutating func firstAnchor(atOrAfter instant: Int64, anchorMinute: Int, offsets: TimeZoneOffsets) -> Int64 {
    let shift = Int64(anchorMinute) * 60_000_000
    var index = Self.floorDivide(instant + offset(at: instant, offsets) - shift, Self.day) - 1
    var found = anchor(index, shift, offsets)
    while found < instant {
      index += 1
      found = anchor(index, shift, offsets)
    }
    return found
  }

  /// The instant of the anchor of local day `index` (days since 1970-01-01 local).
  private func anchor(_ index: Int64, _ shift: Int64, _ offsets: TimeZoneOffsets) -> Int64 {
    let local = index * Self.day + shift
    let guess = local - offset(at: local, offsets)
    return local - offset(at: guess, offsets)
  }

  private func offset(at instant: Int64, _ offsets: TimeZoneOffsets) -> Int64 {
    offsets.secondsEast(id, Self.floorDivide(instant, 1_000_000)) * 1_000_000
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    let quotient = a / b
    return a % b < 0 ? quotient - 1 : quotient
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { floorDivide(a, b) * b }
}
