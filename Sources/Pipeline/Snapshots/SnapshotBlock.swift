import CZlib
import Installation

/// The kind of a block of a snapshot; the first byte of each block.
enum SnapshotBlock: UInt8 {
  case head = 1
  case records, end

  /// The size in bytes at which a block of records is complete and is written.
  static let bytes = 1 << 18
  /// The size in bytes of the largest block that is read: twice the usual size and one more record.
  static let bytesMax = 2 * bytes + TopicPlan.stateRecordBytesMax

  /// Returns the CRC-32 of a block, as zlib computes it.
  ///
  /// - Parameter bytes: The whole block; at most `bytesMax` bytes.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    // zlib reads exactly these bytes and keeps none of them; blocks are far below the 4 GiB of its length.
    unsafe bytes.withUnsafeBufferPointer { buffer in
      UInt32(truncatingIfNeeded: unsafe crc32(0, buffer.baseAddress, UInt32(buffer.count)))
    }
  }
}
