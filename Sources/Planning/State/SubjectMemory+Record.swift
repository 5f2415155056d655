import Domain
import Policies

extension SubjectMemory.Remembered {
  /// Encodes or decodes the value of the record `m/<hash>`, but for the hash, which is in the key, and for the chunk with its
  /// newest whole note and the size of that note, which come last.
  /// - Throws: the coder's error: `BinaryError` if bytes that are read are damaged.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.zigzag(&generation, "a generation")
    try coder.zigzag(&born, "a generation")
    try coder.zigzag(&noted, "a count of events")
    try newest.fields(&coder)
  }

  /// Reads the value of the record `m/<hash>`.
  /// - Parameters:
  ///   - key: The hash in the record's key.
  ///   - reader: The value, from the byte after the version on.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  init(_ key: KeyedHash, from reader: inout BinaryReader) throws(BinaryError) {
    self.key = key
    try fields(&reader)
    notedBefore = noted
    guard noted > 0, noted < .max >> 1, newest.isOfOneSort,
      newest.events.count <= min(SubjectMemory.newestEventsMax, Int(clamping: noted))
    else {
      throw .corrupt(
        offset: reader.offset,
        what: "1 to \(SubjectMemory.newestEventsMax) events, at most as many as noted, or values, or fields"
      )
    }
  }
}

extension SubjectMemory.Newest {
  /// Encodes or decodes the times, the events, the values and the fields.
  /// - Throws: the coder's error: `BinaryError` if bytes that are read are damaged.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.timestamp(&time, "a time")
    let blank = SubjectMemory.KnownEvent(id: .none, time: .distantPast)
    try coder.list(elements: &events, blank: blank) { (event, coder) throws(Coder.Failure) in
      try coder.hash(&event.id, "a hash")
      try coder.timestamp(&event.time, "a time")
    }
    var (list, times) = (values.array, values.times)
    try coder.list(elements: &list, blank: .absent) { (value, coder) throws(Coder.Failure) in
      try coder.displayedValue(&value)
    }
    try coder.list(elements: &times, blank: .distantPast) { (time, coder) throws(Coder.Failure) in
      try coder.timestamp(&time, "a time")
    }
    try content.fields(since: 0, &coder)
    if !Coder.reads { return }
    values = KnownValues(list.span)
    for place in 0..<min(list.count, times.count) { values.set(place, to: list[place], at: times[place]) }
  }
}

extension FieldCoder {
  /// Encodes or decodes the 16 bytes of a hash.
  /// - Throws: the coder's error.
  mutating func hash(_ value: inout KeyedHash, _ what: StaticString) throws(Failure) {
    var (low, high) = (Int64(bitPattern: value.low), Int64(bitPattern: value.high))
    try int64(&low, what)
    try int64(&high, what)
    if Self.reads { value = KeyedHash(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high)) }
  }
}

extension BinaryReader {
  /// Reads the 16 bytes of a hash.
  /// - Parameter what: The name of the hash, for errors.
  /// - Throws: `BinaryError` for a record that is cut off.
  mutating func hash(_ what: StaticString) throws(BinaryError) -> KeyedHash {
    let low = UInt64(bitPattern: try int64(what))
    return KeyedHash(low: low, high: UInt64(bitPattern: try int64(what)))
  }
}
