import Domain

extension SubjectMemory.Remembered {
  /// Writes the value of the record `m/<hash>`. `place` comes last and has a fixed size, because it is the only part that
  /// depends on the grouping of log records into commits.
  func write(to writer: inout BinaryWriter) {
    writer.zigzag(generation)
    writer.zigzag(born)
    writer.varint(UInt64(noted))
    newest.write(to: &writer)
    writer.int64(place)
  }

  /// Reads the value of the record `m/<hash>`.
  /// - Parameters:
  ///   - key: The hash in the record's key.
  ///   - reader: The value, from the byte after the version on.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  init(_ key: UInt64, from reader: inout BinaryReader) throws(BinaryError) {
    self.key = key
    generation = try reader.zigzag("a generation")
    born = try reader.zigzag("a generation")
    noted = try reader.integer("a count of ids")
    newest = try SubjectMemory.Newest(from: &reader)
    place = max(try reader.int64("a place"), SubjectMemory.unwritten)
    guard noted > 0, noted < .max >> 1, newest.ids.isEmpty != newest.looks.isEmpty, isWhole else {
      throw .corrupt(offset: reader.offset, what: "1 to 16 ids, as many as noted, or looks")
    }
  }
}

extension SubjectMemory.Newest {
  /// Writes the time, the ids and the looks.
  func write(to writer: inout BinaryWriter) {
    writer.int64(time.microseconds)
    writer.count(ids.count)
    for id in ids { writer.int64(Int64(bitPattern: id)) }
    writer.count(looks.count)
    for look in looks { writer.int64(Int64(bitPattern: look)) }
  }

  /// Reads what `write` wrote.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  init(from reader: inout BinaryReader) throws(BinaryError) {
    time = Timestamp(microseconds: try reader.int64("a time"))
    ids = []
    for _ in 0..<(try reader.count("ids")) { ids.append(UInt64(bitPattern: try reader.int64("a hash"))) }
    for _ in 0..<(try reader.count("looks")) { looks.append(UInt64(bitPattern: try reader.int64("a look"))) }
  }
}
