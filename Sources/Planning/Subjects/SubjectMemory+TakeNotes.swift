import Domain

extension SubjectMemory {
  /// The number of chunks that one commit removes at most, in addition to two for each chunk that it writes.
  private static let removedMax = 64

  /// The size of one whole note for each subject, in bytes.
  private var wholeBytes: Int {
    count * NoteChunk.noteBytes + eventCount * NoteChunk.eventBytes + valueCount * 8
  }

  /// Hands over the notes since the last call as chunks, and the removal of chunks that are no longer needed.
  /// - Parameters:
  ///   - now: The log time.
  ///   - bounds: The bounds on the size of a chunk and on the spare size of all chunks.
  ///   - body: Receives each record.
  mutating func takeNotes(now: Timestamp, bounds: PlannerBounds, _ body: StateRecordSink) {
    let begun = log.next
    var chunk = NoteChunk(bytesMax: bounds.noteChunkBytesMax, generation: generation, now: now)
    for slot in listed where slots[slot].isListed { write(slot, whole: slots[slot].place < 0, &chunk, body) }
    listed.removeAll(keepingCapacity: true)
    chunk.end(&log, body)
    let due = log.bytes > 2 * wholeBytes + bounds.noteSpareBytes ? chunk.bytes * 3 : 0
    while chunk.bytes < due, oldest != .absent, slots[oldest].place < begun {
      // `chunk.bytes` grows only when a chunk ends, so this loop counts the bytes of the open chunk itself.
      var left = min(due - chunk.bytes, bounds.noteChunkBytesMax)
      while left > 0, oldest != .absent, slots[oldest].place < begun {
        left -= slots[oldest].wholeBytes
        write(oldest, whole: true, &chunk, body)
      }
      chunk.end(&log, body)
    }
    removeChunks(atMost: Self.removedMax + 2 * Int(log.next - begun), body)
  }

  private mutating func write(_ slot: SubjectSlot, whole: Bool, _ chunk: inout NoteChunk, _ body: StateRecordSink) {
    let count = whole ? slots[slot].newest.events.count : Int(slots[slot].eventsToWrite)
    let isWhole = slots[slot].isWhole(events: count)
    chunk.makeRoom(events: count, values: slots[slot].newest.values.count, &log, body)
    chunk.append(slots, slot, count: count)
    slots[slot].eventsToWrite = 0
    slots[slot].isListed = false
    guard isWhole else { return }
    // The open chunk gets the next number.
    move(slot, to: log.next)
  }

  private mutating func removeChunks(atMost countMax: Int, _ body: StateRecordSink) {
    let needed = oldest == .absent ? log.next : slots[oldest].place
    var record = StateRecordWriter()
    for _ in 0..<countMax where log.first < needed {
      record.begin("n", String(log.first, radix: 16))
      record.lendRemoval(to: body)
      log.removeFirst()
    }
  }
}
