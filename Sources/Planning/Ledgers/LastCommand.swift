/// The last command that a device was charged for, which may still be refunded. Only `Ledgers` changes it.
struct LastCommand: Equatable {
  /// The log offset of the command; −1 where there is none.
  private(set) var offset: Int64 = -1
  private(set) var ordinal: UInt32 = 0
  /// The rate that the command was charged to.
  private(set) var rate = ChargedRate.widgetPushes

  init() {}

  init(offset: Int64, ordinal: UInt32, rate: ChargedRate) {
    self.offset = offset
    self.ordinal = ordinal
    self.rate = rate
  }

  /// Makes the command one that cannot be refunded any more.
  mutating func settle() { offset = -1 }
}

/// The rate of a device or of a control that a push draws on. The numbers are part of the state records.
enum ChargedRate: UInt8 {
  case widgetPushes = 0
  case backgroundPushes = 1
  case controlPushes = 2
}
