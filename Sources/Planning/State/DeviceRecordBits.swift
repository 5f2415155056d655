/// The head of a device's record, a varint: the device's flags, and a bit for each part that is present. A part that is
/// absent has its initial value, as most parts of most devices do.
///
/// Instants are relative to an earlier instant of the same record, beginning with `updatedAt`. They are in µs, or in seconds
/// where the planner keeps seconds. The instants of a record lie close together, so each takes one to five bytes.
struct DeviceRecordBits: OptionSet {
  var rawValue: UInt32

  /// The bits of `DeviceState.Flags.stored`.
  static let flags = DeviceRecordBits(rawValue: 1023)
  static let tokens = DeviceRecordBits(rawValue: 1 << 10)
  static let updatedAt = DeviceRecordBits(rawValue: 1 << 11)
  static let pushTAT = DeviceRecordBits(rawValue: 1 << 12)
  static let backgroundTAT = DeviceRecordBits(rawValue: 1 << 13)
  static let command = DeviceRecordBits(rawValue: 1 << 14)
  static let events = DeviceRecordBits(rawValue: 1 << 15)
  static let startTAT = DeviceRecordBits(rawValue: 1 << 16)
  static let foregroundSince = DeviceRecordBits(rawValue: 1 << 17)
  static let surplus = DeviceRecordBits(rawValue: 1 << 18)
  /// `RareDeviceState.shownBefore`.
  static let shownBefore = DeviceRecordBits(rawValue: 1 << 19)
  /// The habits, in an addition. A version has them if the device has any.
  static let habitsChanged = DeviceRecordBits(rawValue: 1 << 20)
  /// `RareDeviceState.refunds`.
  static let refunds = DeviceRecordBits(rawValue: 1 << 21)

  /// Adds a part to the set.
  /// - Parameters:
  ///   - part: The bit of the part.
  ///   - here: Whether the part is present; if not, nothing changes.
  mutating func note(_ part: DeviceRecordBits, _ here: Bool) { if here { insert(part) } }
}
