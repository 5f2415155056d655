import Domain

/// One app, with the tokens that this partition may spend and has spent for it in a UTC day. Only `AppTable` changes
/// it.
struct AppState {
  /// The bundle id.
  fileprivate(set) var id: Identifier = ""
  /// The serial number of the app, counted from 1 in the order in which this planner added apps; 0 if the slot is free.
  /// Unlike a slot, it is never used again.
  private(set) var number: UInt64 = 0
  /// The number of devices of the app. A device that a tombstone has removed counts for as long as it is kept for its
  /// ledgers.
  fileprivate(set) var devices = 0
  /// This partition's tokens of a UTC day; −1 if the app has no limit.
  fileprivate(set) var limit = -1
  /// The tokens spent on `day`.
  fileprivate(set) var spent = 0
  /// The UTC day that `spent` counts, in days since 1970; nil if nothing was counted yet and `rouse.state` has no record.
  fileprivate(set) var day: Int64?
  /// The refunds on `refundDay`.
  fileprivate(set) var refunded = 0
  /// The UTC day that `refunded` counts, in days since 1970.
  fileprivate(set) var refundDay: Int64 = 0
  /// The log offset of the record that led to the first charge of `day`; −1 if there was none.
  fileprivate(set) var firstCharge: Int64 = -1
  /// Whether the app changed since the last commit.
  fileprivate(set) var touched = false

  /// Creates the value of a free slot.
  init() {}

  fileprivate init(id: Identifier, number: UInt64, limit: Int) {
    self.id = id
    self.number = number
    self.limit = limit
  }

  /// Returns whether the app must be kept, because a device refers to it, or because of what was spent or refunded today.
  /// - Parameter today: The current UTC day, in days since 1970.
  func isNeeded(today: Int64) -> Bool { devices > 0 || hasCounted(today: today) }

  /// Returns whether tokens were spent or refunded today.
  /// - Parameter today: The current UTC day, in days since 1970.
  func hasCounted(today: Int64) -> Bool {
    (spent > 0 && day == today) || (refunded > 0 && refundDay == today)
  }
}

/// The apps, with this partition's share of their tokens.
///
/// An app is kept as long as a device refers to it or tokens were spent for it today. So the table is bounded by the number of
/// devices and by the commands of a day, however many ids devices register.
struct AppTable {
  private var states = SlotPool<AppTag, AppState>()
  /// The slots of the apps by bundle id.
  private(set) var slotByID: [Identifier: AppSlot] = [:]
  /// The number of apps ever added.
  private var made: UInt64 = 0

  /// Every slot ever used, by rising number; some may be free.
  var slots: LazyMapSequence<Range<UInt32>, AppSlot> { states.slots }
  /// The number of slots ever used; some may be free.
  var capacity: Int { states.capacity }
  /// The number of apps.
  var liveCount: Int { states.liveCount }

  /// An app.
  subscript(app: AppSlot) -> AppState {
    _read { yield states[app] }
  }

  /// Returns the UTC day of an instant, in days since 1970.
  static func day(of now: Timestamp) -> Int64 { now.microseconds / LocalZone.day.microseconds }

  /// Returns the slot of an app, which is added if it is not known.
  /// - Parameters:
  ///   - id: The bundle id.
  ///   - limit: Returns this partition's tokens of a UTC day for a new app; −1 if it has no limit.
  mutating func slot(_ id: Identifier, limit: @autoclosure () -> Int) -> AppSlot {
    if let slot = slotByID[id] { return slot }
    made += 1
    let slot = states.insert(AppState(id: id, number: made, limit: limit()))
    slotByID[id] = slot
    return slot
  }

  /// Counts one more device of the app.
  mutating func join(_ app: AppSlot) { states[app].devices += 1 }

  /// Counts one device of the app less, for a restore that removes a device it had added. The app stays until all
  /// records are read, even without devices.
  mutating func unjoin(_ app: AppSlot) { states[app].devices -= 1 }

  /// Counts one device of the app less, and removes the app if nothing needs it any more.
  /// - Parameters:
  ///   - app: The app of the device.
  ///   - now: Log time.
  /// - Returns: The id of the app if its record must be removed from `rouse.state`; nil if the app stays or has no
  ///   record there.
  mutating func leave(_ app: AppSlot, now: Timestamp) -> Identifier? {
    states[app].devices -= 1
    return purge(app, now: now)
  }

  /// Removes an app if nothing needs it any more.
  /// - Parameters:
  ///   - app: The app; its slot may be free.
  ///   - now: Log time.
  /// - Returns: The id of the app if its record must be removed from `rouse.state`; nil if the app stays or has no
  ///   record there.
  mutating func purge(_ app: AppSlot, now: Timestamp) -> Identifier? {
    guard states[app].number != 0, !states[app].isNeeded(today: Self.day(of: now)) else { return nil }
    let (id, hasRecord) = (states[app].id, states[app].day != nil || states[app].refunded > 0)
    slotByID[id] = nil
    states.remove(app, leaving: AppState())
    return hasRecord ? id : nil
  }

  /// Returns the tokens that the app has left today; −1 if it has no limit.
  func tokensLeft(_ app: AppSlot, now: Timestamp) -> Int {
    let limit = states[app].limit
    if limit < 0 { return -1 }
    return states[app].day == Self.day(of: now) ? max(0, limit - states[app].spent) : limit
  }

  /// Takes a token of the app's day. Tokens are also counted while there is no limit, so that a limit which a policy sets at
  /// noon counts the whole day.
  /// - Parameters:
  ///   - app: The app.
  ///   - offset: The log offset of the record that led to the charge.
  ///   - now: Log time.
  mutating func charge(_ app: AppSlot, at offset: Int64, now: Timestamp) {
    let day = Self.day(of: now)
    if states[app].day != day {
      states[app].day = day
      states[app].spent = 0
      states[app].firstCharge = offset
    }
    if states[app].spent < .max { states[app].spent += 1 }
    states[app].touched = true
  }

  /// Returns the refunds that an app had today.
  /// - Parameters:
  ///   - app: The app.
  ///   - now: Log time.
  func refunds(_ app: AppSlot, now: Timestamp) -> Int {
    states[app].refundDay == Self.day(of: now) ? states[app].refunded : 0
  }

  /// Counts a refund, and gives back the token that a device's last command took, if it was taken today.
  /// - Parameters:
  ///   - app: The app of the device, whose refunds of the day are below their limit.
  ///   - offset: The log offset of the record that led to the command.
  ///   - now: Log time.
  mutating func refund(_ app: AppSlot, chargedAt offset: Int64, now: Timestamp) {
    states[app].refunded = min(refunds(app, now: now), .max - 1) + 1
    states[app].refundDay = Self.day(of: now)
    states[app].touched = true
    guard states[app].spent > 0, states[app].day == Self.day(of: now), offset >= states[app].firstCharge else { return }
    states[app].spent -= 1
  }

  /// Sets this partition's tokens of a UTC day for an app, for a new policy.
  /// - Parameters:
  ///   - limit: The tokens; −1 if the app has no limit.
  ///   - app: The app; its slot may be free.
  mutating func set(limit: Int, of app: AppSlot) { states[app].limit = limit }

  /// Returns the apps that changed since the last call, by rising slot.
  mutating func takeTouched() -> [AppSlot] {
    let touched = states.values.indices.filter { states.values[$0].touched }.map { AppSlot(UInt32($0)) }
    for slot in touched { states[slot].touched = false }
    return touched
  }

  /// Restores the tokens that an app has spent.
  /// - Parameters:
  ///   - app: The app.
  ///   - spent: The tokens spent.
  ///   - day: The UTC day on which they were spent, in days since 1970.
  ///   - firstCharge: The log offset of the record that led to the first charge of that day.
  ///   - refunded: The refunds.
  ///   - refundDay: The UTC day of the refunds, in days since 1970.
  mutating func restore(
    _ app: AppSlot, spent: Int, day: Int64, firstCharge: Int64, refunded: Int, refundDay: Int64
  ) {
    (states[app].refunded, states[app].refundDay) = (refunded, refundDay)
    states[app].spent = spent
    states[app].day = day
    states[app].firstCharge = firstCharge
  }

  /// Traps if an invariant is broken that must hold whenever no log record is being processed. Reads everything; for
  /// tests.
  func checkInvariants() {
    states.checkInvariants()
    for (id, slot) in slotByID { precondition(states[slot].id == id, "an app is found under another id") }
    for slot in states.slots where states[slot].number != 0 {
      precondition(states[slot].devices >= 0 && states[slot].spent >= 0, "an app counts below zero")
      precondition(states[slot].refunded >= 0, "an app has fewer refunds than none")
      precondition(slotByID[states[slot].id] == slot, "an app is not found by its id")
    }
  }
}
