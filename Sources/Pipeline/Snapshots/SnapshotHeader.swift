import CZlib
import Domain
import KafkaClient
import Planning

/// The head of a local snapshot: what it is a snapshot of.
///
/// A snapshot is a file of blocks, each with its length and the CRC-32 of its bytes: this head, blocks of records as they
/// stand in `rouse.state`, and an end with their number. It is written in slices while planning goes on, so it is not the
/// state of one moment: all records of `rouse.state` from `stateOffset` on are applied over it, and give the state of
/// the end, whatever they met.
struct SnapshotHeader: Equatable {
  /// The partition of `rouse.state`.
  var state: KafkaTopicPartition
  /// Everything committed before this offset is in the snapshot.
  var stateOffset: Int64
  /// Wall clock when it was begun, µs since 1970.
  var begunAt: Int64
  /// Timestamp of the first record that the partition ever planned (see `PlannerPosition.birth`): a topic that was
  /// removed and made anew has another.
  var birth: Int64?
  /// What the planner held when it was begun: about as much as will be restored.
  var sizes: PlannerSizes

  static let magic = Array("ROUSESNP".utf8)
  /// 2: `sizes`. A snapshot of another version is left aside: the topic has everything.
  static let formatVersion: UInt8 = 2

  /// The broker removes tombstones a day after they were written (`delete.retention.ms` of `rouse.state`). An older
  /// snapshot could bring back what was removed; half a day leaves room for clocks that differ.
  static let ageMax: Int64 = 12 * 3_600_000_000

  static func name(_ state: KafkaTopicPartition) -> String { "\(state.topic)-\(state.partition).snapshot" }

  /// Refuses a snapshot of something else.
  func check(state: KafkaTopicPartition, end: Int64, wallMicroseconds: Int64) throws(SnapshotError) {
    guard self.state == state else { throw SnapshotError(description: "it is one of \(self.state)") }
    guard stateOffset <= end else {
      throw SnapshotError(description: "it reaches to offset \(stateOffset), and the topic ends at \(end)")
    }
    guard begunAt <= wallMicroseconds + Self.ageMax, wallMicroseconds - begunAt <= Self.ageMax else {
      throw SnapshotError(
        description: "it is \((wallMicroseconds - begunAt) / 3_600_000_000) h old, at most 12 are usable")
    }
  }

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

  init(state: KafkaTopicPartition, stateOffset: Int64, begunAt: Int64, birth: Int64?, sizes: PlannerSizes) {
    self.state = state
    self.stateOffset = stateOffset
    self.begunAt = begunAt
    self.birth = birth
    self.sizes = sizes
  }

  init(bytes: [UInt8]) throws(SnapshotError) {
    guard bytes.starts(with: Self.magic) else { throw SnapshotError(description: "it is no snapshot") }
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

/// What a block of a snapshot holds; the first byte of each.
private enum SnapshotBlock: UInt8 {
  case head = 1
  case records, end

  /// Blocks are written at this size, and refused beyond twice of it and a record.
  static let bytes = 1 << 18
  static let bytesMax = 2 * bytes + TopicPlan.stateRecordBytesMax
}

/// Writes a snapshot in slices.
final class SnapshotWriter {
  private let sink: any SnapshotSink
  private var block: [UInt8] = [SnapshotBlock.records.rawValue]
  private var count: UInt64 = 0

  init(_ sink: any SnapshotSink, _ header: SnapshotHeader) throws(SnapshotError) {
    self.sink = sink
    try write([SnapshotBlock.head.rawValue] + header.encoded())
  }

  func add(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) throws(SnapshotError) {
    append(UInt32(key.count))
    append(UInt32(value.count))
    block += key
    block += value
    count += 1
    if block.count >= SnapshotBlock.bytes { try flush() }
  }

  /// Puts the snapshot in place.
  func commit() throws(SnapshotError) {
    try flush()
    block = [SnapshotBlock.end.rawValue]
    append(UInt32(truncatingIfNeeded: count))
    try write(block)
    try sink.commit()
  }

  func discard() { sink.discard() }

  private func flush() throws(SnapshotError) {
    guard block.count > 1 else { return }
    try write(block)
    block.removeAll(keepingCapacity: true)
    block.append(SnapshotBlock.records.rawValue)
  }

  private func append(_ number: UInt32) {
    for shift: UInt32 in [0, 8, 16, 24] { block.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  private func write(_ bytes: [UInt8]) throws(SnapshotError) {
    var head: [UInt8] = []
    head.reserveCapacity(8)
    for number in [UInt32(bytes.count), checksum(bytes)] {
      for shift: UInt32 in [0, 8, 16, 24] { head.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    try sink.write(head)
    try sink.write(bytes)
  }
}

/// Reads a snapshot block by block. Nothing of it may be trusted before it has been read to its end.
final class SnapshotReader {
  let header: SnapshotHeader
  private let source: any SnapshotSource
  private var count: UInt64 = 0

  init(_ source: any SnapshotSource) throws(SnapshotError) {
    self.source = source
    let block = try Self.block(of: source)
    guard block.first == SnapshotBlock.head.rawValue else { throw Self.corrupt("it does not begin with its head") }
    header = try SnapshotHeader(bytes: Array(block.dropFirst()))
  }

  /// Hands over the records of the next block, as places in it.
  /// - Returns: false at the end, which was complete.
  func nextBlock(
    _ take: (_ key: Range<Int>, _ value: Range<Int>, _ block: [UInt8]) throws(SnapshotError) -> Void
  ) throws(SnapshotError) -> Bool {
    let block = try Self.block(of: source)
    switch block.first.flatMap(SnapshotBlock.init(rawValue:)) {
    case .records:
      try records(of: block, take)
      return true
    case .end:
      guard block.count == 5, Self.number(block, 1) == UInt32(truncatingIfNeeded: count) else {
        throw Self.corrupt("records are missing")
      }
      guard try source.read(1).isEmpty else { throw Self.corrupt("it goes on behind its end") }
      return false
    case .head, nil: throw Self.corrupt("a block of an unknown kind")
    }
  }

  private func records(
    of block: [UInt8], _ take: (Range<Int>, Range<Int>, [UInt8]) throws(SnapshotError) -> Void
  ) throws(SnapshotError) {
    var place = 1
    while place < block.count {
      guard place + 8 <= block.count else { throw Self.corrupt("a record is cut off") }
      let key = Int(Self.number(block, place))
      let value = Int(Self.number(block, place + 4))
      place += 8
      guard key <= block.count - place, value <= block.count - place - key else {
        throw Self.corrupt("a record is cut off")
      }
      try take(place..<place + key, place + key..<place + key + value, block)
      place += key + value
      count += 1
    }
  }

  private static func block(of source: any SnapshotSource) throws(SnapshotError) -> [UInt8] {
    let head = try exactly(8, of: source)
    let length = Int(number(head, 0))
    guard length > 0, length <= SnapshotBlock.bytesMax else { throw corrupt("a block of \(length) bytes") }
    let block = try exactly(length, of: source)
    guard checksum(block) == number(head, 4) else { throw corrupt("the checksum of a block does not fit") }
    return block
  }

  private static func exactly(_ count: Int, of source: any SnapshotSource) throws(SnapshotError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try source.read(count - bytes.count)
      if more.isEmpty { throw corrupt("it ends too early") }
      if bytes.isEmpty { bytes = more } else { bytes += more }
    }
    return bytes
  }

  private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
    UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
      | UInt32(bytes[place + 3]) << 24
  }

  private static func corrupt(_ what: String) -> SnapshotError { SnapshotError(description: "it is corrupt: \(what)") }
}

/// CRC-32 as zlib has it.
private func checksum(_ bytes: [UInt8]) -> UInt32 {
  // zlib reads exactly these bytes and keeps nothing of them; blocks are far below the 4 GiB of its length.
  unsafe bytes.withUnsafeBufferPointer { buffer in
    UInt32(truncatingIfNeeded: unsafe crc32(0, buffer.baseAddress, UInt32(buffer.count)))
  }
}
