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
      newest.items.eventCount <= min(SubjectMemory.newestEventsMax, Int(clamping: noted))
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
    var events = items.holdsValues ? [] : items.array
    try coder.list(elements: &events, blank: .none) { (event, coder) throws(Coder.Failure) in
      var (id, time) = (event.event, event.time)
      try coder.hash(&id, "a hash")
      try coder.timestamp(&time, "a time")
      if Coder.reads { event = KnownItem(event: id, time: time) }
    }
    let known = items.holdsValues ? items.array : []
    var (values, times) = (known.map(\.value), known.map(\.time))
    try coder.list(elements: &values, blank: .absent) { (value, coder) throws(Coder.Failure) in
      try coder.displayedValue(&value)
    }
    try coder.list(elements: &times, blank: .distantPast) { (time, coder) throws(Coder.Failure) in
      try coder.timestamp(&time, "a time")
    }
    var content = content
    try content.fields(since: 0, &coder)
    if !Coder.reads { return }
    // An entry that has nothing then is refused.
    guard values.isEmpty || events.isEmpty, values.count == times.count else { return }
    self.content = content
    let said = zip(values, times).map { KnownItem(value: $0, time: $1) }
    items = said.isEmpty ? KnownItems(events: events) : KnownItems(values: said)
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
