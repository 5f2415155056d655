/// The chunks of notes about subjects in `rouse.state`, by number.
///
///       first                              next
///     ┌───────┬───────┬─── … ───┬───────┐
///     │ chunk │ chunk │         │ chunk │ ◄── what a commit has noted, and some of the oldest written anew
///     └───────┴───────┴─── … ───┴───────┘
///      removed once no subject stands whole in it
///
/// A chunk is a list of notes. A note is one subject with the ids that came since the note before it, or whole: with all
/// ids that are remembered, or with what a kind displays of it. The state of a subject is its newest whole note with all notes behind it. So a chunk is
/// needed until each subject that stands whole in it is forgotten or stands whole in a later one. The chain of subjects by
/// that chunk (`SubjectMemory.oldest`) tells at any time what the oldest chunk is needed for. When the chunks take more
/// than twice the bytes that the memory would take if it were written whole, each commit writes some of the oldest
/// subjects whole again, two bytes for each byte it notes: before the chunks take four times as much every subject has
/// been written again, and a commit stays bounded by what it notes. Each commit leaves chunks that are complete.
///
/// Each note tells the subject's count of ids, so a note that is older than what is known changes nothing: a local
/// snapshot holds subjects as they were when the walk came to them, and the chunks since its beginning are applied over
/// it. In the place of older chunks it holds their sizes.
struct NoteLog {
  /// Number of the oldest chunk.
  private(set) var first: Int64 = 0
  /// Of all chunks, with what the record costs beside.
  private(set) var bytes = 0
  /// Of each chunk from `start` on, the oldest first.
  private var sizes: ContiguousArray<UInt32> = []
  private var start = 0

  /// About what a record costs beside its bytes, in the topic and in memory.
  static let recordBytes = 64

  /// Number of the next chunk.
  var next: Int64 { first + Int64(sizes.count - start) }

  func size(of chunk: Int64) -> UInt32 { sizes[start + Int(chunk - first)] }

  mutating func append(bytes: Int) {
    let size = UInt32(clamping: bytes + Self.recordBytes)
    sizes.append(size)
    self.bytes += Int(size)
  }

  mutating func removeFirst() {
    bytes -= Int(sizes[start])
    first += 1
    start += 1
    // Half of it is unused: moving the rest costs no more than what was removed.
    if start * 2 > sizes.count {
      sizes.removeFirst(start)
      start = 0
    }
  }

  /// Restore: takes up a chunk; they come in order.
  /// - Returns: whether it follows the one before.
  mutating func restore(_ chunk: Int64, size: UInt32) -> Bool {
    if sizes.isEmpty { first = chunk }
    guard chunk == next else { return false }
    sizes.append(size)
    bytes += Int(size)
    return true
  }

  var tableBytes: Int { sizes.capacity * MemoryLayout<UInt32>.stride }
}
