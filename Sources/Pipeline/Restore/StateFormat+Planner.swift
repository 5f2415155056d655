import Domain
public import Installation
import Planning

extension StateFormat {
  /// The format that the planners of this release write.
  public static let planner = StateFormat(
    sizeKey: StateKey.clock, recordBytes: StateExtent.recordBytes,
    size: { value in
      do throws(BinaryError) {
        let extent = try StateExtent(clock: value)
        return StatedSize(bytes: extent.bytes, devices: extent.devices)
      } catch { return nil }  // Another release has written it.
    },
    isDispensable: { StateKey.isDispensable($0) }, meaning: { StateKey.meaning(of: $0) })
}
