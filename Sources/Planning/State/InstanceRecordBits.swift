/// The head of an instance within its device's record: a varint like `DeviceRecordBits`. Frequent parts have the lower bits,
/// so that most heads take two bytes.
struct InstanceRecordBits: OptionSet {
  var rawValue: UInt32

  static let pushEnabled = InstanceRecordBits(rawValue: 1)
  /// The demand of past days: `needSum`, `worthSum`, `days`.
  static let demandDays = InstanceRecordBits(rawValue: 1 << 1)
  /// The demand of today: `needToday`, `worthToday`.
  static let demandToday = InstanceRecordBits(rawValue: 1 << 2)
  /// The memory of two hours: `needRecent`, `worthRecent`, `recentAt`.
  static let demandRecent = InstanceRecordBits(rawValue: 1 << 3)
  static let windowEnd = InstanceRecordBits(rawValue: 1 << 4)
  static let spent = InstanceRecordBits(rawValue: 1 << 5)
  static let lastReload = InstanceRecordBits(rawValue: 1 << 6)
  static let due = InstanceRecordBits(rawValue: 1 << 7)
  static let pendingValue = InstanceRecordBits(rawValue: 1 << 8)
  /// The waiting causes, and `Waiting.valueAt`.
  static let causes = InstanceRecordBits(rawValue: 1 << 9)
  static let held = InstanceRecordBits(rawValue: 1 << 10)
  static let chargedByLast = InstanceRecordBits(rawValue: 1 << 11)
  static let nextReload = InstanceRecordBits(rawValue: 1 << 12)
  static let retired = InstanceRecordBits(rawValue: 1 << 13)
  static let rolling = InstanceRecordBits(rawValue: 1 << 14)
  static let charges = InstanceRecordBits(rawValue: 1 << 15)
  /// A surface other than `widget`, and the address (`AddressedState`) that such an instance has.
  static let surface = InstanceRecordBits(rawValue: 1 << 16)
  /// The index, when it is not one more than that of the instance before.
  static let index = InstanceRecordBits(rawValue: 1 << 17)
  /// `DemandState.countedAt`.
  static let countedAt = InstanceRecordBits(rawValue: 1 << 18)
  /// `DemandState.unseenShare`.
  static let unseenShare = InstanceRecordBits(rawValue: 1 << 19)
  /// `DemandState.startHours`.
  static let startHours = InstanceRecordBits(rawValue: 1 << 20)
  /// The worth of a push that may be refunded: `lastWorth`, `lastWorthSum`, `lastHour`.
  static let lastWorth = InstanceRecordBits(rawValue: 1 << 21)
  /// `DayWindow.chargedByTimeline`.
  static let chargedByTimeline = InstanceRecordBits(rawValue: 1 << 22)
  /// `InstanceState.Flags.awaitsPush`.
  static let awaitsPush = InstanceRecordBits(rawValue: 1 << 23)
  /// `InstanceState.Flags.awaitsTimeline`.
  static let awaitsTimeline = InstanceRecordBits(rawValue: 1 << 24)

  /// Adds a part to the set.
  /// - Parameters:
  ///   - part: The bit of the part.
  ///   - here: Whether the part is present; if not, nothing changes.
  mutating func note(_ part: InstanceRecordBits, _ here: Bool) { if here { insert(part) } }
}
