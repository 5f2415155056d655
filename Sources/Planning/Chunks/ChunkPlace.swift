/// The place of the newest version of a value in the chunks of `rouse.state`: the number of an entry of a `ChunkLog`. It is
/// kept with the device or subject, in four bytes; only the writing of chunks and a restore set it.
struct ChunkPlace: Equatable {
  /// The number of the entry, which wraps around at `mask`, or `unwritten`.
  let raw: UInt32

  /// The bits that the number of an entry has. A log never has that many entries, so two of its entries never share a number.
  static let mask: UInt32 = 0x7FFF_FFFF
  /// The place of a value that no chunk holds.
  static let unwritten = ChunkPlace(raw: .max)

  /// Whether it is the number of an entry.
  var isEntry: Bool { raw <= Self.mask }
}
