import Domain
import Policies

/// The bytes of one note about a subject: an entry of a chunk of notes, behind the key in eight bytes (`ChunkFormat`).
///
///     head · generation · age · events noted · time · content
///
/// The head has the number of events, and says whether values follow instead. A whole note has all events that are remembered, or
/// the values of everything that a kind displays: it is a version (`ChunkLog`). Any other note has only the events since the
/// note before it: it is an addition. Each note has the subject's count of events, so a note that is not newer than what is
/// known changes nothing.
enum SubjectNote {
  /// The bit of the head that says that values follow, not events.
  fileprivate static let hasValues: UInt8 = 0x40
  /// The largest sizes of a note without events and values, and of an event in a note. Bytes.
  fileprivate static let (headBytesMax, eventBytesMax) = (
    1 + 6 * OutputSpan<UInt8>.varintMax, 8 + OutputSpan<UInt8>.varintMax
  )
  /// The size of the key before a note. Bytes.
  static let keyBytes = 8

  /// Reads a note.
  /// - Parameters:
  ///   - key: The key, eight bytes.
  ///   - reader: The note, up to its end.
  /// - Returns: The subject, of which only the parts that the note has are set.
  /// - Throws: `BinaryError` for a note that is cut off or that no planner writes.
  static func read(
    _ key: inout BinaryReader, _ reader: inout BinaryReader
  ) throws(BinaryError) -> SubjectMemory.Remembered {
    var subject = SubjectMemory.Remembered()
    subject.key = UInt64(bitPattern: try key.int64("a subject"))
    try key.end()
    let head = try reader.uint8("a note")
    let count = Int(head & ~hasValues)
    guard count <= SubjectMemory.eventsMax else {
      throw .corrupt(offset: reader.offset - 1, what: "at most \(SubjectMemory.eventsMax) events")
    }
    subject.generation = try reader.zigzag("a generation")
    subject.born = subject.generation &- (try reader.zigzag("an age"))
    subject.noted = Int64(bitPattern: try reader.varint("a count of events"))
    guard subject.noted >= max(1, count), subject.noted < .max >> 1 else {
      throw .corrupt(offset: reader.offset, what: "as many events as noted")
    }
    let time = try reader.zigzag("a time")
    subject.newest.time = Timestamp(microseconds: time)
    if head & hasValues != 0 {
      let valueCount = try reader.count("values")
      guard count == 0, valueCount > 0 else { throw .corrupt(offset: reader.offset, what: "values, or events") }
      var values: [DisplayedValue] = []
      values.reserveCapacity(valueCount)
      for _ in 0..<valueCount {
        values.append(DisplayedValue(bits: UInt64(bitPattern: try reader.int64("a value"))))
      }
      subject.newest.values = KnownValues(values.span)
    } else if subject.noted > Int64(SubjectMemory.eventsMax) {
      subject.newest.forgotten = Timestamp(microseconds: time &- (try reader.zigzag("a time")))
    }
    subject.newest.events.reserveCapacity(count)
    for _ in 0..<count {
      let id = UInt64(bitPattern: try reader.int64("an id"))
      let eventTime = Timestamp(microseconds: time &- (try reader.zigzag("a time")))
      subject.newest.events.append(SubjectMemory.KnownEvent(id: id, time: eventTime))
    }
    try reader.end()
    return subject
  }
}

extension SubjectMemory {
  /// Writes the key and the note about the subject in a slot.
  /// - Parameters:
  ///   - slot: The slot of the subject.
  ///   - count: The number of events to write: the last ones of those that are remembered.
  ///   - binary: Receives the bytes.
  func writeNote(_ slot: SubjectSlot, count: Int, to binary: inout BinaryWriter) {
    // The fields are read one by one, because a copy of the subject would retain its array of events.
    let (key, time, noted) = (slots[slot].key, slots[slot].newest.time, slots[slot].noted)
    let (generation, valueCount) = (slots[slot].generation, slots[slot].newest.values.count)
    let age = generation &- slots[slot].born
    let forgotten = time.microseconds &- slots[slot].newest.forgotten.microseconds
    binary.piece(ofAtMost: SubjectNote.keyBytes + SubjectNote.headBytesMax) { room in
      room.append(fixed: key)
      room.append(UInt8(count) | (valueCount > 0 ? SubjectNote.hasValues : 0))
      room.append(zigzag: generation)
      room.append(zigzag: age)
      room.append(varint: UInt64(bitPattern: noted))
      room.append(zigzag: time.microseconds)
      if valueCount > 0 {
        room.append(varint: UInt64(valueCount))
      } else if noted > Int64(Self.eventsMax) {
        room.append(zigzag: forgotten)
      }
    }
    for place in 0..<valueCount { binary.int64(Int64(bitPattern: slots[slot].newest.values[place].bits)) }
    let eventCount = slots[slot].newest.events.count
    for place in eventCount - count..<eventCount {
      let event = slots[slot].newest.events[place]
      binary.piece(ofAtMost: SubjectNote.eventBytesMax) { room in
        room.append(fixed: event.id)
        room.append(zigzag: time.microseconds &- event.time.microseconds)
      }
    }
  }
}
