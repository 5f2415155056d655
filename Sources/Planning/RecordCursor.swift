/// The place in a record up to which its effects are committed. A large fan-out spans several transactions.
public struct RecordCursor: Equatable, Sendable {
  /// The ordinal of the record's next decision or command: the last part of its id.
  public var nextOrdinal: UInt32
  /// The slot of the device with which the fan-out continues; nil while due timers must fire before it begins.
  public var nextDevice: UInt32?
  /// The relation of the event to the earlier ones when the record began, as the raw value of `SubjectMemory.Standing`.
  public var standing: UInt8

  /// Creates a cursor.
  /// - Parameters:
  ///   - nextOrdinal: The ordinal of the record's next decision or command.
  ///   - nextDevice: The slot of the device with which the fan-out continues; nil while due timers must fire before it begins.
  ///   - standing: The raw value of the event's `SubjectMemory.Standing`.
  public init(nextOrdinal: UInt32, nextDevice: UInt32?, standing: UInt8) {
    self.nextOrdinal = nextOrdinal
    self.nextDevice = nextDevice
    self.standing = standing
  }
}
