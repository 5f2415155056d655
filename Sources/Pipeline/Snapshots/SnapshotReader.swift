import Planning

/// Reads a snapshot block by block. No record of it may be trusted before it has been read to its end.
final class SnapshotReader {
  /// The header, which is read first.
  let header: SnapshotHeader
  private let source: any SnapshotSource
  private var count: UInt64 = 0

  /// Reads the header.
  ///
  /// - Parameter source: The bytes of the snapshot.
  /// - Throws: `SnapshotError` for bytes that do not begin with a header of this version.
  init(_ source: any SnapshotSource) throws(SnapshotError) {
    self.source = source
    let block = try Self.block(of: source)
    guard block.first == SnapshotBlock.head.rawValue else { throw Self.corrupt("it does not begin with its header") }
    header = try SnapshotHeader(bytes: Array(block.dropFirst()))
  }

  /// The sizes of the planner's tables, for which a restore reserves memory.
  var sizes: PlannerSizes { header.sizes(in: source.bytes) }

  /// Passes the records of the next block to a closure.
  ///
  /// - Parameter take: Receives the places of a record's key and value in the block, and the block.
  /// - Returns: True after a block of records; false at the end of the snapshot, if no record is missing.
  /// - Throws: `SnapshotError` for damage, or the error of `take`.
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
      guard try source.read(1).isEmpty else { throw Self.corrupt("data follows the end marker") }
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
    guard SnapshotBlock.checksum(block) == number(head, 4) else {
      throw corrupt("a block's checksum does not match")
    }
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
