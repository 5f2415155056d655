import Domain
import Policies

// The day's number of one instance, counted exactly.

extension Planner {
  /// Starts a new window when the old one is over. A window ends at an anchor of the device's zone and lasts at least
  /// 23 h (a day with a clock change), so a device that moves between zones can lengthen a window but never get one early.
  @inline(__always)
  mutating func rollWindow(_ instance: UInt32, zone: Int) {
    if now >= instances[instance].windowEnd { startWindow(instance, zone: zone) }
    if kinds[Int(instances[instance].kind)].rolling != instances[instance].flags.contains(.rolling) {
      changeWindow(instance)
    }
  }

  /// The policy (or another kind) changed how the day is counted. What the day's count holds goes into the rolling log as
  /// if spent just now: it may come back late, never early. The day's count runs on under both.
  private mutating func changeWindow(_ instance: UInt32) {
    if kinds[Int(instances[instance].kind)].rolling {
      instances[instance].flags.insert(.rolling)
      rollingCharges[instance] = Array(repeating: now, count: Int(instances[instance].spent))
    } else {
      instances[instance].flags.remove(.rolling)
      // More may have been spent in the last 24 h than since the day began.
      instances[instance].spent = max(instances[instance].spent, UInt16(clamping: chargesInLastDay(instance)))
      rollingCharges[instance] = nil
    }
    touch(device: instances[instance].device)
  }

  private mutating func startWindow(_ instance: UInt32, zone: Int) {
    let kind = Int(instances[instance].kind)
    let old = instances[instance].windowEnd
    let day = zones[zone].budgetDay(now: now, anchorMinute: kinds[kind].anchorMinute, offsets: offsets)
    if old <= day.start {
      instances[instance].windowEnd = day.end
    } else {
      instances[instance].windowEnd = zones[zone].firstAnchor(
        atOrAfter: max(old &+ 23 * LocalZone.hour, now &+ 1), anchorMinute: kinds[kind].anchorMinute, offsets: offsets)
    }
    instances[instance].spent = 0
    if old > 0 { learnFromWindow(instance, endedAt: old) }
    touch(device: instances[instance].device)
  }

  /// `rollWindow` first.
  @inline(__always)
  func tokensLeft(_ instance: UInt32) -> Int {
    let kind = Int(instances[instance].kind)
    let spent = kinds[kind].rolling ? chargesInLastDay(instance) : Int(instances[instance].spent)
    return max(0, kinds[kind].perDay - spent)
  }

  private func chargesInLastDay(_ instance: UInt32) -> Int {
    let since = now - LocalZone.day
    return rollingCharges[instance]?.reduce(0) { $0 + ($1 > since ? 1 : 0) } ?? 0
  }

  /// When an empty ledger has a token again.
  func refillAt(_ instance: UInt32) -> Int64 {
    let kind = Int(instances[instance].kind)
    guard kinds[kind].rolling else { return instances[instance].windowEnd }
    return rollingFree(instance, needed: 1)
  }

  /// When a rolling ledger has this many tokens: the charge that must fall out of the last 24 h, plus 24 h.
  private func rollingFree(_ instance: UInt32, needed: Int) -> Int64 {
    let charges = rollingCharges[instance] ?? []
    let place = charges.count - kinds[Int(instances[instance].kind)].perDay + needed - 1
    guard place >= 0, place < charges.count else { return now }
    return charges[place] &+ LocalZone.day
  }

  mutating func chargeInstance(_ instance: UInt32) {
    if kinds[Int(instances[instance].kind)].rolling {
      let since = now - LocalZone.day
      rollingCharges[instance, default: []].removeAll { $0 <= since }
      rollingCharges[instance, default: []].append(now)
    }
    instances[instance].spent += 1
    instances[instance].flags.insert(.chargedByLast)
  }

  /// The reserve is whole until this share of a day is left of the window …
  private static let releaseBegins = 0.15
  /// … and gone when this share is left (half an hour), so that its last token can still be spent.
  private static let releaseEnds = 0.02

  /// Tokens kept back now: the whole reserve, then falling in a straight line.
  @inline(__always)
  func reserved(_ instance: UInt32) -> Int {
    let kind = Int(instances[instance].kind)
    if kinds[kind].rolling { return Int(kinds[kind].reserveTokens.rounded(.up)) }
    let left = Double(instances[instance].windowEnd &- now) / Double(LocalZone.day)
    let share = (left - Self.releaseEnds) / (Self.releaseBegins - Self.releaseEnds)
    return Int((kinds[kind].reserveTokens * min(1, max(0, share))).rounded(.up))
  }

  /// When the reserve has shrunk below the tokens left.
  func reserveReleaseAt(_ instance: UInt32) -> Int64 {
    let kind = Int(instances[instance].kind)
    if kinds[kind].rolling { return rollingFree(instance, needed: reserved(instance) + 1) }
    let share = Double(tokensLeft(instance) - 1) / kinds[kind].reserveTokens
    let before = Self.releaseEnds + max(0, share) * (Self.releaseBegins - Self.releaseEnds)
    return max(now &+ 1, instances[instance].windowEnd &- Int64(before * Double(LocalZone.day)) &+ 1)
  }
}
