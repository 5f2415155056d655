import Domain
import Policies

/// The bytes of one note about a subject: an entry of a chunk of notes, behind the key in 16 bytes (`ChunkFormat`).
///
///     head · generation · age · events noted · (of an addition) events that it adds · time · content
///
/// The head has the number of events in the content. A whole note has all events that are remembered, the values of everything
/// that a kind displays, or what templates know: it is a version (`ChunkLog`). Any other note has only the events that were added
/// since the note before it and are still remembered: it is an addition. Each note has the subject's count of events, so a note
/// that is not newer than what is known changes nothing.
enum SubjectNote {
  /// The bit of the head that says that values follow, not events.
  fileprivate static let hasValues: UInt64 = 1
  /// The bit of the head that says that the note is an addition.
  fileprivate static let isAddition: UInt64 = 2
  /// The bit of the head that says that fields follow, not events.
  fileprivate static let hasContent: UInt64 = 4
  /// The number of bits of the head below the number of events.
  fileprivate static let headBits: UInt64 = 3
  /// The largest sizes of a note without events and values, and of an event in a note. Bytes.
  fileprivate static let (headBytesMax, eventBytesMax) = (
    7 * OutputSpan<UInt8>.varintMax, 16 + OutputSpan<UInt8>.varintMax
  )
  /// The size of the key before a note. Bytes.
  static let keyBytes = 16

  /// Reads a note.
  /// - Parameters:
  ///   - key: The key, 16 bytes.
  ///   - reader: The note, up to its end.
  /// - Returns: The subject, of which only the parts that the note has are set, and whether the note is whole.
  /// - Throws: `BinaryError` for a note that is cut off or that no planner writes.
  static func read(
    _ key: inout BinaryReader, _ reader: inout BinaryReader
  ) throws(BinaryError) -> (subject: SubjectMemory.Remembered, isWhole: Bool) {
    var subject = SubjectMemory.Remembered()
    subject.key = try key.hash("a subject")
    try key.end()
    let head = try reader.varint("a note")
    let (count, isWhole) = (Int(clamping: head >> headBits), head & isAddition == 0)
    guard count <= SubjectMemory.newestEventsMax else {
      throw .corrupt(offset: reader.offset - 1, what: "at most \(SubjectMemory.newestEventsMax) events")
    }
    subject.generation = try reader.zigzag("a generation")
    subject.born = subject.generation &- (try reader.zigzag("an age"))
    subject.noted = Int64(bitPattern: try reader.varint("a count of events"))
    let added = isWhole ? subject.noted : Int64(bitPattern: try reader.varint("a count of added events"))
    guard subject.noted >= 1, subject.noted < .max >> 1, added >= count, added <= subject.noted else {
      throw .corrupt(offset: reader.offset, what: "as many events as noted")
    }
    subject.notedBefore = subject.noted - added
    let time = try reader.zigzag("a time")
    subject.newest.time = Timestamp(microseconds: time)
    if head & hasValues != 0 {
      let valueCount = try reader.count("values")
      guard count == 0, valueCount > 0, isWhole else {
        throw .corrupt(offset: reader.offset, what: "values, or events")
      }
      var values: [KnownItem] = []
      values.reserveCapacity(valueCount)
      for _ in 0..<valueCount {
        let value = try reader.displayedValue()
        values.append(KnownItem(value: value, time: Timestamp(microseconds: time &- (try reader.zigzag("a time")))))
      }
      subject.newest.items = KnownItems(values: values)
    } else if head & hasContent != 0 {
      subject.newest.content = try KnownContent(since: time, from: &reader)
      guard count == 0, subject.newest.hasContent, isWhole else {
        throw .corrupt(offset: reader.offset, what: "fields, or events")
      }
    } else if count == 0, isWhole {
      throw .corrupt(offset: reader.offset, what: "events, values or fields")
    }
    for _ in 0..<count {
      let id = try reader.hash("an id")
      let eventTime = Timestamp(microseconds: time &- (try reader.zigzag("a time")))
      subject.newest.items.append(KnownItem(event: id, time: eventTime))
    }
    try reader.end()
    return (subject, isWhole)
  }
}

extension SubjectMemory {
  /// Writes the key and the note about the subject in a slot.
  /// - Parameters:
  ///   - slot: The slot of the subject.
  ///   - isWhole: Whether to write all that is remembered, and not only what the last note lacks.
  ///   - binary: Receives the bytes.
  func writeNote(_ slot: SubjectSlot, isWhole: Bool, to binary: inout BinaryWriter) {
    // The fields are read one by one, because a copy of the subject would retain its array of items.
    let (key, time, noted) = (slots[slot].key, slots[slot].newest.time, slots[slot].noted)
    let (generation, valueCount) = (slots[slot].generation, slots[slot].newest.items.valueCount)
    let (age, added) = (generation &- slots[slot].born, noted - slots[slot].notedBefore)
    let eventCount = slots[slot].newest.items.eventCount
    let count = isWhole ? eventCount : Int(slots[slot].eventsToWrite)
    let hasContent = slots[slot].newest.hasContent
    let head =
      UInt64(count) << SubjectNote.headBits | (valueCount > 0 ? SubjectNote.hasValues : 0)
      | (isWhole ? 0 : SubjectNote.isAddition) | (hasContent ? SubjectNote.hasContent : 0)
    binary.piece(ofAtMost: SubjectNote.keyBytes + SubjectNote.headBytesMax) { room in
      room.append(fixed: key.low)
      room.append(fixed: key.high)
      room.append(varint: head)
      room.append(zigzag: generation)
      room.append(zigzag: age)
      room.append(varint: UInt64(bitPattern: noted))
      if !isWhole { room.append(varint: UInt64(bitPattern: added)) }
      room.append(zigzag: time.microseconds)
      if valueCount > 0 { room.append(varint: UInt64(valueCount)) }
    }
    for place in 0..<valueCount {
      let (value, said) = value(place, at: slot)
      binary.write(value)
      binary.zigzag(time.microseconds &- said.microseconds)
    }
    if hasContent { slots[slot].newest.content.write(since: time.microseconds, to: &binary) }
    for place in eventCount - count..<eventCount {
      let event = slots[slot].newest.items[place]
      binary.piece(ofAtMost: SubjectNote.eventBytesMax) { room in
        room.append(fixed: event.event.low)
        room.append(fixed: event.event.high)
        room.append(zigzag: time.microseconds &- event.time.microseconds)
      }
    }
  }
}
