import Domain

/// One app and its share of the app ledger. Only `Ledgers` changes it.
struct AppState {
  fileprivate(set) var id = ""
  /// The number of the app: no other app has had it in this planner, although slots are used again. 0: the slot is free.
  private(set) var number: UInt64 = 0
  /// The number of devices that refer to the app, forgotten ones included.
  fileprivate(set) var devices = 0
  /// The tokens of this partition per UTC day; −1 where there is no limit.
  fileprivate(set) var limit = -1
  fileprivate(set) var spent = 0
  /// The UTC day (days since 1970) that `spent` counts; nil where nothing was counted yet and `rouse.state` has no record.
  fileprivate(set) var day: Int64?
  /// Whether the app changed since the last commit.
  fileprivate(set) var touched = false

  init() {}

  fileprivate init(id: String, number: UInt64, limit: Int) {
    self.id = id
    self.number = number
    self.limit = limit
  }

  /// Whether something would be lost with the app: a device's app, or tokens spent today.
  func isNeeded(today: Int64) -> Bool { devices > 0 || (spent > 0 && day == today) }
}

// An app lives as long as a device refers to it or something was spent in its name today: the table is bounded by devices
// and by what they were sent, however many ids are registered.

extension Ledgers {
  /// Returns the number of a UTC day (days since 1970).
  @inline(__always)
  static func day(of now: Timestamp) -> Int64 { now.microseconds / LocalZone.day.microseconds }

  /// Returns the slot of an app, which is made if there is none.
  mutating func app(_ id: String, limit: @autoclosure () -> Int) -> AppSlot {
    if let slot = appByID[id] { return slot }
    appsMade += 1
    let slot = apps.insert(AppState(id: id, number: appsMade, limit: limit()))
    appByID[id] = slot
    return slot
  }

  /// Counts one more device of the app.
  mutating func join(_ app: AppSlot) { apps[app].devices += 1 }

  /// Counts one device of the app less, for a restore: the app stays until all records are read.
  mutating func unjoin(_ app: AppSlot) { apps[app].devices -= 1 }

  /// Counts one device of the app less.
  /// - Returns: The id of the app whose record must be removed; nil where the app stays or has no record.
  mutating func leave(_ app: AppSlot, now: Timestamp) -> String? {
    apps[app].devices -= 1
    return purge(app, now: now)
  }

  /// Removes an app that nothing needs any more.
  /// - Returns: The id of the app whose record must be removed; nil where the app stays or has no record.
  mutating func purge(_ app: AppSlot, now: Timestamp) -> String? {
    guard apps[app].number != 0, !apps[app].isNeeded(today: Self.day(of: now)) else { return nil }
    let (id, hasRecord) = (apps[app].id, apps[app].day != nil)
    appByID[id] = nil
    apps.remove(app, leaving: AppState())
    return hasRecord ? id : nil
  }

  /// Returns the tokens that the app has left today; −1 where there is no limit.
  @inline(__always)
  func tokensLeft(_ app: AppSlot, now: Timestamp) -> Int {
    let limit = apps[app].limit
    if limit < 0 { return -1 }
    return apps[app].day == Self.day(of: now) ? max(0, limit - apps[app].spent) : limit
  }

  /// Takes a token of the app's day. Tokens are counted without a limit, too: a limit that a policy sets at noon holds for
  /// the whole day.
  mutating func charge(_ app: AppSlot, now: Timestamp) {
    let day = Self.day(of: now)
    if apps[app].day != day {
      apps[app].day = day
      apps[app].spent = 0
    }
    if apps[app].spent < .max { apps[app].spent += 1 }
    apps[app].touched = true
  }

  /// Gives back the token that a device's last command took.
  mutating func refund(_ app: AppSlot, now: Timestamp) {
    guard apps[app].spent > 0, apps[app].day == Self.day(of: now) else { return }
    apps[app].spent -= 1
    apps[app].touched = true
  }

  /// Takes over the limits of another policy.
  /// - Parameter limit: Returns this partition's share of an app's tokens; −1 where there is no limit.
  mutating func setAppLimits(_ limit: (String) -> Int) {
    for slot in apps.slots { apps[slot].limit = limit(apps[slot].id) }
  }

  /// Returns the apps that changed since the last call.
  mutating func takeTouchedApps() -> [AppSlot] {
    let touched = apps.values.indices.filter { apps.values[$0].touched }.map { AppSlot(UInt32($0)) }
    for slot in touched { apps[slot].touched = false }
    return touched
  }

  /// Restores what an app has spent.
  mutating func restore(_ app: AppSlot, spent: Int, day: Int64) {
    apps[app].spent = spent
    apps[app].day = day
  }
}
