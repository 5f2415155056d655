import Domain

/// A record of `rouse.state` that is written in pieces, because its value is too large for one record. Nearly every record is
/// written in one piece.
///
///     d/phone          0x81, number of further pieces, stamp, first bytes
///     e/1/d/phone      0x81, stamp, further bytes
///     e/2/d/phone      …
///
/// The first piece has the key of the record, so a later version of the record replaces it, and a removal removes it. The stamp
/// is a hash of the whole value. Pieces with another stamp belong to another version and are ignored. The commit that writes
/// a version with fewer pieces also removes the pieces that are no longer needed.
struct SplitRecord {
  /// The first byte of a piece, in place of a format version.
  static let marker = stateFormatVersion | 0x80
  /// The first letter of the keys of further pieces.
  static let letter = UInt8(ascii: "e")

  /// Returns whether records whose keys begin with a letter are never written in pieces: chunks, and pieces themselves.
  static func isWhole(_ letter: UInt8) -> Bool { letter == Self.letter || ChunkSort(rawValue: letter) != nil }

  /// The number of pieces that follow the first one.
  let pieces: Int
  /// The stamp of every piece.
  let stamp: UInt64
  /// The bytes of the first piece.
  let bytes: [UInt8]
  /// The offset of the first piece in the topic.
  let offset: Int64

  /// Reads a first piece.
  /// - Parameters:
  ///   - value: The value of the record.
  ///   - offset: The offset of the record in the topic.
  /// - Throws: `BinaryError` for a value that is cut off.
  init(_ value: ArraySlice<UInt8>, at offset: Int64) throws(BinaryError) {
    self.offset = offset
    var reader = BinaryReader(Array(value.dropFirst()))
    pieces = try reader.integer("a number of pieces")
    stamp = UInt64(bitPattern: try reader.int64("a stamp"))
    bytes = Array(reader.bytes[reader.offset...])
  }

  /// Returns the key of a further piece.
  /// - Parameters:
  ///   - number: The number of the piece, from 1 on.
  ///   - key: The key of the record.
  static func key(of number: Int, _ key: some Sequence<UInt8>) -> [UInt8] {
    [letter, UInt8(ascii: "/")] + "\(number)/".utf8 + key
  }

  /// Puts the pieces together.
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - pieces: The values of all further pieces, of any record and version, by key.
  /// - Returns: The value of the record.
  /// - Throws: `BinaryError` when a piece is missing or damaged.
  func whole(_ key: [UInt8], with pieces: [[UInt8]: [UInt8]]) throws(BinaryError) -> [UInt8] {
    var value = bytes
    for number in 0..<self.pieces {
      guard let piece = pieces[Self.key(of: number + 1, key)] else {
        throw .corrupt(offset: 0, what: "\(self.pieces) further pieces, not \(number)")
      }
      var reader = BinaryReader(piece)
      guard try reader.uint8("a piece") == Self.marker, UInt64(bitPattern: try reader.int64("a stamp")) == stamp else {
        throw .corrupt(offset: 0, what: "a piece of the same version as the first one")
      }
      value += piece[reader.offset...]
    }
    guard Self.stamp(value[...]) == stamp else { throw .corrupt(offset: 0, what: "pieces that fit their stamp") }
    return value
  }

  private static func stamp(_ value: ArraySlice<UInt8>) -> UInt64 {
    var hash = Hash64()
    hash.add(utf8: value.span)
    return hash.value
  }

  /// Passes a record to `body` in pieces.
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - value: The value of the record.
  ///   - bytesMax: The largest size of a piece's value. Bytes.
  ///   - body: Receives the pieces, the first one first.
  /// - Returns: The number of pieces that follow the first one.
  static func lend(
    key: ArraySlice<UInt8>, value: ArraySlice<UInt8>, bytesMax: Int, to body: StateRecordSink
  ) -> Int {
    let room = max(1, bytesMax - headBytesMax)
    let pieces = (value.count - 1) / room
    let stamp = Int64(bitPattern: stamp(value))
    for number in 0...pieces {
      var piece = BinaryWriter()
      piece.uint8(marker)
      if number == 0 { piece.varint(UInt64(pieces)) }
      piece.int64(stamp)
      let start = value.startIndex + number * room
      let bytes = piece.bytes + value[start..<min(start + room, value.endIndex)]
      if number == 0 { body(key, bytes[...]) } else { body(Self.key(of: number, key)[...], bytes[...]) }
    }
    return pieces
  }

  /// The bytes before the content of a piece: marker, number of pieces, stamp.
  private static let headBytesMax = 1 + OutputSpan<UInt8>.varintMax + 8
}
