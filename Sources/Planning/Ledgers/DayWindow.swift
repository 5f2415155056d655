import Domain

/// The day's count of one instance, packed into 64 bits. Only `Ledgers` changes it.
struct DayWindow {
  /// From the highest bits: 40 of the end in seconds, 16 of the tokens spent, 8 of flags.
  private var bits: Int64 = 0

  private static let secondsMax: Int64 = 1 << 39 - 1
  private static let rollingBit: Int64 = 1
  private static let lastBit: Int64 = 2

  init() {}

  /// Restores a window as it was written.
  init(end: Timestamp, spent: UInt16, isRolling: Bool, chargedByLast: Bool) {
    self.end = end
    self.spent = spent
    self.isRolling = isRolling
    self.chargedByLast = chargedByLast
  }

  /// The end of the window. Windows end on whole seconds, because days of all zones do; a fraction is rounded up.
  fileprivate(set) var end: Timestamp {
    @inline(__always) get { Timestamp(microseconds: (bits >> 24) &* 1_000_000) }
    @inline(__always) set {
      let (quotient, rest) = newValue.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
      let seconds = quotient + (rest > 0 ? 1 : 0)
      bits = bits & 0xff_ffff | min(max(seconds, -Self.secondsMax), Self.secondsMax) << 24
    }
  }

  /// The tokens spent in the window that ends at `end`.
  fileprivate(set) var spent: UInt16 {
    @inline(__always) get { UInt16(truncatingIfNeeded: bits >> 8) }
    @inline(__always) set { bits = bits & ~0xff_ff00 | Int64(newValue) << 8 }
  }

  /// Whether the charges of the last 24 hours are kept one by one (`Ledgers.rollingCharges`).
  fileprivate(set) var isRolling: Bool {
    @inline(__always) get { bits & Self.rollingBit != 0 }
    @inline(__always) set { bits = newValue ? bits | Self.rollingBit : bits & ~Self.rollingBit }
  }

  /// Returns whether the window is the one of now, counted as the kind counts.
  @inline(__always)
  func isUpToDate(_ limits: DayLimits, now: Timestamp) -> Bool { now < end && isRolling == limits.rolling }

  /// Whether the device's refundable command charged the instance.
  fileprivate(set) var chargedByLast: Bool {
    @inline(__always) get { bits & Self.lastBit != 0 }
    @inline(__always) set { bits = newValue ? bits | Self.lastBit : bits & ~Self.lastBit }
  }
}

/// The settings of a kind that the day's count depends on.
struct DayLimits {
  var perDay = 0
  /// The local time at which a budget day begins, in minutes after midnight.
  var anchorMinute = 240
  /// Whether the last 24 hours are counted instead of a local day.
  var rolling = false
  /// share · perDay; 0 where there is no reserve.
  var reserveTokens = 0.0
}

/// What bringing a day's count up to now has changed.
enum WindowChange: Equatable {
  case none
  /// The way of counting has changed.
  case counting
  /// A new window has begun. `ended` is the end of the one before it; nil where there was none.
  case began(ended: Timestamp?)
}

// The day's number of one instance, counted exactly.

extension Ledgers {
  /// Starts a new window when the old one is over. A window ends at an anchor of the device's zone and lasts at least
  /// 23 h (a day with a clock change), so a device that moves between zones can lengthen a window but never get one early.
  @inline(__always)
  mutating func bringUpToDate(
    _ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, zone: ZoneSlot, zones: inout ZoneTable,
    now: Timestamp
  ) -> WindowChange {
    var change = WindowChange.none
    if now >= day.end { change = startWindow(&day, limits, zone: zone, zones: &zones, now: now) }
    if limits.rolling != day.isRolling {
      changeCounting(&day, of: instance, limits, now: now)
      if change == .none { change = .counting }
    }
    return change
  }

  /// Changes how the day is counted, after a change of the policy or of the instance's kind. The day's count goes into the
  /// list of charges as if it had been spent just now: a token may come back late, never early. The day's count goes on
  /// under both.
  private mutating func changeCounting(
    _ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp
  ) {
    if limits.rolling {
      day.isRolling = true
      rollingCharges[instance] = Array(repeating: now, count: Int(day.spent))
    } else {
      day.isRolling = false
      // More may have been spent in the last 24 h than since the day began.
      day.spent = max(day.spent, UInt16(clamping: chargesInLastDay(instance, now: now)))
      rollingCharges[instance] = nil
    }
  }

  private func startWindow(
    _ day: inout DayWindow, _ limits: DayLimits, zone: ZoneSlot, zones: inout ZoneTable, now: Timestamp
  ) -> WindowChange {
    let old = day.end
    let span = zones.budgetDay(zone, now: now, anchorMinute: limits.anchorMinute)
    if old <= span.start {
      day.end = span.end
    } else {
      day.end = zones.firstAnchor(
        zone, atOrAfter: max(old + .hours(23), now + TimeSpan(microseconds: 1)), anchorMinute: limits.anchorMinute)
    }
    day.spent = 0
    return .began(ended: old.microseconds > 0 ? old : nil)
  }

  /// Returns the tokens left of a count that is up to date.
  @inline(__always)
  func tokensLeft(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Int {
    let spent = limits.rolling ? chargesInLastDay(instance, now: now) : Int(day.spent)
    return max(0, limits.perDay - spent)
  }

  private func chargesInLastDay(_ instance: InstanceSlot, now: Timestamp) -> Int {
    let since = now - .hours(24)
    return rollingCharges[instance]?.reduce(0) { $0 + ($1 > since ? 1 : 0) } ?? 0
  }

  /// Returns the instant at which an empty ledger has a token again.
  func refillAt(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    limits.rolling ? rollingFree(instance, needed: 1, limits, now: now) : day.end
  }

  /// Returns the instant at which a rolling ledger has this many tokens: the charge that must fall out of the last 24 h,
  /// plus 24 h.
  private func rollingFree(_ instance: InstanceSlot, needed: Int, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    let charges = rollingCharges[instance] ?? []
    let place = charges.count - limits.perDay + needed - 1
    guard place >= 0, place < charges.count else { return now }
    return charges[place] + .hours(24)
  }

  /// Takes a token of the day.
  mutating func charge(_ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) {
    if limits.rolling {
      let since = now - .hours(24)
      rollingCharges[instance, default: []].removeAll { $0 <= since }
      rollingCharges[instance, default: []].append(now)
    }
    // Limits are at most 200; what a damaged state may hold must not trap.
    if day.spent < .max { day.spent += 1 }
    day.chargedByLast = true
  }

  /// Gives back the token that the device's last command took, if it took one from this instance.
  /// - Returns: Whether it did.
  mutating func refund(_ day: inout DayWindow, of instance: InstanceSlot, now: Timestamp) -> Bool {
    guard day.chargedByLast else { return false }
    day.chargedByLast = false
    if now < day.end, day.spent > 0 { day.spent -= 1 }
    if rollingCharges[instance]?.isEmpty == false { rollingCharges[instance]?.removeLast() }
    return true
  }

  /// Ends the time in which the token of the last command may be refunded.
  @inline(__always)
  func settle(_ day: inout DayWindow) { day.chargedByLast = false }

  /// Hands the possible refund of an instance's last charge over to another instance.
  func copyRefund(from day: DayWindow, to other: inout DayWindow) { other.chargedByLast = day.chargedByLast }

  /// Forgets what was spent, where too many removed instances are kept.
  mutating func forget(_ day: inout DayWindow, of instance: InstanceSlot) {
    day.spent = 0
    if day.isRolling { rollingCharges[instance] = [] }
  }

  /// The reserve is whole until this share of a day is left of the window …
  private static let releaseBegins = 0.15
  /// … and gone when this share is left (half an hour), so that its last token can still be spent.
  private static let releaseEnds = 0.02

  /// Returns the tokens kept back now: the whole reserve at first, then falling in a straight line.
  @inline(__always)
  func reserved(_ day: DayWindow, _ limits: DayLimits, now: Timestamp) -> Int {
    if limits.rolling { return Int(limits.reserveTokens.rounded(.up)) }
    let left = Double((day.end - now).microseconds) / Double(LocalZone.day.microseconds)
    let share = (left - Self.releaseEnds) / (Self.releaseBegins - Self.releaseEnds)
    return Int((limits.reserveTokens * min(1, max(0, share))).rounded(.up))
  }

  /// Returns the instant at which the reserve has shrunk below the tokens left.
  func reserveReleaseAt(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    if limits.rolling {
      return rollingFree(instance, needed: reserved(day, limits, now: now) + 1, limits, now: now)
    }
    let share = Double(tokensLeft(day, of: instance, limits, now: now) - 1) / limits.reserveTokens
    let before = Self.releaseEnds + max(0, share) * (Self.releaseBegins - Self.releaseEnds)
    let microsecond = TimeSpan(microseconds: 1)
    let rest = TimeSpan(microseconds: Int64(before * Double(LocalZone.day.microseconds)))
    return max(now + microsecond, day.end - rest + microsecond)
  }
}
