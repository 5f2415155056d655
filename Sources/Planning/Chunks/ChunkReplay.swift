import Domain

/// A chunk that a restore has read and that has not been removed.
struct ChunkKnown {
  /// The size of its value. Bytes.
  var bytes: Int
  /// The offset of its record in the topic; 0 in a local snapshot.
  var offset: Int64
}

/// The chunks of one sort that a restore has read, and the chunk from which it took each value.
struct ChunkReplay<Owner> {
  private struct Version {
    /// The lower half of the number of the chunk.
    var chunk: UInt32 = 0
    var size = EntrySize(0)
  }

  /// An entry whose pieces are being read.
  private struct Pieces {
    var chunk: Int64
    var next: Int
    var count: Int
    var bytes: [UInt8]
  }

  /// The relation of a value to the chunks that count.
  enum Life {
    /// Its version is in one of them; the index of that chunk.
    case living(chunk: Int)
    /// Its version is in an older chunk, which was removed.
    case replaced
    /// Its version is in a later chunk. Only a broker that shows aborted records has such a chunk.
    case uncommitted
  }

  /// The chunks, by number.
  private(set) var known: [Int64: ChunkKnown] = [:]
  /// The version of each value, by slot.
  private var versions: ContiguousArray<Version> = []
  private var pieces: Pieces?

  /// Notes a chunk that was read.
  mutating func note(_ number: Int64, bytes: Int, at offset: Int64) {
    known[number] = ChunkKnown(bytes: bytes, offset: offset)
  }

  /// Removes a chunk.
  mutating func remove(_ number: Int64) { known[number] = nil }

  /// Notes the chunk from which a value was taken.
  /// - Parameters:
  ///   - slot: The slot of the value.
  ///   - chunk: The number of the chunk.
  ///   - size: The size of the entry.
  mutating func place(_ slot: Slot<Owner>, in chunk: Int64, _ size: EntrySize) {
    while versions.count <= slot.index {
      versions.makeRoom()
      versions.append(Version())
    }
    versions[slot.index] = Version(chunk: UInt32(truncatingIfNeeded: chunk), size: size)
  }

  /// Adds a piece of an entry. Pieces without the ones before them are left over: the chunk with the first one was removed.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - reader: The content of the chunk.
  /// - Returns: After the last piece the entry, and the number of the chunk with its first piece.
  /// - Throws: `BinaryError` for a chunk that is no piece.
  mutating func take(
    pieceIn number: Int64, _ reader: inout BinaryReader
  ) throws(BinaryError) -> (entry: [UInt8], chunk: Int64)? {
    let index: Int = try reader.integer("the index of a piece")
    let count: Int = try reader.integer("a number of pieces")
    guard index >= 0, index < count else { throw .corrupt(offset: reader.offset, what: "a piece of \(count)") }
    let bytes = reader.bytes[reader.rest()]
    if index == 0 {
      pieces = Pieces(chunk: number, next: 1, count: count, bytes: Array(bytes))
    } else {
      guard var open = pieces, open.next == index, open.count == count, open.chunk + Int64(index) == number else {
        pieces = nil
        return nil
      }
      // Taken out, so that appending does not copy it.
      pieces = nil
      open.bytes += bytes
      open.next += 1
      pieces = open
    }
    guard let whole = pieces, whole.next == whole.count else { return nil }
    pieces = nil
    return (whole.bytes, whole.chunk)
  }

  /// Returns the relation of a value to the chunks that count.
  /// - Parameters:
  ///   - slot: The slot of a value that was placed.
  ///   - range: The numbers of the chunks that count.
  func life(of slot: Slot<Owner>, in range: Range<Int64>) -> Life {
    let index = versions[slot.index].chunk &- UInt32(truncatingIfNeeded: range.lowerBound)
    if Int64(index) < range.upperBound - range.lowerBound { return .living(chunk: Int(index)) }
    return Int32(bitPattern: index) < 0 ? .replaced : .uncommitted
  }

  /// Returns whether the value in a slot was taken from a chunk.
  func isFrom(_ chunk: Int64, _ slot: Slot<Owner>) -> Bool {
    slot.index < versions.count && versions[slot.index].chunk == UInt32(truncatingIfNeeded: chunk)
  }

  /// Returns whether the value in a slot was taken from an older chunk than another one.
  func isOlder(_ slot: Slot<Owner>, than chunk: Int64) -> Bool {
    Int32(bitPattern: versions[slot.index].chunk &- UInt32(truncatingIfNeeded: chunk)) < 0
  }

  /// Returns whether the value in a slot was taken from a later chunk than another one.
  func isNewer(_ slot: Slot<Owner>, than chunk: Int64) -> Bool {
    Int32(bitPattern: versions[slot.index].chunk &- UInt32(truncatingIfNeeded: chunk)) > 0
  }

  /// Returns the size of the entry of a value that was placed.
  func size(of slot: Slot<Owner>) -> EntrySize { versions[slot.index].size }
}
