/// The last command that a device was charged for, which may still be refunded. Only `Ledgers` changes it.
struct LastCommand: Equatable {
  /// The log offset of the record that led to the command; −1 if there is no refundable command.
  private(set) var offset: Int64 = -1
  /// The last part of the command's id: its number among the decisions and commands of that record, from 0 on.
  private(set) var ordinal: UInt32 = 0
  /// The rate that the command was charged to.
  private(set) var rate = ChargedRate.widgetPushes

  /// Creates the value of a device without a refundable command.
  init() {}

  /// Creates a command that may be refunded.
  /// - Parameters:
  ///   - offset: The log offset of the record that led to the command.
  ///   - ordinal: The last part of the command's id: its number among the decisions and commands of that record, from 0
  ///     on.
  ///   - rate: The rate that the command was charged to.
  init(offset: Int64, ordinal: UInt32, rate: ChargedRate) {
    self.offset = offset
    self.ordinal = ordinal
    self.rate = rate
  }

  /// Marks the command as final: it can no longer be refunded.
  mutating func settle() { offset = -1 }
}
