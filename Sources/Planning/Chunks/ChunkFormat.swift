import Domain

/// The bytes of a chunk of `ChunkLog`:
///
///     version · form · content · checksum
///
///     entries   for each: length of the id, id, length of the version, version; a length of 0 is a removal.
///               An addition to a note has its first byte to tell it from a version (`SubjectNote`). An addition to a device has no id:
///               it names the device's slot, and the chunk with the version (`DeviceForm`)
///     piece     index of the piece, number of pieces, bytes of an entry
///     size      size of the chunk; only in local snapshots, because the topic has the chunk itself
///
/// The checksum is a hash of everything before it and of the chunk's number and sort, in eight bytes. So a chunk that is cut off,
/// altered or stored under the key of another one is refused.
enum ChunkFormat {
  /// The byte that follows the version.
  enum Form: UInt8 { case entries, piece, size }

  /// The bytes of the checksum.
  static let checksumBytes = 8
  /// The bytes before the content.
  static let headBytes = 2

  /// Returns the checksum of a chunk.
  ///
  /// It takes eight bytes at a time. Each step is a bijection of the state, so two chunks that differ in one word only never have the
  /// same checksum.
  /// - Parameters:
  ///   - bytes: Everything before the checksum.
  ///   - number: The number of the chunk, below 2^62.
  ///   - sort: The sort of the chunk.
  static func checksum(_ bytes: Span<UInt8>, of number: Int64, _ sort: ChunkSort) -> UInt64 {
    var state =
      (UInt64(bitPattern: number) << 1 | (sort == .notes ? 1 : 0)) &+ UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
    bytes.forEachWord { word in
      state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
      state ^= state >> 32
    }
    return state
  }

  /// Checks the version and the checksum of a chunk.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - sort: The sort of the chunk.
  ///   - bytes: A buffer with the chunk.
  ///   - value: The place of the chunk in it.
  /// - Returns: The form, and a reader of the content.
  /// - Throws: `BinaryError` for a chunk that is cut off, altered, or of another format.
  static func open(
    _ number: Int64, of sort: ChunkSort, _ bytes: [UInt8], in value: Range<Int>
  ) throws(BinaryError) -> (form: Form, content: BinaryReader) {
    var reader = BinaryReader(bytes, in: value)
    let version = try reader.uint8("a format version")
    guard version <= stateFormatVersion else { throw .newerVersion(found: version, newestKnown: stateFormatVersion) }
    guard version == stateFormatVersion else { throw .corrupt(offset: 0, what: "format version \(stateFormatVersion)") }
    guard value.count >= headBytes + checksumBytes else {
      throw .truncated(offset: value.count, what: "a chunk of the state")
    }
    let content = value.lowerBound..<value.upperBound - checksumBytes
    var end = BinaryReader(bytes, in: content.upperBound..<value.upperBound)
    guard try UInt64(bitPattern: end.int64("a checksum")) == checksum(bytes.span.extracting(content), of: number, sort)
    else {
      throw .corrupt(offset: content.count, what: "bytes that fit their checksum")
    }
    guard let form = Form(rawValue: try reader.uint8("a form")) else {
      throw .corrupt(offset: 1, what: "entries, a piece, or a size")
    }
    return (form, BinaryReader(bytes, in: value.lowerBound + headBytes..<content.upperBound))
  }

  /// Returns a chunk without entries, which takes the place of one that is lost.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - sort: The sort of the chunk.
  static func empty(_ number: Int64, of sort: ChunkSort) -> [UInt8] {
    var writer = BinaryWriter()
    writer.uint8(stateFormatVersion)
    writer.uint8(Form.entries.rawValue)
    writer.int64(Int64(bitPattern: checksum(writer.bytes.span, of: number, sort)))
    return writer.bytes
  }
}
