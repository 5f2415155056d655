import Domain

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
