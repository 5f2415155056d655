import Domain
import KafkaClient
import Planning

/// The first block of a local snapshot: the partition, the time and the offset that it belongs to.
///
/// A snapshot is a file of blocks, each with its length and the CRC-32 of its bytes: this header, blocks of records in the form of
/// `rouse.state`, and an end with the number of records. It is written in slices while planning continues, so it is
/// not the state of one moment. Applying all records of `rouse.state` from `stateOffset` on to it gives the newest
/// state, regardless of when each slice was written.
struct SnapshotHeader: Equatable {
  /// The partition of `rouse.state`.
  var state: KafkaTopicPartition
  /// The snapshot holds everything that was committed before this offset.
  var stateOffset: Int64
  /// The wall clock when the snapshot was begun, in µs since 1970.
  var begunAt: Int64
  /// The timestamp of the first record ever planned in this partition, in µs since 1970 (see `PlannerPosition.birth`). It
  /// differs after a topic was deleted and made again.
  var birth: Int64?
  /// The sizes of the planner's tables when the snapshot was begun: a restore reserves this much memory.
  var sizes: PlannerSizes

  static let magic = Array("ROUSESNP".utf8)
  /// A snapshot of another version is not used, because the topic holds the complete state.
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

  /// Rejects a snapshot that does not belong to the topic.
  ///
  /// - Parameters:
  ///   - state: The partition of `rouse.state` that is being restored.
  ///   - end: The end of that partition.
  ///   - wallMicroseconds: The wall clock, in µs since 1970.
  /// - Throws: `SnapshotError` that names the mismatch.
  func check(state: KafkaTopicPartition, end: Int64, wallMicroseconds: Int64) throws(SnapshotError) {
    guard self.state == state else { throw SnapshotError(description: "it belongs to \(self.state)") }
    guard stateOffset <= end else {
      throw SnapshotError(description: "it reaches to offset \(stateOffset), but the topic ends at \(end)")
    }
    guard begunAt <= wallMicroseconds + Self.ageMax, wallMicroseconds - begunAt <= Self.ageMax else {
      throw SnapshotError(
        description: "it is \((wallMicroseconds - begunAt) / 3_600_000_000) h old; at most 12 h are usable")
    }
  }

  /// Returns the header as the content of its block.
  func encoded() -> [UInt8] {
    var writer = BinaryWriter()
    for byte in Self.magic { writer.uint8(byte) }
    writer.uint8(Self.formatVersion)
    writer.string(state.topic)
    writer.zigzag(Int64(state.partition))
    writer.zigzag(stateOffset)
    writer.zigzag(begunAt)
    writer.bool(birth != nil)
    writer.zigzag(birth ?? 0)
    for size in [sizes.devices, sizes.instances, sizes.interests, sizes.keys, sizes.textBytes] { writer.count(size) }
    return writer.bytes
  }

  /// Makes the header of a new snapshot.
  init(state: KafkaTopicPartition, stateOffset: Int64, begunAt: Int64, birth: Int64?, sizes: PlannerSizes) {
    self.state = state
    self.stateOffset = stateOffset
    self.begunAt = begunAt
    self.birth = birth
    self.sizes = sizes
  }

  /// Reads a header.
  ///
  /// - Parameter bytes: The content of the block.
  /// - Throws: `SnapshotError` for bytes that are no header, or one of another version.
  init(bytes: [UInt8]) throws(SnapshotError) {
    guard bytes.starts(with: Self.magic) else { throw SnapshotError(description: "it is not a snapshot") }
    do throws(BinaryError) {
      var reader = BinaryReader(Array(bytes.dropFirst(Self.magic.count)))
      let version = try reader.uint8("a format version")
      guard version == Self.formatVersion else {
        throw .corrupt(offset: 0, what: "format version \(Self.formatVersion), not \(version)")
      }
      let topic = try reader.string("a topic")
      state = KafkaTopicPartition(
        topic: topic, partition: Int32(truncatingIfNeeded: try reader.zigzag("a partition")))
      stateOffset = try reader.zigzag("an offset")
      begunAt = try reader.zigzag("an instant")
      let hasBirth = try reader.bool("whether there is a birth")
      let birth = try reader.zigzag("a timestamp")
      self.birth = hasBirth ? birth : nil
      sizes = PlannerSizes(
        devices: try reader.integer("devices"), instances: try reader.integer("instances"),
        interests: try reader.integer("interests"), keys: try reader.integer("keys"),
        textBytes: try reader.integer("bytes of texts"))
    } catch {
      throw SnapshotError(description: error.description)
    }
  }
}
