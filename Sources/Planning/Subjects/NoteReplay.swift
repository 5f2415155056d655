import Domain

/// Puts a subject memory together from chunks of notes, in their order, over what a local snapshot held. A note that is
/// older than what is known, or the same, changes nothing.
struct NoteReplay {
  /// Subjects of which an earlier note stood in a chunk that has been removed, with the generation of the newest note.
  /// Either a whole note follows, or they are forgotten.
  private var gaps: [UInt64: Int64] = [:]

  /// - Parameter bytes: size of the value.
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
      // New, or forgotten and come again.
      if isWhole { put(note, at: chunk, into: &memory) } else { lack(note, in: &memory) }
      return
    }
    guard known.born == note.born else { return }
    if note.noted > known.noted {
      let added = note.noted - known.noted
      guard isWhole || added <= note.newest.ids.count else { return lack(note, in: &memory) }
      let ids = known.newest.ids + note.newest.ids.suffix(Int(min(added, Int64(SubjectMemory.idsMax))))
      known.newest.ids = Array(ids.suffix(SubjectMemory.idsMax))
      known.newest.looks = note.newest.looks
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

  /// After the last chunk, with the generation known.
  /// - Throws: when notes are missing.
  consuming func finish(_ memory: inout SubjectMemory) throws(BinaryError) {
    guard gaps.values.allSatisfy({ $0 < memory.generation &- 1 }) else {
      throw .corrupt(offset: 0, what: "every note since a subject was written whole")
    }
    memory.finishRestore()
  }
}
