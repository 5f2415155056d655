import Domain
import Policies

/// Writes chunks of notes, one after the other, and reads them. `NoteLog` describes the format.
struct NoteChunk {
  private var record = StateRecordWriter()
  private let bytesMax: Int
  /// The generation to which the ages in the notes are relative.
  private let generation: Int64
  /// The log time to which the times in the notes are relative.
  private let now: Timestamp
  /// The offset of the first note in the record; 0 when no chunk is open.
  private var notesStart = 0
  /// The size of all chunks that were handed over so far, with `NoteLog.recordBytes` for each.
  private(set) var bytes = 0

  /// The byte that follows the version of a value. `notes` is followed by notes, `size` by the size of a chunk whose notes
  /// are only in the topic.
  static let (notes, size): (UInt8, UInt8) = (0, 1)
  /// The usual size of a note without events and values. Bytes.
  static let noteBytes = 22
  /// The usual size of an event in a note: its hash, and its time relative to that of the note. Bytes.
  static let eventBytes = 12
  /// The largest sizes of a note without events and values, and of an event in a note. Bytes.
  private static let (noteBytesMax, eventBytesMax) = (
    9 + 5 * OutputSpan<UInt8>.varintMax, 8 + OutputSpan<UInt8>.varintMax
  )

  /// Creates a writer without an open chunk.
  /// - Parameters:
  ///   - bytesMax: The approximate size at which a chunk is full.
  ///   - generation: The memory's current generation.
  ///   - now: The log time.
  init(bytesMax: Int, generation: Int64, now: Timestamp) {
    self.bytesMax = bytesMax
    self.generation = generation
    self.now = now
  }

  /// Ends the open chunk if it has no room for another note, and begins a chunk if none is open.
  /// - Parameters:
  ///   - events: The number of events of the next note.
  ///   - values: The number of its values.
  ///   - log: Receives the number and size of a chunk that is full.
  ///   - body: Receives the record of a chunk that is full.
  mutating func makeRoom(events: Int, values: Int, _ log: inout NoteLog, _ body: StateRecordSink) {
    let size = Self.noteBytesMax + Self.eventBytesMax * events + 8 * values
    if notesStart > 0, record.binary.bytes.count + size > bytesMax { end(&log, body) }
    if notesStart == 0 { begin(log.next) }
  }

  /// Appends a note about the subject in a slot. Call `makeRoom` first.
  /// - Parameters:
  ///   - slots: The table of subjects.
  ///   - slot: The slot of the subject.
  ///   - count: The number of events to write: the last ones of those that are remembered.
  mutating func append(
    _ slots: borrowing SlotPool<SubjectTag, SubjectMemory.Remembered>, _ slot: SubjectSlot, count: Int
  ) {
    // The fields are read one by one, because a copy of the subject would retain its array of events.
    let (key, time, noted) = (slots[slot].key, slots[slot].newest.time, slots[slot].noted)
    let valueCount = slots[slot].newest.values.count
    let head =
      UInt8(count) | (slots[slot].generation == generation ? 0 : Self.isOlder) | (valueCount > 0 ? Self.hasValues : 0)
    let age = generation &- slots[slot].born
    let sinceNow = time.microseconds &- now.microseconds
    let forgotten = time.microseconds &- slots[slot].newest.forgotten.microseconds
    record.binary.piece(ofAtMost: Self.noteBytesMax) { room in
      room.append(head)
      room.append(fixed: key)
      room.append(zigzag: age)
      room.append(varint: UInt64(bitPattern: noted))
      room.append(zigzag: sinceNow)
      if valueCount > 0 {
        room.append(varint: UInt64(valueCount))
      } else if noted > Int64(SubjectMemory.eventsMax) {
        room.append(zigzag: forgotten)
      }
    }
    for place in 0..<valueCount { record.binary.int64(Int64(bitPattern: slots[slot].newest.values[place].bits)) }
    let eventCount = slots[slot].newest.events.count
    for place in eventCount - count..<eventCount {
      let event = slots[slot].newest.events[place]
      record.binary.piece(ofAtMost: Self.eventBytesMax) { room in
        room.append(fixed: event.id)
        room.append(zigzag: time.microseconds &- event.time.microseconds)
      }
    }
  }

  private static let isOlder: UInt8 = 0x80
  private static let hasValues: UInt8 = 0x40

  private mutating func begin(_ number: Int64) {
    Self.begin(number, &record)
    record.binary.uint8(Self.notes)
    record.binary.zigzag(generation)
    record.binary.int64(now.microseconds)
    notesStart = record.binary.bytes.count
  }

  /// Begins the record of a chunk: its key and the version of its value.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - record: The record to write to.
  static func begin(_ number: Int64, _ record: inout StateRecordWriter) {
    record.begin("n", String(number, radix: 16))
    record.beginValue()
  }

  /// Hands over the open chunk, if there is one.
  /// - Parameters:
  ///   - log: Receives the number and size of the chunk.
  ///   - body: Receives the record of the chunk.
  mutating func end(_ log: inout NoteLog, _ body: StateRecordSink) {
    guard notesStart > 0 else { return }
    let size = record.lend(to: body)
    log.append(bytes: size)
    bytes += size + NoteLog.recordBytes
    notesStart = 0
  }

  /// Reads the notes of a chunk.
  /// - Parameters:
  ///   - reader: The value of the chunk, from the byte after `notes` on.
  ///   - body: Receives each note in turn. Only the parts that a note has are set.
  /// - Throws: `BinaryError` for a value that is cut off or that no planner writes, and any error of `body`.
  static func read(
    _ reader: inout BinaryReader, _ body: (SubjectMemory.Remembered) throws(BinaryError) -> Void
  ) throws(BinaryError) {
    let generation = try reader.zigzag("a generation")
    let now = try reader.int64("log time")
    while reader.remaining > 0 {
      let head = try reader.uint8("a note")
      let count = Int(head & ~(isOlder | hasValues))
      guard count <= SubjectMemory.eventsMax else {
        throw .corrupt(offset: reader.offset - 1, what: "at most \(SubjectMemory.eventsMax) events")
      }
      var subject = SubjectMemory.Remembered()
      subject.key = UInt64(bitPattern: try reader.int64("a subject"))
      subject.generation = head & isOlder == 0 ? generation : generation &- 1
      subject.born = generation &- (try reader.zigzag("a generation"))
      subject.noted = Int64(bitPattern: try reader.varint("a count of events"))
      guard subject.noted >= max(1, count), subject.noted < .max >> 1 else {
        throw .corrupt(offset: reader.offset, what: "as many events as noted")
      }
      let time = now &+ (try reader.zigzag("a time"))
      subject.newest.time = Timestamp(microseconds: time)
      if head & hasValues != 0 {
        let valueCount = try reader.count("values")
        guard count == 0, valueCount > 0 else { throw .corrupt(offset: reader.offset, what: "values, or events") }
        for _ in 0..<valueCount {
          subject.newest.values.append(DisplayedValue(bits: UInt64(bitPattern: try reader.int64("a value"))))
        }
      } else if subject.noted > Int64(SubjectMemory.eventsMax) {
        subject.newest.forgotten = Timestamp(microseconds: time &- (try reader.zigzag("a time")))
      }
      subject.newest.events.reserveCapacity(count)
      for _ in 0..<count {
        let id = UInt64(bitPattern: try reader.int64("an id"))
        let eventTime = Timestamp(microseconds: time &- (try reader.zigzag("a time")))
        subject.newest.events.append(SubjectMemory.KnownEvent(id: id, time: eventTime))
      }
      try body(subject)
    }
  }
}
