import Domain

extension SubjectMemory {
  /// The content of an entry: events of a subject and type, or the truth of a subject and kind.
  struct Newest: Equatable {
    /// The time of the newest event.
    var time: Timestamp
    /// Hashes of source and id of the last `idsMax` events, oldest first. Empty for a truth.
    var ids: [UInt64]
    /// The looks of what the kind displays (`DisplayedTruth`). Empty for events.
    var looks: [UInt64] = []
  }

  /// One entry of the memory.
  struct Remembered {
    var key: UInt64 = 0
    var newest = Newest(time: .distantPast, ids: [])
    /// The generation of its newest event.
    var generation: Int64 = 0
    /// The generation in which the entry was made. A subject that comes again after it was forgotten is a new entry.
    var born: Int64 = 0
    /// The number of ids noted since then, of which `newest` holds the last `idsMax`; for a truth the number of changes.
    /// 0 when the slot is not in use.
    var noted: Int64 = 0
    /// The number of the chunk with its newest whole note, or `unwritten`.
    var place = SubjectMemory.unwritten
    /// The entry before it in the chain.
    var older = SubjectSlot.absent
    /// The entry after it in the chain.
    var younger = SubjectSlot.absent
    /// The number of ids noted since the last `takeNotes`, at most `idsMax`.
    var idsToWrite: UInt8 = 0
    /// Whether the next `takeNotes` writes it.
    var isListed = false

    /// Whether the slot is in use.
    var isUsed: Bool { noted > 0 }

    /// Whether `newest` holds every id that is remembered. A truth is always whole, because its looks are written together.
    var isWhole: Bool { isWhole(ids: newest.ids.count) }

    /// Returns whether a note with this number of ids is whole.
    func isWhole(ids: Int) -> Bool {
      !newest.looks.isEmpty || ids == Int(min(noted, Int64(SubjectMemory.idsMax)))
    }

    /// The size of a whole note of the entry, in bytes.
    var wholeBytes: Int { NoteChunk.noteBytes + 8 * (newest.ids.count + newest.looks.count) }
  }
}
