import Policies

/// One app: its share of the app ledger.
struct AppState {
  var id = ""
  /// No other app has had it in this planner: slots are used again. 0: the slot is free.
  var number: UInt64 = 0
  /// Devices that refer to it, forgotten ones included.
  var devices = 0
  /// Tokens of this partition per UTC day; −1: no limit.
  var limit: Int = -1
  var spent: Int = 0
  /// UTC day (days since 1970) that `spent` counts; `.min`: nothing was counted yet, and `rouse.state` has no record.
  var day: Int64 = .min
  /// Whether it changed since the last commit.
  var touched = false

  /// Whether something would be lost with it: a device's app, or tokens spent today.
  func isNeeded(now: Int64) -> Bool { devices > 0 || (spent > 0 && day == now / LocalZone.day) }
}

// An app lives as long as a device refers to it or something was spent in its name today: the table is bounded by devices
// and by what they were sent, however many ids are registered.

extension Planner {
  /// The slot of an app, which is made if there is none.
  mutating func appIndex(_ id: String) -> UInt32 {
    if let slot = appByID[id] { return slot }
    appsMade += 1
    let slot = apps.insert(AppState(id: id, number: appsMade, limit: appLimit(id)))
    appByID[id] = slot
    return slot
  }

  /// This partition's share: `perDay / P`, the first `perDay % P` partitions one more, so the shares sum to the limit.
  func appLimit(_ id: String) -> Int {
    guard let budget = policy.apps.first(where: { $0.app == id }) else { return -1 }
    let share = budget.perDay / Int(partitionCount)
    return share + (Int(partition) < budget.perDay % Int(partitionCount) ? 1 : 0)
  }

  /// The device belongs to this app from here on.
  mutating func move(device slot: UInt32, toApp id: String) {
    let old = devices[slot].app
    let new = appIndex(id)
    if new == old { return }
    devices[slot].app = new
    apps[new].devices += 1
    // A refund belongs to the app that was charged.
    devices[slot].commandOffset = -1
    leave(app: old)
  }

  /// A device refers to the app no more.
  mutating func leave(app slot: UInt32) {
    apps[slot].devices -= 1
    purgeIfOver(app: slot)
  }

  /// Lets go of an app that nothing needs any more.
  mutating func purgeIfOver(app slot: UInt32) {
    guard apps[slot].number != 0, !apps[slot].isNeeded(now: now) else { return }
    if apps[slot].day != .min { changes.removedApps.append(apps[slot].id) }
    appByID[apps[slot].id] = nil
    apps.remove(slot, leaving: AppState())
  }

  /// −1: no limit.
  @inline(__always)
  mutating func appTokensLeft(_ app: UInt32) -> Int {
    if apps[app].limit < 0 { return -1 }
    let day = now / LocalZone.day
    if apps[app].day != day {
      apps[app].day = day
      apps[app].spent = 0
      apps[app].touched = true
    }
    return max(0, apps[app].limit - apps[app].spent)
  }

  mutating func chargeApp(_ app: UInt32) {
    // Counted without a limit, too: one that a policy sets at noon holds for the whole day.
    let day = now / LocalZone.day
    if apps[app].day != day {
      apps[app].day = day
      apps[app].spent = 0
    }
    apps[app].spent += 1
    apps[app].touched = true
  }

  /// Takes back what the last command of a device was charged.
  mutating func refundApp(_ app: UInt32) {
    guard apps[app].spent > 0, apps[app].day == now / LocalZone.day else { return }
    apps[app].spent -= 1
    apps[app].touched = true
  }
}
