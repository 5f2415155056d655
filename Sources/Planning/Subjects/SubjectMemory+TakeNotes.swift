import Domain

extension SubjectMemory {
  /// The number of forgotten bytes for which one commit pays. It keeps the first commit after the daily rotation at some hundred
  /// KB.
  private static let forgottenBytesPaid = 64 << 10

  /// Hands over the notes since the last call as chunks, writes what lives in the oldest chunks anew as far as `ChunkLog` says,
  /// and removes the chunks in which nothing lives any more.
  /// - Parameters:
  ///   - bounds: The bounds on the size of a chunk and on the spare size of all chunks.
  ///   - body: Receives each record.
  mutating func takeNotes(bounds: PlannerBounds, _ body: StateRecordSink) {
    let (begun, first) = (log.next, log.first)
    var (writer, note) = (ChunkWriter(.notes, bytesMax: bounds.stateChunkBytesMax), BinaryWriter())
    for place in listed.indices {
      if place % Self.prefetched == 0 { prefetch(listed[place...].prefix(Self.prefetched)) }
      let slot = listed[place]
      if !slots[slot].isListed { continue }
      write(slot, whole: !slots[slot].place.isEntry, to: &writer, &note, body)
    }
    listed.removeAll(keepingCapacity: true)
    let shrunk = min(log.takeShrunk(), Self.forgottenBytesPaid)
    var allowance = ChunkAllowance(
      begun: begun, log, bytes: writer.bytes, shrunk: shrunk, spareBytes: bounds.stateSpareBytes)
    while let oldest = allowance.oldest(&log) {
      if slots[oldest.slot].place == oldest.place {
        guard allowance.moves(log, writer) else { break }
        let written = writer.bytes
        write(oldest.slot, whole: true, to: &writer, &note, body)
        allowance.note(moved: writer.bytes - written)
      } else if !allowance.passes(oldest.bytes) {
        break
      }
      log.pass()
    }
    writer.end(&log, body)
    for number in first..<log.first { body(StateKey.chunk(number, of: .notes)[...], nil) }
  }

  /// The number of subjects whose notes are prefetched at once.
  private static let prefetched = 16

  /// Asks the processor to load what the notes about subjects need, so that the waits for memory overlap.
  @inline(never)
  private borrowing func prefetch(_ subjects: ArraySlice<SubjectSlot>) {
    for slot in subjects { slots.prefetch(slot) }
    for slot in subjects { slots[slot].newest.items.prefetch() }
  }

  private mutating func write(
    _ slot: SubjectSlot, whole: Bool, to writer: inout ChunkWriter, _ note: inout BinaryWriter, _ body: StateRecordSink
  ) {
    let all = slots[slot].newest.items.eventCount
    let isWhole = whole || Int(slots[slot].eventsToWrite) == all
    note.reset()
    writeNote(slot, isWhole: isWhole, to: &note)
    let key = note.bytes.span.extracting(..<SubjectNote.keyBytes)
    let bytes = note.bytes.span.extracting(SubjectNote.keyBytes...)
    if isWhole {
      log.drop(slots[slot].place, slots[slot].size)
      slots[slot].place = writer.append(slot, id: key, bytes, &log, body)
      slots[slot].size = log.size(of: slots[slot].place)
    } else if !writer.appendAddition(id: key, bytes, &log, body) {
      return write(slot, whole: true, to: &writer, &note, body)
    }
    slots[slot].eventsToWrite = 0
    slots[slot].notedBefore = slots[slot].noted
    slots[slot].isListed = false
  }

  /// Checks that each entry lives in the chunk entry that it names, unless the next commit writes it whole. For tests.
  func checkChunks() {
    let used = slots.slots.filter { slots[$0].isUsed }
    for slot in used where !slots[slot].place.isEntry {
      precondition(slots[slot].isListed, "a subject that no commit writes")
    }
    for slot in used where slots[slot].place.isEntry {
      precondition(slots[slot].size.code == log.size(of: slots[slot].place).code, "a note of another size")
    }
    log.checkInvariants(used) { slots[$0].place }
  }
}
