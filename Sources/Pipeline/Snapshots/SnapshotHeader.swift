import CZlib
import Domain
import Installation
import KafkaClient
import Planning

/// The first block of a local snapshot: the partition, the time and the offset that it belongs to.
///
/// A snapshot is a file of blocks, each with its length and the CRC-32 of its bytes: this header, blocks of records in the
/// form of
/// `rouse.state`, and an end with the number of records. It is written in slices while planning continues, so it is
/// not the state of one moment. Applying all records of `rouse.state` from `stateOffset` on to it gives the newest
/// state, regardless of when each slice was written.
struct SnapshotHeader: Equatable {
  /// The partition of `rouse.state`.
  var state: KafkaTopicPartition
  /// The offset of `rouse.state` up to which the snapshot is complete: it holds everything that was committed before, by
  /// whichever owner of the partition.
  var stateOffset: Int64
  /// The wall clock when the snapshot was begun, in µs since 1970.
  var begunAt: Int64
  /// The timestamp of the first record ever planned in this partition, in µs since 1970 (see `PlannerPosition.birth`).
  /// It differs after a topic was deleted and made again. Nil if no record was planned.
  var birth: Int64?
  /// The sizes of the planner's tables when the snapshot was begun: a restore reserves this much memory.
  var sizes: PlannerSizes

  static let magic = Array("ROUSESNP".utf8)
  /// The version of the snapshot format. A snapshot of another version is not used, because the topic holds the
  /// complete state.
  static let formatVersion: UInt8 = 2

  /// The greatest age of a usable snapshot, in µs. The broker removes tombstones a day after they were written
  /// (`delete.retention.ms` of `rouse.state`), so an older snapshot could bring back what was removed. Half a day leaves
  /// room for clocks that differ.
  /// - Beyond: the snapshot is not used; the state is read from the topic.
  static let ageMax: Int64 = 12 * 3_600_000_000

  /// Returns the name under which the snapshot of a partition is stored.
  ///
  /// - Parameter state: The partition of `rouse.state`.
  static func name(_ state: KafkaTopicPartition) -> String { "\(state.topic)-\(state.partition).snapshot" }

  /// Rejects a snapshot that belongs to another partition, reaches beyond the end of the topic, or is too old.
  ///
  /// - Parameters:
  ///   - state: The partition of `rouse.state` that is being restored.
  ///   - end: The end of that partition.
  ///   - wallMicroseconds: The wall clock, in µs since 1970.
  /// - Throws: `SnapshotError` that names the mismatch.
  func check(state: KafkaTopicPartition, end: Int64, wallMicroseconds: Int64) throws(SnapshotError) {
    guard self.state == state else { throw SnapshotError(description: "it belongs to \(self.state)") }
    guard stateOffset >= 0, stateOffset <= end else {
      throw SnapshotError(description: "it reaches to offset \(stateOffset), but the topic ends at \(end)")
    }
    // A damaged instant may be any number.
    let (age, isFar) = wallMicroseconds.subtractingReportingOverflow(begunAt)
    guard !isFar, abs(age) <= Self.centuries else {
      throw SnapshotError(description: "it says that it was begun at \(begunAt) µs since 1970, which no clock shows")
    }
    guard age <= Self.ageMax else {
      throw SnapshotError(description: "it is \(age / 3_600_000_000) h old; at most 12 h are usable")
    }
    guard age >= -Self.ageMax else {
      throw SnapshotError(description: "it was begun \(-age / 3_600_000_000) h from now; compare the machines' clocks")
    }
  }

  /// The age, in µs, above which the time in a header counts as damaged or forged: about a thousand years.
  private static let centuries: Int64 = 1000 * 366 * 24 * 3_600_000_000

  /// Returns the sizes to reserve memory for: no more entries than the snapshot has bytes, because each takes a byte at least.
  ///
  /// - Parameter bytes: The size of the snapshot, in bytes.
  func sizes(in bytes: Int) -> PlannerSizes {
    PlannerSizes(
      devices: min(sizes.devices, bytes), instances: min(sizes.instances, bytes),
      interests: min(sizes.interests, bytes), keys: min(sizes.keys, bytes), textBytes: min(sizes.textBytes, bytes))
  }

  /// Makes the header of a new snapshot.
  init(state: KafkaTopicPartition, stateOffset: Int64, begunAt: Int64, birth: Int64?, sizes: PlannerSizes) {
    self.state = state
    self.stateOffset = stateOffset
    self.begunAt = begunAt
    self.birth = birth
    self.sizes = sizes
  }

  /// Returns the header as the content of its block.
  func encoded() -> [UInt8] {
    var writer = BinaryWriter(appendingTo: Self.magic)
    writer.uint8(Self.formatVersion)
    var header = self
    header.fields(&writer)
    return writer.bytes
  }

  /// Reads a header.
  ///
  /// - Parameter bytes: The content of the block.
  /// - Throws: `SnapshotError` for bytes that are no header, or one of another version.
  init(bytes: [UInt8]) throws(SnapshotError) {
    guard bytes.starts(with: Self.magic) else { throw SnapshotError(description: "it is not a snapshot") }
    self.init(
      state: KafkaTopicPartition(topic: "", partition: 0), stateOffset: 0, begunAt: 0, birth: nil,
      sizes: PlannerSizes(devices: 0, instances: 0, interests: 0, keys: 0, textBytes: 0))
    do throws(BinaryError) {
      var reader = BinaryReader(bytes, in: Self.magic.count..<bytes.count)
      let version = try reader.uint8("a format version")
      guard version == Self.formatVersion else {
        throw .corrupt(offset: 0, what: "format version \(Self.formatVersion), not \(version)")
      }
      try fields(&reader)
      try reader.end()
    } catch {
      throw SnapshotError(description: error.description)
    }
  }

  /// Encodes or decodes each field after the format version.
  private mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&state.topic, "a topic")
    try coder.zigzag(&state.partition, "a partition")
    try coder.zigzag(&stateOffset, "an offset")
    try coder.zigzag(&begunAt, "an instant")
    try coder.zigzag(&birth, "the timestamp of the first record")
    try coder.varint(&sizes.devices, "devices")
    try coder.varint(&sizes.instances, "instances")
    try coder.varint(&sizes.interests, "interests")
    try coder.varint(&sizes.keys, "keys")
    try coder.varint(&sizes.textBytes, "bytes of texts")
  }
}

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
