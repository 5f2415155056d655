import Domain

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

/// One chunk in the making.
struct NoteChunk {
  private var record = StateRecordWriter()
  private let bytesMax: Int
  /// Generation and log time that the notes refer to.
  private let generation: Int64
  private let now: Timestamp
  /// Where the notes begin; 0: nothing is begun.
  private var notesStart = 0
  /// Of all chunks that were written.
  private(set) var bytes = 0

  /// What a value begins with behind its version: notes, or only the size of a chunk that stands in the topic.
  static let (notes, size): (UInt8, UInt8) = (0, 1)
  /// A note without ids, with lengths as they usually are.
  static let noteBytes = 17

  init(bytesMax: Int, generation: Int64, now: Timestamp) {
    self.bytesMax = bytesMax
    self.generation = generation
    self.now = now
  }

  /// Ends a chunk that has no room for a note with so many ids and looks, and begins the next one.
  /// - Parameter log: gets the chunk that is full.
  mutating func makeRoom(hashes count: Int, _ log: inout NoteLog, _ body: StateRecordSink) {
    if notesStart > 0, record.binary.bytes.count + 8 * count + 4 * Self.noteBytes > bytesMax { end(&log, body) }
    if notesStart == 0 { begin(log.next) }
  }

  /// Appends a note with the newest `count` ids; there is room.
  mutating func append(
    _ slots: borrowing SlotPool<SubjectTag, SubjectMemory.Remembered>, _ slot: SubjectSlot, count: Int
  ) {
    // One by one: taking the subject out would count a reference to its ids.
    let (key, time, noted) = (slots[slot].key, slots[slot].newest.time, slots[slot].noted)
    let lookCount = slots[slot].newest.looks.count
    let head =
      UInt8(count) | (slots[slot].generation == generation ? 0 : Self.isOlder) | (lookCount > 0 ? Self.hasLooks : 0)
    let age = generation &- slots[slot].born
    let sinceNow = time.microseconds &- now.microseconds
    record.binary.piece(ofAtMost: 9 + 3 * OutputSpan<UInt8>.varintMax) { room in
      room.append(head)
      room.append(fixed: key)
      room.append(zigzag: age)
      room.append(varint: UInt64(bitPattern: noted))
      room.append(zigzag: sinceNow)
    }
    let idCount = slots[slot].newest.ids.count
    if lookCount > 0 { record.binary.count(lookCount) }
    for place in 0..<lookCount { record.binary.int64(Int64(bitPattern: slots[slot].newest.looks[place])) }
    for place in idCount - count..<idCount { record.binary.int64(Int64(bitPattern: slots[slot].newest.ids[place])) }
  }

  private static let isOlder: UInt8 = 0x80
  private static let hasLooks: UInt8 = 0x40

  private mutating func begin(_ number: Int64) {
    Self.begin(number, &record)
    record.binary.uint8(Self.notes)
    record.binary.zigzag(generation)
    record.binary.int64(now.microseconds)
    notesStart = record.binary.bytes.count
  }

  /// Begins the record of a chunk and its value.
  static func begin(_ number: Int64, _ record: inout StateRecordWriter) {
    record.begin("n", String(number, radix: 16))
    record.beginValue()
  }

  /// Lends the chunk, when there is anything in it.
  mutating func end(_ log: inout NoteLog, _ body: StateRecordSink) {
    guard notesStart > 0 else { return }
    let size = record.lend(to: body)
    log.append(bytes: size)
    bytes += size + NoteLog.recordBytes
    notesStart = 0
  }

  /// Reads what `append` wrote, behind the version and the first byte.
  static func read(
    _ reader: inout BinaryReader, _ body: (SubjectMemory.Remembered) throws(BinaryError) -> Void
  ) throws(BinaryError) {
    let generation = try reader.zigzag("a generation")
    let now = try reader.int64("log time")
    while reader.remaining > 0 {
      let head = try reader.uint8("a note")
      let count = Int(head & ~(isOlder | hasLooks))
      guard count <= SubjectMemory.idsMax else { throw .corrupt(offset: reader.offset - 1, what: "at most 16 ids") }
      var subject = SubjectMemory.Remembered()
      subject.key = UInt64(bitPattern: try reader.int64("a subject"))
      subject.generation = head & isOlder == 0 ? generation : generation &- 1
      subject.born = generation &- (try reader.zigzag("a generation"))
      subject.noted = Int64(bitPattern: try reader.varint("a count of ids"))
      guard subject.noted >= max(1, count), subject.noted < .max >> 1 else {
        throw .corrupt(offset: reader.offset, what: "as many ids as noted")
      }
      subject.newest.time = Timestamp(microseconds: now &+ (try reader.zigzag("a time")))
      if head & hasLooks != 0 {
        let lookCount = try reader.count("looks")
        guard count == 0, lookCount > 0 else { throw .corrupt(offset: reader.offset, what: "looks, or ids") }
        for _ in 0..<lookCount { subject.newest.looks.append(UInt64(bitPattern: try reader.int64("a look"))) }
      }
      subject.newest.ids.reserveCapacity(count)
      for _ in 0..<count { subject.newest.ids.append(UInt64(bitPattern: try reader.int64("an id"))) }
      try body(subject)
    }
  }
}

extension SubjectMemory {
  /// Chunks that one commit removes, beside twice as many as it writes.
  private static let removedMax = 64

  /// Bytes that the memory would take if it were written whole.
  private var wholeBytes: Int { count * NoteChunk.noteBytes + hashCount * 8 }

  /// Hands over what was noted since the last call, as chunks of notes, and the removal of what is not needed any more.
  mutating func takeNotes(now: Timestamp, bounds: PlannerBounds, _ body: StateRecordSink) {
    let begun = log.next
    var chunk = NoteChunk(bytesMax: bounds.noteChunkBytesMax, generation: generation, now: now)
    for slot in listed where slots[slot].isListed { write(slot, whole: slots[slot].place < 0, &chunk, body) }
    listed.removeAll(keepingCapacity: true)
    chunk.end(&log, body)
    let due = log.bytes > 2 * wholeBytes + bounds.noteSpareBytes ? chunk.bytes * 3 : 0
    while chunk.bytes < due, oldest != .absent, slots[oldest].place < begun {
      // A chunk is counted when it ends: what is begun in it is bounded by what is left.
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
    let count = whole ? slots[slot].newest.ids.count : Int(slots[slot].idsToWrite)
    let isWhole = slots[slot].isWhole(ids: count)
    chunk.makeRoom(hashes: count + slots[slot].newest.looks.count, &log, body)
    chunk.append(slots, slot, count: count)
    slots[slot].idsToWrite = 0
    slots[slot].isListed = false
    guard isWhole else { return }
    // The chunk in the making has the next number.
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
