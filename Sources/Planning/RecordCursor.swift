/// The place in a record up to which its effects are committed: a fan-out larger than one transaction spans several.
public struct RecordCursor: Equatable, Sendable {
  public var nextOrdinal: UInt32
  /// The first device of the fan-out that is not decided; nil where the due timers are not all fired.
  public var nextDevice: UInt32?
  /// The standing of the event when the record began (`SubjectMemory.Standing`).
  public var standing: UInt8

  public init(nextOrdinal: UInt32, nextDevice: UInt32?, standing: UInt8) {
    self.nextOrdinal = nextOrdinal
    self.nextDevice = nextDevice
    self.standing = standing
  }
}
