/// The format of the records of `rouse.state`, as far as tools need it that look at the topic beside the planners.
public struct StateFormat: Sendable {
  /// The size of the records that a partition of the topic has to keep, as its planner states it.
  package struct StatedSize: Sendable {
    /// The size of these records, with `recordBytes` for each. Bytes.
    package var bytes: Int64
    /// The number of devices.
    package var devices: Int64

    /// States a size.
    package init(bytes: Int64, devices: Int64) {
      self.bytes = bytes
      self.devices = devices
    }
  }

  /// The key of the record that states the size.
  package let sizeKey: [UInt8]
  /// The approximate cost of a record in addition to its key and value. Bytes.
  package let recordBytes: Int
  /// Returns the size that a record with `sizeKey` states; nil for a value that this release does not write.
  package let size: @Sendable ([UInt8]) -> StatedSize?
  /// Returns whether a planner can go on without the record of a key.
  package let isDispensable: @Sendable ([UInt8]) -> Bool
  /// Returns the content of the record of a key, in words.
  package let meaning: @Sendable ([UInt8]) -> String

  /// Describes a format.
  package init(
    sizeKey: [UInt8], recordBytes: Int, size: @escaping @Sendable ([UInt8]) -> StatedSize?,
    isDispensable: @escaping @Sendable ([UInt8]) -> Bool, meaning: @escaping @Sendable ([UInt8]) -> String
  ) {
    self.sizeKey = sizeKey
    self.recordBytes = recordBytes
    self.size = size
    self.isDispensable = isDispensable
    self.meaning = meaning
  }
}
