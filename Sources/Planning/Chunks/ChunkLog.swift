/// The list of the chunks of one sort (`ChunkSort`) in `rouse.state`. Chunks are numbered in the order of writing.
///
///       first                              next
///     ┌───────┬───────┬─── … ───┬───────┐
///     │ chunk │ chunk │         │ chunk │ ◄── each commit appends what changed, and what still lives in the oldest chunks
///     └───────┴───────┴─── … ───┴───────┘
///      removed when no value has its newest version in it
///
/// **Entries.** A chunk is a record of up to `PlannerBounds.stateChunkBytesMax`. It is a list of entries, each of which is a new
/// version of a value (a device, or the notes about a subject), the removal of a value, or an addition to its newest version.
/// The version in the chunk with the highest number counts, with the additions that follow it. A commit writes at most one
/// version of a value, and at most one addition before it. A version lives while it is the newest one. A version that is larger than a chunk takes several chunks
/// of its own, its pieces; the entry belongs to the first of them. `ChunkFormat` describes the bytes, which end with a
/// checksum.
///
/// **Removing chunks.** Chunks are removed oldest first, by a tombstone. The oldest chunk is removed when none of its versions
/// lives: each was replaced by a version or a removal in a later chunk, or its value is forgotten. Its removals and additions go with
/// it. That is safe: a removal only hides versions that are older, and those lie in older chunks; an addition only counts with
/// a version before it, which does not live any more. So the chunks from `first` on always hold the newest version of each value and all
/// additions to it, and no value that was removed can come back. A subject is forgotten without a removal, because its notes tell its age
/// (`SubjectMemory`). The record `p/clock` of the same transaction names `first` and `next` (`StateExtent`). A restore compares: a
/// chunk that is missing stops it, and a version in a chunk before `first`, which the topic's cleaner has not removed yet,
/// counts for nothing.
///
/// **Size.** Let *live* be the bytes of all living versions and *total* the bytes of all chunks. While total exceeds 2.25 × live
/// and a constant (`PlannerBounds.stateSpareBytes`), each commit also writes the living versions of the oldest chunks anew: four bytes
/// for each byte of new entries, and ten for each byte by which live has shrunk. So total stays below 2.5 × live and the
/// constant, one commit and one chunk. Proof: let L be live when total reaches 2.25 × L. What lives in those chunks is written
/// anew, and they are gone, before n bytes of new entries and a shrinking by d bytes have come, where 4n + 10d = L. Writing
/// anew adds no more to the total than it frees, so meanwhile total ≤ 2.25 L + n and live ≥ L − d. And 2.25 L + n ≤ 2.5 (L − d),
/// because n + 2.5d ≤ L/4 whenever 4n + 10d ≤ L. After that total is below L + n, less than 2.25 × live.
///
/// Subjects are forgotten once a day, half of them at once. A commit then pays for a part of that only (`SubjectMemory.takeNotes`). What is
/// left of the others is nearly all in the oldest chunks, which go as soon as their entries are passed. So of notes, live in
/// this bound means the most that has lived within the last two generations.
///
/// **Work.** So a commit writes at most five times its new entries, unless values shrank or went. Entries that do not live are
/// passed over, at most 16 bytes of them for each new byte and a constant, and a few chunks are removed (`ChunkAllowance`). No step
/// copies a table.
struct ChunkLog<Owner> {
  /// An entry whose chunk has ended.
  struct Entry {
    /// The slot whose value the entry holds.
    var slot: Slot<Owner>
    /// The number of the entry. The entry lives if its slot has this place.
    var place: ChunkPlace
    /// The size of the entry, rounded down.
    var bytes: Int
  }

  private struct Chunk {
    /// The size of the record, with `StateExtent.recordBytes`.
    var bytes: UInt32
    /// The number of the entry after its last one (`ChunkPlace`).
    var end: UInt32
  }

  /// The number of the oldest chunk.
  private(set) var first: Int64
  /// The size of all chunks in bytes, `StateExtent.recordBytes` added once for each, because each chunk is one record.
  private(set) var bytes = 0
  /// The size of the living entries in bytes, each rounded down (`EntrySize`).
  private(set) var liveBytes = 0
  /// The value of `liveBytes` at the last `takeShrunk`, or after a restore.
  private var liveBytesTaken = 0
  /// The chunks, oldest first, from index `start` on.
  private var chunks: ContiguousArray<Chunk> = []
  private var start = 0
  /// The entries that have not been passed, including those of the chunk that is being written.
  private var entries = ChunkEntries()
  /// The number of the oldest of them.
  private var firstEntry: UInt32 = 0

  /// Makes a log without chunks.
  /// - Parameter first: The number of the first chunk.
  init(first: Int64 = 0) { self.first = first }

  /// Makes the log of the chunks that a restore has read. Only the entries that live are known; the others are of no use.
  /// - Parameters:
  ///   - replay: The chunks, and the versions of the values.
  ///   - range: The numbers of the chunks that count, each of which was read.
  ///   - slots: The slots of all values.
  ///   - body: Receives each slot with its place; `unwritten` for a value whose version is in none of these chunks.
  init(
    _ replay: ChunkReplay<Owner>, _ range: Range<Int64>, _ slots: ContiguousArray<Slot<Owner>>,
    _ body: (Slot<Owner>, ChunkPlace) -> Void
  ) {
    var starts = ContiguousArray(repeating: 0, count: range.count + 1)
    for slot in slots {
      switch replay.life(of: slot, in: range) {
      case .living(let chunk): starts[chunk + 1] += 1
      case .replaced, .uncommitted: body(slot, .unwritten)
      }
    }
    for chunk in 0..<range.count { starts[chunk + 1] += starts[chunk] }
    var sorted = ContiguousArray(repeating: Slot<Owner>.absent, count: starts[range.count])
    var ends = starts
    for slot in slots {
      guard case .living(let chunk) = replay.life(of: slot, in: range) else { continue }
      sorted[ends[chunk]] = slot
      ends[chunk] += 1
    }
    first = range.lowerBound
    for (chunk, number) in range.enumerated() {
      for slot in sorted[starts[chunk]..<starts[chunk + 1]] { body(slot, append(slot, replay.size(of: slot))) }
      end(bytes: replay.known[number]?.bytes ?? 0)
    }
    liveBytesTaken = liveBytes
  }

  private var nextEntry: UInt32 { (firstEntry &+ UInt32(entries.count)) & ChunkPlace.mask }

  private func distance(to entry: UInt32) -> Int { Int((entry &- firstEntry) & ChunkPlace.mask) }

  /// The number of the next chunk, or of the one that is being written.
  var next: Int64 { first + Int64(chunks.count - start) }

  /// Returns the size of the record of a chunk that has not been removed, without `StateExtent.recordBytes`.
  func size(of chunk: Int64) -> Int { Int(chunks[start + Int(chunk - first)].bytes) - StateExtent.recordBytes }

  /// Returns the number of the chunk with the entry of a place; `next` if the place is no entry, because only a later chunk can
  /// hold what the slot holds now.
  func chunk(of place: ChunkPlace) -> Int64 {
    guard place.isEntry else { return next }
    let distance = distance(to: place.raw)
    var (low, high) = (start, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      if self.distance(to: chunks[middle].end) > distance { high = middle } else { low = middle + 1 }
    }
    return first + Int64(low - start)
  }

  /// Returns the size of the entry of a place; 0 if the place is no entry.
  func size(of place: ChunkPlace) -> EntrySize {
    place.isEntry ? entries[distance(to: place.raw)].size : EntrySize(0)
  }

  /// Adds an entry to the chunk that is being written.
  /// - Parameters:
  ///   - slot: The slot whose value the entry holds.
  ///   - size: The size of the entry.
  /// - Returns: The place that the slot has from now on.
  mutating func append(_ slot: Slot<Owner>, _ size: EntrySize) -> ChunkPlace {
    let place = ChunkPlace(raw: nextEntry)
    entries.append(slot: slot.number, size: size)
    liveBytes += size.bytes
    return place
  }

  /// Ends the chunk that is being written.
  /// - Parameter bytes: The size of its value.
  mutating func end(bytes: Int) {
    let size = UInt32(clamping: bytes + StateExtent.recordBytes)
    chunks.makeRoom()
    chunks.append(Chunk(bytes: size, end: nextEntry))
    self.bytes += Int(size)
  }

  /// Notes that an entry does not live any more.
  /// - Parameter place: The place that its slot had; nothing happens if that is no entry.
  mutating func drop(_ place: ChunkPlace) {
    if place.isEntry { drop(place, size(of: place)) }
  }

  /// Notes that an entry does not live any more, whose size is known. The other parameter is that of `drop(_:)`.
  /// - Parameter size: The size of the entry.
  mutating func drop(_ place: ChunkPlace, _ size: EntrySize) {
    if place.isEntry { liveBytes -= size.bytes }
  }

  /// Returns the number of bytes by which the size of what lives has lessened since the last call. A commit calls it before it writes the
  /// oldest entries anew: they may be smaller then, which the next commit pays for.
  mutating func takeShrunk() -> Int {
    defer { liveBytesTaken = liveBytes }
    return max(0, liveBytesTaken - liveBytes)
  }

  /// Returns an entry by its distance from the oldest one that has not been passed; nil if there are fewer.
  func entry(_ distance: Int) -> Entry? {
    guard distance < entries.count else { return nil }
    let entry = entries[distance]
    let number = (firstEntry &+ UInt32(distance)) & ChunkPlace.mask
    return Entry(slot: Slot(entry.slot), place: ChunkPlace(raw: number), bytes: entry.size.bytes)
  }

  /// Passes the oldest entry, which must not live any more. Its chunk must have ended and must be the oldest: call `removeFirst`
  /// first.
  mutating func pass() {
    entries.removeFirst()
    firstEntry = (firstEntry &+ 1) & ChunkPlace.mask
  }

  /// Removes the oldest chunk if all of its entries were passed.
  /// - Parameter end: The number of the first chunk that stays in any case.
  /// - Returns: Whether a chunk was removed.
  mutating func removeFirst(before end: Int64) -> Bool {
    guard first < end, chunks[start].end == firstEntry else { return false }
    bytes -= Int(chunks[start].bytes)
    first += 1
    start += 1
    // The array is compacted when half of it is unused, so the cost of moving is bounded by the number of removals.
    if start * 2 > chunks.count {
      chunks.removeFirst(start)
      start = 0
    }
    return true
  }

  /// The memory of the lists, in bytes.
  var tableBytes: Int { chunks.heldBytes + entries.tableBytes }

  /// Checks what holds between two commits. It reads every entry; for tests.
  /// - Parameters:
  ///   - slots: All slots that may live in a chunk.
  ///   - place: Returns the place of a slot.
  func checkInvariants(_ slots: some Sequence<Slot<Owner>>, _ place: (Slot<Owner>) -> ChunkPlace) {
    precondition((chunks.last?.end ?? firstEntry) == nextEntry, "a chunk is being written, or entries are miscounted")
    precondition(chunks[start...].reduce(0) { $0 + Int($1.bytes) } == bytes, "the bytes of chunks are miscounted")
    var live = 0
    for slot in slots {
      let place = place(slot)
      guard place.isEntry else { continue }
      let entry = entry(distance(to: place.raw))
      precondition(entry?.slot == slot && entry?.place == place, "a slot has the place of another one")
      precondition(first..<next ~= chunk(of: place), "an entry without a chunk")
      live += entry?.bytes ?? 0
    }
    precondition(live == liveBytes, "\(live) bytes live, not \(liveBytes)")
  }
}
