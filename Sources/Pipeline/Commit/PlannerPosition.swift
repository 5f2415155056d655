import Domain
import Planning

/// How far a planner is in its log partition; the last record of each of its transactions, so that state and position
/// cannot part.
struct PlannerPosition: Equatable {
  static let key = Array("p/position".utf8)
  /// Version 1 had no birth.
  private static let formatVersion: UInt8 = 2

  /// Offset of the next log record to read; with a cursor, of the record that is half done.
  var nextOffset: Int64 = 0
  var cursor: RecordCursor?
  /// Highest offset seen of each origin: what intake appends again after a crash is dropped.
  var origins: [OriginPartition: Int64] = [:]
  /// Log time of the first record that the partition ever planned, µs: tells a log and its state from others of the same
  /// name. Nil before it, and in states begun by a release that did not note it.
  var birth: Int64?

  struct OriginPartition: Hashable, Comparable {
    var topic: String
    var partition: Int32

    static func < (a: OriginPartition, b: OriginPartition) -> Bool { (a.topic, a.partition) < (b.topic, b.partition) }
  }

  init() {}

  /// Notes the origin of the record in hand.
  /// - Returns: whether it is new: neither it nor one behind it was noted before.
  mutating func note(_ origin: Origin) -> Bool {
    Self.raise(
      &origins[OriginPartition(topic: origin.topic, partition: origin.partition), default: .min], to: origin.offset)
  }

  private static func raise(_ highest: inout Int64, to offset: Int64) -> Bool {
    guard offset > highest else { return false }
    highest = offset
    return true
  }

  func encoded() -> [UInt8] {
    var writer = BinaryWriter()
    writer.uint8(Self.formatVersion)
    writer.zigzag(nextOffset)
    writer.bool(cursor != nil)
    if let cursor {
      writer.varint(UInt64(cursor.nextOrdinal))
      writer.bool(cursor.nextDevice != nil)
      writer.varint(UInt64(cursor.nextDevice ?? 0))
      writer.uint8(cursor.standing)
    }
    writer.count(origins.count)
    for (origin, offset) in origins.sorted(by: { $0.key < $1.key }) {
      writer.string(origin.topic)
      writer.zigzag(Int64(origin.partition))
      writer.zigzag(offset)
    }
    writer.bool(birth != nil)
    writer.zigzag(birth ?? 0)
    return writer.bytes
  }

  init(bytes: [UInt8]) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    let version = try reader.uint8("a format version")
    guard (1...Self.formatVersion).contains(version) else {
      throw .newerVersion(found: version, newestKnown: Self.formatVersion)
    }
    nextOffset = try reader.zigzag("an offset")
    if try reader.bool("whether there is a cursor") {
      let ordinal: UInt32 = try reader.integer("an ordinal")
      let hasDevice = try reader.bool("whether there is a device")
      let device: UInt32 = try reader.integer("a device")
      cursor = RecordCursor(
        nextOrdinal: ordinal, nextDevice: hasDevice ? device : nil, standing: try reader.uint8("a standing"))
    }
    for _ in 0..<(try reader.count("origins")) {
      let topic = try reader.string("a topic")
      let partition = Int32(truncatingIfNeeded: try reader.zigzag("a partition"))
      origins[OriginPartition(topic: topic, partition: partition)] = try reader.zigzag("an offset")
    }
    guard version > 1 else { return }
    let hasBirth = try reader.bool("whether there is a birth")
    let instant = try reader.zigzag("a timestamp")
    birth = hasBirth ? instant : nil
  }
}
