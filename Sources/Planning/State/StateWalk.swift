/// The position of a walk over the whole state of a planner (`Planner.writeState`).
public struct StateWalk {
  enum Part {
    case devices(next: DeviceSlot)
    case kinds(next: KindSlot)
    case apps(next: AppSlot)
    /// The keys of the subject memory when the walk reached it, and the index of the next one to write.
    case subjects([KeyedHash], next: Int)
    /// The chunks of a sort, from this number on.
    case chunks(ChunkSort, next: Int64)
    case clock
    case done
  }

  var part = Part.devices(next: DeviceSlot(0))

  /// Creates a walk that begins with the first record.
  public init() {}
}
