public import Domain

/// Assigns devices to partitions of the log by Kafka's default partitioner (murmur2 of the key, as in the Java client), so
/// that any Kafka tool finds a device's records by its key.
public enum DevicePartitioner {
  /// Returns the partition of a device.
  ///
  /// - Parameters:
  ///   - device: The id of the device.
  ///   - count: The number of partitions; at least 1.
  public static func partition(of device: Identifier, count: Int32) -> Int32 {
    assert(count > 0, "a log without partitions has no place for a device")
    return Int32(bitPattern: murmur2(Array(device.utf8)) & 0x7fff_ffff) % count
  }

  /// Returns the MurmurHash2 of bytes: 32 bit, seed 0x9747b28c (the published algorithm, as Kafka uses it).
  static func murmur2(_ bytes: [UInt8]) -> UInt32 {
    let m: UInt32 = 0x5bd1_e995
    var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: bytes.count)
    var i = 0
    while i + 4 <= bytes.count {
      var k = UInt32(bytes[i]) | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2]) << 16 | UInt32(bytes[i + 3]) << 24
      k = k &* m
      k ^= k >> 24
      k = k &* m
      hash = hash &* m ^ k
      i += 4
    }
    let rest = bytes.count - i
    if rest == 3 { hash ^= UInt32(bytes[i + 2]) << 16 }
    if rest >= 2 { hash ^= UInt32(bytes[i + 1]) << 8 }
    if rest >= 1 {
      hash ^= UInt32(bytes[i])
      hash = hash &* m
    }
    hash ^= hash >> 13
    hash = hash &* m
    hash ^= hash >> 15
    return hash
  }
}
