import Domain

/// Applies chunks of notes, in their order, to a subject memory that is empty or restored from a local snapshot. A note that
/// is not newer than the known state of its subject changes nothing.
struct NoteReplay {
  /// The subjects with a missing earlier note, because its chunk has been removed, and the generation of their newest note.
  /// Each of them must get a whole note from a later chunk, or be old enough to be forgotten.
  private var gaps: [UInt64: Int64] = [:]

  /// Applies the next chunk.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - bytes: The size of its value.
  ///   - reader: The value, from the byte after the version on.
  ///   - memory: The memory to restore.
  /// - Throws: `BinaryError` for a value that is not a chunk, or when a chunk is missing between this one and the last.
  mutating func take(
    chunk number: Int64, bytes: Int, from reader: inout BinaryReader, into memory: inout SubjectMemory
  ) throws(BinaryError) {
    var size = UInt32(clamping: bytes + NoteLog.recordBytes)
    switch try reader.uint8("what a chunk holds") {
    case NoteChunk.size: size = try reader.integer("a size")
    case NoteChunk.notes:
      try NoteChunk.read(&reader) { note in take(note, of: number, into: &memory) }
    default: throw .corrupt(offset: 1, what: "notes, or a size")
    }
    guard memory.log.restore(number, size: size) else {
      throw .corrupt(offset: 0, what: "chunk \(memory.log.next) of the notes, not \(number)")
    }
  }

  private mutating func take(
    _ note: SubjectMemory.Remembered, of chunk: Int64, into memory: inout SubjectMemory
  ) {
    let isWhole = note.isWhole
    guard var known = memory.remembered(note.key), known.born >= note.born else {
      // The subject is new, or it was forgotten and came again.
      if isWhole { put(note, at: chunk, into: &memory) } else { lack(note, in: &memory) }
      return
    }
    guard known.born == note.born else { return }
    if note.noted > known.noted {
      let added = note.noted - known.noted
      guard isWhole || added <= note.newest.events.count else { return lack(note, in: &memory) }
      let events = known.newest.events + note.newest.events.suffix(Int(min(added, Int64(SubjectMemory.eventsMax))))
      known.newest.events = Array(events.suffix(SubjectMemory.eventsMax))
      known.newest.forgotten = max(known.newest.forgotten, note.newest.forgotten)
      known.newest.values = note.newest.values
      known.noted = note.noted
    }
    known.newest.time = max(known.newest.time, note.newest.time)
    known.generation = max(known.generation, note.generation)
    if isWhole { known.place = max(known.place, chunk) }
    memory.restore(known)
  }

  private mutating func put(_ note: SubjectMemory.Remembered, at chunk: Int64, into memory: inout SubjectMemory) {
    var note = note
    note.place = chunk
    memory.restore(note)
    gaps[note.key] = nil
  }

  private mutating func lack(_ note: SubjectMemory.Remembered, in memory: inout SubjectMemory) {
    memory.remove(note.key)
    gaps[note.key] = max(gaps[note.key] ?? .min, note.generation)
  }

  /// Finishes the memory after the last chunk. The memory's `generation` must be restored before.
  /// - Parameter memory: The memory to restore.
  /// - Throws: `BinaryError` when a subject that is still remembered lacks notes.
  consuming func finish(_ memory: inout SubjectMemory) throws(BinaryError) {
    guard gaps.values.allSatisfy({ $0 < memory.generation &- 1 }) else {
      throw .corrupt(offset: 0, what: "every note since a subject was written whole")
    }
    memory.finishRestore()
  }
}
