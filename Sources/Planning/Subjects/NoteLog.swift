/// The list of the chunks in `rouse.state` that hold notes about subjects. Chunks are numbered in the order of writing.
///
///       first                              next
///     ┌───────┬───────┬─── … ───┬───────┐
///     │ chunk │ chunk │         │ chunk │ ◄── each commit appends its new notes, and whole notes of the oldest subjects
///     └───────┴───────┴─── … ───┴───────┘
///      removed when no subject has its newest whole note in it
///
/// **Notes.** A chunk is a list of notes. Each note is about one subject. A whole note has all events that are remembered,
/// or the values of everything that a kind displays. Any other note has only the events since the note before it. The state of
/// a subject is its newest whole note together with all notes that follow. So a chunk is needed until each subject with its
/// newest whole note in it has been forgotten or has a whole note in a later chunk. The subjects form a chain in the order
/// of these chunks (`SubjectMemory.oldest`), so the first subject of the chain tells which chunks can be removed.
///
/// **Size.** The chunks may take twice the bytes of one whole note for each subject. Beyond that, each commit also writes
/// whole notes of the oldest subjects: two bytes for each byte of new notes. So every subject has a new whole note before
/// the chunks take four times those bytes, and the size of a commit is bounded by its new notes. A commit always ends with
/// a complete chunk.
///
/// **Snapshots.** Each note holds the subject's count of events, so a note that is older than the known state changes nothing.
/// A local snapshot holds each subject as it was when the walk reached it, and the sizes of the chunks before the walk
/// began. The chunks that were written since then are applied over it.
struct NoteLog {
  /// The number of the oldest chunk.
  private(set) var first: Int64 = 0
  /// The size of all chunks in bytes, `recordBytes` added once for each, because each chunk is one record.
  private(set) var bytes = 0
  /// The sizes of the chunks, oldest first, from index `start` on. Bytes.
  private var sizes: ContiguousArray<UInt32> = []
  private var start = 0

  /// The approximate cost of a record in addition to its value, in the topic and in memory. Bytes.
  static let recordBytes = 64

  /// The number of the next chunk.
  var next: Int64 { first + Int64(sizes.count - start) }

  /// Returns the size of a chunk that has not been removed, in bytes.
  func size(of chunk: Int64) -> UInt32 { sizes[start + Int(chunk - first)] }

  /// Adds a chunk at the end.
  /// - Parameter bytes: The size of the record's value.
  mutating func append(bytes: Int) {
    let size = UInt32(clamping: bytes + Self.recordBytes)
    sizes.append(size)
    self.bytes += Int(size)
  }

  /// Removes the oldest chunk.
  mutating func removeFirst() {
    bytes -= Int(sizes[start])
    first += 1
    start += 1
    // The array is compacted when half of it is unused, so the cost of moving is bounded by the number of removals.
    if start * 2 > sizes.count {
      sizes.removeFirst(start)
      start = 0
    }
  }

  /// Adds a chunk that was read from the state. The chunks must be added in the order of their numbers.
  /// - Parameters:
  ///   - chunk: The number of the chunk.
  ///   - size: The size of the chunk, with `recordBytes`.
  /// - Returns: Whether the number follows the number of the chunk before.
  mutating func restore(_ chunk: Int64, size: UInt32) -> Bool {
    if sizes.isEmpty { first = chunk }
    guard chunk == next else { return false }
    sizes.append(size)
    bytes += Int(size)
    return true
  }

  /// The memory of the list of sizes, in bytes.
  var tableBytes: Int { sizes.capacity * MemoryLayout<UInt32>.stride }
}
