import Domain

/// Applies notes, in the order of the topic, to a subject memory that is empty or restored from a local snapshot. A note that
/// is not newer than the known state of its subject changes nothing.
struct NoteReplay {
  /// The chunks of notes, and the chunk with the newest whole note of each subject.
  var chunks = ChunkReplay<SubjectTag>()
  /// A note that adds to a version which was not read.
  private struct Gap {
    /// The generation of the subject's newest note.
    var generation: Int64
    /// The number of the chunk with that note.
    var chunk: Int64
  }

  /// The subjects with a missing earlier note, because its chunk has been removed. Each of them must get a whole note from a later
  /// chunk, be old enough to be forgotten, or have only notes in chunks that do not count.
  private var gaps: [KeyedHash: Gap] = [:]

  /// Adds an entry of a local snapshot.
  /// - Parameters:
  ///   - subject: The entry.
  ///   - chunk: The number of the chunk with its newest whole note.
  ///   - size: The size of that note.
  ///   - memory: The memory to restore.
  mutating func take(
    snapshot subject: SubjectMemory.Remembered, in chunk: Int64, _ size: EntrySize, into memory: inout SubjectMemory
  ) {
    chunks.place(memory.restore(subject), in: chunk, size)
  }

  /// Applies the next note.
  /// - Parameters:
  ///   - note: The note.
  ///   - isWhole: Whether the note has all that is remembered of the subject.
  ///   - chunk: The number of the chunk with the note.
  ///   - size: The size of its entry.
  ///   - memory: The memory to restore.
  mutating func take(
    _ note: SubjectMemory.Remembered, isWhole: Bool, in chunk: Int64, _ size: EntrySize,
    into memory: inout SubjectMemory
  ) {
    let slot = memory.slot(note.key)
    if isWhole {
      // A chunk may be older than the note that a local snapshot names. What such a snapshot knows beyond this note follows.
      if let slot, chunks.isNewer(slot, than: chunk) { return }
      chunks.place(memory.restore(note), in: chunk, size)
      gaps[note.key] = nil
      return
    }
    guard let slot, memory.slots[slot].born >= note.born else { return lack(note, in: chunk, &memory) }
    var known = memory.slots[slot]
    // The subject was forgotten and came again.
    guard known.born == note.born else { return }
    if note.noted > known.noted {
      // An addition to a truth is no note that a planner writes.
      guard note.notedBefore <= known.noted, known.newest.items.eventCount > 0 else {
        return lack(note, in: chunk, &memory)
      }
      known.newest.take(note.newest)
      known.noted = note.noted
    }
    known.generation = max(known.generation, note.generation)
    memory.restore(known)
  }

  private mutating func lack(
    _ note: SubjectMemory.Remembered, in chunk: Int64, _ memory: inout SubjectMemory
  ) {
    memory.remove(note.key)
    let generation = max(gaps[note.key]?.generation ?? .min, note.generation)
    gaps[note.key] = Gap(generation: generation, chunk: chunk)
  }

  /// Finishes the memory after the last chunk. The memory's `generation` must be restored before.
  /// - Parameters:
  ///   - memory: The memory to restore.
  ///   - range: The numbers of the chunks that count, each of which was read.
  /// - Throws: `BinaryError` when a subject that is still remembered lacks notes.
  consuming func finish(_ memory: inout SubjectMemory, _ range: Range<Int64>) throws(BinaryError) {
    guard gaps.values.allSatisfy({ $0.chunk < range.lowerBound || $0.generation < memory.generation &- 1 }) else {
      throw .corrupt(offset: 0, what: "every note since a subject was written whole")
    }
    memory.finishRestore(chunks, range)
  }
}
