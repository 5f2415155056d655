/// A place in a walk over the whole state of a planner (`Planner.writeState`).
public struct StateWalk {
  enum Part {
    case devices(next: DeviceSlot)
    case kinds(next: KindSlot)
    case apps(next: AppSlot)
    /// Keys remembered when the walk came to them, and how many of them are written.
    case subjects([UInt64], next: Int)
    /// Chunks of notes from this number on.
    case chunks(next: Int64)
    case clock
    case done
  }

  var part = Part.devices(next: DeviceSlot(0))

  /// At the beginning.
  public init() {}
}
