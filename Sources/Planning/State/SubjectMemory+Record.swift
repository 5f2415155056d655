import Domain

extension SubjectMemory.Remembered {
  /// The place last, eight bytes: of all that is remembered it alone depends on what was committed together.
  func write(to writer: inout BinaryWriter) {
    writer.zigzag(generation)
    writer.zigzag(born)
    writer.varint(UInt64(noted))
    newest.write(to: &writer)
    writer.int64(place)
  }

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
  func write(to writer: inout BinaryWriter) {
    writer.int64(time.microseconds)
    writer.count(ids.count)
    for id in ids { writer.int64(Int64(bitPattern: id)) }
    writer.count(looks.count)
    for look in looks { writer.int64(Int64(bitPattern: look)) }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    time = Timestamp(microseconds: try reader.int64("a time"))
    ids = []
    for _ in 0..<(try reader.count("ids")) { ids.append(UInt64(bitPattern: try reader.int64("a hash"))) }
    for _ in 0..<(try reader.count("looks")) { looks.append(UInt64(bitPattern: try reader.int64("a look"))) }
  }
}
