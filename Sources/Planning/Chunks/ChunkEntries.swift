/// A queue of the entries of all chunks, oldest first, in five bytes each. It grows and shrinks in blocks, so no commit ever
/// copies more than a block.
struct ChunkEntries {
  private struct EntryBlock {
    var slots: ContiguousArray<UInt32> = []
    var sizes: ContiguousArray<UInt8> = []
  }

  private var blocks: ContiguousArray<EntryBlock> = []
  /// The number of entries of the first block that were removed.
  private var removed = 0
  /// The number of entries.
  private(set) var count = 0
  private static let blockEntries = 4096

  /// Adds an entry at the end.
  /// - Parameters:
  ///   - slot: The number of the slot whose value the entry holds.
  ///   - size: The size of the entry.
  mutating func append(slot: UInt32, size: EntrySize) {
    if (removed + count) % Self.blockEntries == 0 { blocks.append(EntryBlock()) }
    let last = blocks.count - 1
    blocks[last].slots.makeRoom()
    blocks[last].slots.append(slot)
    blocks[last].sizes.append(size.code)
    count += 1
  }

  /// Returns an entry by its distance from the oldest one, which must be below `count`.
  subscript(index: Int) -> (slot: UInt32, size: EntrySize) {
    let place = removed + index
    let (block, at) = (place / Self.blockEntries, place % Self.blockEntries)
    return (blocks[block].slots[at], EntrySize(code: blocks[block].sizes[at]))
  }

  /// Removes the oldest entry. There must be one.
  mutating func removeFirst() {
    count -= 1
    removed += 1
    if removed == Self.blockEntries {
      blocks.removeFirst()
      removed = 0
    }
  }

  /// The memory of the queue, in bytes.
  var tableBytes: Int {
    blocks.reduce(blocks.heldBytes) { $0 + $1.slots.heldBytes + $1.sizes.heldBytes + 64 }
  }
}
