/// The head of an instance within its device's record: like `DeviceRecordBits`, what is frequent in the lower bits.
struct InstanceRecordBits: OptionSet {
  var rawValue: UInt32

  static let pushEnabled = InstanceRecordBits(rawValue: 1)
  static let theta = InstanceRecordBits(rawValue: 1 << 1)
  /// `flow`, `flowMean`, `flowCount` and `flowAt`.
  static let flow = InstanceRecordBits(rawValue: 1 << 2)
  static let calibratedAt = InstanceRecordBits(rawValue: 1 << 3)
  static let windowEnd = InstanceRecordBits(rawValue: 1 << 4)
  static let spent = InstanceRecordBits(rawValue: 1 << 5)
  static let lastReload = InstanceRecordBits(rawValue: 1 << 6)
  static let due = InstanceRecordBits(rawValue: 1 << 7)
  static let pendingValue = InstanceRecordBits(rawValue: 1 << 8)
  /// What waits, and `pendingAt`.
  static let causes = InstanceRecordBits(rawValue: 1 << 9)
  static let held = InstanceRecordBits(rawValue: 1 << 10)
  static let chargedByLast = InstanceRecordBits(rawValue: 1 << 11)
  static let nextReload = InstanceRecordBits(rawValue: 1 << 12)
  static let retired = InstanceRecordBits(rawValue: 1 << 13)
  static let rolling = InstanceRecordBits(rawValue: 1 << 14)
  static let charges = InstanceRecordBits(rawValue: 1 << 15)
  /// It is no widget, so it has an address of its own.
  static let surface = InstanceRecordBits(rawValue: 1 << 16)
  /// It does not follow the instance before it by one.
  static let index = InstanceRecordBits(rawValue: 1 << 17)

  /// - Parameter here: whether the part is there.
  mutating func note(_ part: InstanceRecordBits, _ here: Bool) { if here { insert(part) } }
}
