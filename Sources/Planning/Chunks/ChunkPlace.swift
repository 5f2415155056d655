/// The place of the newest version of a value in the chunks of `rouse.state`: the number of an entry of a `ChunkLog`. It is
/// kept with the device or subject, in four bytes; only `Journal` and the writing of chunks set it.
struct ChunkPlace: Equatable {
  /// The number of the entry, which wraps around at `mask`, or one of the two values below.
  let raw: UInt32

  /// The bits that the number of an entry has. A log never has that many entries, so two of its entries never share a number.
  static let mask: UInt32 = 0x7FFF_FFFF
  /// The place of a value that no chunk holds.
  static let unwritten = ChunkPlace(raw: .max)
  /// The place of a device that changed since the last commit, so that the next one writes it. `Journal.former` has the
  /// place of the version before.
  static let changed = ChunkPlace(raw: .max - 1)

  /// Whether it is the number of an entry.
  var isEntry: Bool { raw <= Self.mask }
}
