/// The place in a record up to which its effects are committed. A large fan-out spans several transactions.
public struct RecordCursor: Equatable, Sendable {
  /// The last part of the id of the next decision or command.
  public var nextOrdinal: UInt32
  /// The slot of the first device of the fan-out without decisions; nil when not all due timers have fired.
  public var nextDevice: UInt32?
  /// The relation of the event to the earlier ones when the record began, as the raw value of `SubjectMemory.Standing`.
  public var standing: UInt8

  /// Creates a cursor.
  /// - Parameters:
  ///   - nextOrdinal: The last part of the id of the next decision or command.
  ///   - nextDevice: The slot of the first device without decisions; nil when not all due timers have fired.
  ///   - standing: The raw value of the event's `SubjectMemory.Standing`.
  public init(nextOrdinal: UInt32, nextDevice: UInt32?, standing: UInt8) {
    self.nextOrdinal = nextOrdinal
    self.nextDevice = nextDevice
    self.standing = standing
  }
}
