import Domain
import Policies

/// The tokens that one instance has spent in its current budget day, and the end of that day, packed into 64 bits. It
/// is stored with the instance in the registry; only `Ledgers` changes it.
struct DayWindow {
  /// From the highest bit on: 40 bits of the end in seconds since 1970, 16 bits of the tokens spent, 8 bits of flags.
  private var bits: Int64 = 0

  private static let secondsMax: Int64 = 1 << 39 - 1
  private static let rollingBit: Int64 = 1
  private static let lastBit: Int64 = 2
  private static let timelineBit: Int64 = 4

  /// Creates the count of an instance that has no window yet.
  init() {}

  /// Restores a window from the values that `rouse.state` holds.
  /// - Parameters:
  ///   - end: The end of the window.
  ///   - spent: The tokens spent in it.
  ///   - isRolling: Whether the charges of the last 24 hours are kept one by one.
  ///   - chargedByLast: Whether the device's last command charged the instance, and may still be refunded.
  ///   - chargedByTimeline: Whether a reload of the instance's own timeline took one of the tokens.
  init(end: Timestamp, spent: UInt16, isRolling: Bool, chargedByLast: Bool, chargedByTimeline: Bool = false) {
    self.end = end
    self.spent = spent
    self.isRolling = isRolling
    self.chargedByLast = chargedByLast
    self.chargedByTimeline = chargedByTimeline
  }

  /// The end of the window; 1970 if there was none yet. It is a whole second, as the days of all zones end at one; a fraction
  /// is rounded up.
  fileprivate(set) var end: Timestamp {
    get { Timestamp(microseconds: (bits >> 24) &* 1_000_000) }
    @inline(__always) set {
      let (quotient, rest) = newValue.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
      let seconds = quotient + (rest > 0 ? 1 : 0)
      bits = bits & 0xff_ffff | min(max(seconds, -Self.secondsMax), Self.secondsMax) << 24
    }
  }

  /// The tokens spent in the window that ends at `end`.
  fileprivate(set) var spent: UInt16 {
    get { UInt16(truncatingIfNeeded: bits >> 8) }
    set { bits = bits & ~0xff_ff00 | Int64(newValue) << 8 }
  }

  /// Whether the charges of the last 24 hours are kept one by one (`RollingCharges`).
  fileprivate(set) var isRolling: Bool {
    get { bits & Self.rollingBit != 0 }
    set { bits = newValue ? bits | Self.rollingBit : bits & ~Self.rollingBit }
  }

  /// Returns whether the window has not ended and is counted as `limits` says: rolling, or by local day.
  func isUpToDate(_ limits: DayLimits, now: Timestamp) -> Bool { now < end && isRolling == limits.rolling }

  /// Whether the device's last command charged the instance, and may still be refunded.
  fileprivate(set) var chargedByLast: Bool {
    get { bits & Self.lastBit != 0 }
    set { bits = newValue ? bits | Self.lastBit : bits & ~Self.lastBit }
  }

  /// Whether a reload of the instance's own timeline took a token of the window.
  fileprivate(set) var chargedByTimeline: Bool {
    get { bits & Self.timelineBit != 0 }
    set { bits = newValue ? bits | Self.timelineBit : bits & ~Self.timelineBit }
  }
}

/// The settings of a kind that the day's count depends on.
struct DayLimits {
  /// The tokens of a day.
  var perDay = 0
  /// The local time at which a budget day begins, in minutes after midnight.
  var anchorMinute = 240
  /// Whether the last 24 hours are counted instead of a local day.
  var rolling = false
  /// The tokens in reserve: the policy's share of `perDay`; 0 if there is no reserve.
  var reserveTokens = 0.0
  /// The tokens in reserve while none is released. A part of a token counts as a whole one.
  var wholeReserve: Int { Int(reserveTokens.rounded(.up)) }
}

/// The change that `Ledgers.bringUpToDate` made to a day's count.
enum WindowChange: Equatable {
  /// Nothing has changed.
  case none
  /// The window goes on, but its charges are now counted in the other way: rolling, or by local day.
  case counting
  /// A new window has begun. `ended` is the end of the one before it; nil if there was none.
  case began(ended: Timestamp?)
}

extension Ledgers {
  /// Brings the day's count of an instance up to now: starts a new window if the old one is over, and changes the way of
  /// counting if the policy has changed it.
  ///
  /// A window ends at an anchor (the time at which budget days begin) of the device's zone, at least 23 h (a day with a
  /// clock change) after the one before it. So a device that moves between zones may get its next window late, but
  /// never early.
  /// - Parameters:
  ///   - day: The day's count.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind.
  ///   - zone: The zone of its device.
  ///   - zones: All zones.
  ///   - now: Log time.
  /// - Returns: The change.
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

  /// Changes the way of counting, after a change of the policy or of the instance's kind. `spent` is counted in both ways. When
  /// rolling counting begins, the tokens spent since the window began count as spent just now: they may come back late, but
  /// never early.
  private mutating func changeCounting(
    _ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp
  ) {
    if limits.rolling {
      day.isRolling = true
      rolling.set(Array(repeating: now, count: Int(day.spent)), of: instance)
    } else {
      day.isRolling = false
      // More may have been spent in the last 24 h than since the day began.
      day.spent = max(day.spent, UInt16(clamping: rolling.count(instance, now: now)))
      rolling.remove(instance)
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
    day.chargedByTimeline = false
    return .began(ended: old.microseconds > 0 ? old : nil)
  }

  /// Returns the tokens that an instance has left. Call `bringUpToDate` first.
  /// - Parameters:
  ///   - day: The day's count.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind.
  ///   - now: Log time.
  @inline(__always)
  func tokensLeft(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Int {
    let spent = limits.rolling ? rolling.count(instance, now: now) : Int(day.spent)
    return max(0, limits.perDay - spent)
  }

  /// Returns the tokens that an instance can still spend before its budget day ends. In a rolling window spent tokens
  /// come back by then: the result is the day's limit minus the tokens spent since the budget day began, or the tokens
  /// left if they are more.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - limits: The limits of its kind.
  ///   - left: The tokens that the instance has left.
  @inline(__always)
  func tokensUntilAnchor(_ day: DayWindow, _ limits: DayLimits, left: Int) -> Int {
    limits.rolling ? max(left, limits.perDay - Int(day.spent)) : left
  }

  /// Returns the instant at which an instance without tokens has one again.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind.
  ///   - now: Log time.
  func refillAt(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    limits.rolling ? rollingFree(instance, needed: 1, limits, now: now) : day.end
  }

  /// Returns the instant at which `needed` tokens of a rolling window are left: 24 h after the charge that must no
  /// longer count by then, or `now` if they are left already. It is the distant future if the window has fewer tokens.
  private func rollingFree(_ instance: InstanceSlot, needed: Int, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    let charges = rolling[instance] ?? []
    let place = charges.count - limits.perDay + needed - 1
    if place < 0 { return now }
    return place < charges.count ? charges[place] + .hours(24) : .distantFuture
  }

  /// Takes a token of the day, which `refund` can give back until `settle` is called. Whether a token is left is not checked.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind.
  ///   - now: Log time.
  mutating func charge(_ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) {
    if limits.rolling { rolling.add(instance, now: now) }
    // Limits are at most 200. Damaged state may hold the largest number, and counting on must not trap.
    if day.spent < .max { day.spent += 1 }
    day.chargedByLast = true
  }

  /// Takes a token of the day for a reload that no push led to. It is never given back. Whether a token is left is not checked.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind.
  ///   - now: Log time.
  mutating func chargeTimeline(
    _ day: inout DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp
  ) {
    if limits.rolling { rolling.add(instance, now: now) }
    if day.spent < .max { day.spent += 1 }
    day.chargedByTimeline = true
  }

  /// Gives back the token that the device's last command took, if it took one from this instance.
  /// - Parameters:
  ///   - day: The day's count.
  ///   - instance: The instance.
  ///   - now: Log time. A token of a local day that has ended is not given back.
  /// - Returns: Whether the command charged this instance.
  mutating func refund(_ day: inout DayWindow, of instance: InstanceSlot, now: Timestamp) -> Bool {
    guard day.chargedByLast else { return false }
    day.chargedByLast = false
    if now < day.end, day.spent > 0 { day.spent -= 1 }
    rolling.removeLast(instance)
    return true
  }

  /// Marks the last charge of an instance as final: it can no longer be refunded.
  func settle(_ day: inout DayWindow) { day.chargedByLast = false }

  /// Lets a possible refund of an instance's last charge also reach the retired record with the same id. That record is
  /// made when a widget takes over the id of a control, and keeps the control's rate.
  func copyRefund(from day: DayWindow, to other: inout DayWindow) { other.chargedByLast = day.chargedByLast }

  /// Forgets the tokens that an instance has spent. Called for a retired instance, when its device keeps too many of
  /// them.
  mutating func forget(_ day: inout DayWindow, of instance: InstanceSlot) {
    day.spent = 0
    if day.isRolling { rolling.set([], of: instance) }
  }

  /// Returns the tokens that are kept in reserve now. The reserve is whole for most of the day and then shrinks evenly;
  /// in a rolling window it never shrinks.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - limits: The limits of the kind.
  ///   - now: Log time.
  @inline(__always)
  func reserved(_ day: DayWindow, _ limits: DayLimits, now: Timestamp) -> Int {
    if limits.rolling { return limits.wholeReserve }
    return InstanceBudget.Reserve.kept(of: limits.reserveTokens, before: day.end - now)
  }

  /// Returns the instant at which fewer tokens are in reserve than are left, if none is spent until then; the distant future in a
  /// rolling window that keeps all tokens in reserve.
  /// - Parameters:
  ///   - day: The day's count, which is up to date.
  ///   - instance: The instance.
  ///   - limits: The limits of its kind, which has a reserve.
  ///   - now: Log time.
  func reserveReleaseAt(_ day: DayWindow, of instance: InstanceSlot, _ limits: DayLimits, now: Timestamp) -> Timestamp {
    if limits.rolling {
      return rollingFree(instance, needed: reserved(day, limits, now: now) + 1, limits, now: now)
    }
    let share = Double(tokensLeft(day, of: instance, limits, now: now) - 1) / limits.reserveTokens
    let (begins, ends) = (InstanceBudget.Reserve.releaseBegins, InstanceBudget.Reserve.releaseEnds)
    let before = ends + max(0, share) * (begins - ends)
    let microsecond = TimeSpan(microseconds: 1)
    let rest = TimeSpan(microseconds: Int64(before * Double(LocalZone.day.microseconds)))
    return max(now + microsecond, day.end - rest + microsecond)
  }
}
