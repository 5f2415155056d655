/// The head of a device's record, a varint: its flags, and which parts are there. What is not is as
/// it is at the beginning; most parts of most devices are.
///
/// Instants are distances from the newest one that was written before them (`updatedAt` to begin with), in µs or, where
/// the planner keeps whole seconds, in those: a record's instants lie close together, so they take one to five bytes.
struct DeviceRecordBits: OptionSet {
  var rawValue: UInt32

  /// `DeviceState.Flags.stored`.
  static let flags = DeviceRecordBits(rawValue: 1023)
  static let tokens = DeviceRecordBits(rawValue: 1 << 10)
  static let updatedAt = DeviceRecordBits(rawValue: 1 << 11)
  static let pushTAT = DeviceRecordBits(rawValue: 1 << 12)
  static let backgroundTAT = DeviceRecordBits(rawValue: 1 << 13)
  static let command = DeviceRecordBits(rawValue: 1 << 14)
  static let events = DeviceRecordBits(rawValue: 1 << 15)
  static let startTAT = DeviceRecordBits(rawValue: 1 << 16)
  static let foregroundSince = DeviceRecordBits(rawValue: 1 << 17)

  /// - Parameter here: whether the part is there.
  mutating func note(_ part: DeviceRecordBits, _ here: Bool) { if here { insert(part) } }
}
