import Domain

extension PlannerRestore {
  /// A version of a device that waits for its slot.
  struct Displaced {
    var record: StateRecord
    /// The number of the chunk with the version.
    var chunk: Int64
    var size: EntrySize
  }

  /// Adds a device of a local snapshot.
  mutating func add(
    device keyBytes: [UInt8], in id: Range<Int>, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    guard let value else { return try add(device: keyBytes, in: id, bytes, version: 0..<0, of: 0, EntrySize(0)) }
    let start = value.lowerBound + (try Self.reader(bytes, in: value).offset)
    let end = max(start, value.upperBound - 8)
    var last = BinaryReader(bytes, in: end..<value.upperBound)
    let chunk = try last.int64("the number of a chunk")
    guard start < end else { throw .truncated(offset: 1, what: "the state of a device") }
    let version = start..<end
    try add(
      device: keyBytes, in: id, bytes, version: version, of: chunk, EntrySize(id.count + 2 + version.count))
  }

  /// Adds a version of a device, or its removal.
  /// - Parameters:
  ///   - idBytes: A buffer with the id.
  ///   - id: The place of the id in it.
  ///   - bytes: A buffer with the version.
  ///   - version: The place of the version in it; empty for a removal.
  ///   - chunk: The number of the chunk with the version.
  ///   - size: The size of its entry.
  private mutating func add(
    device idBytes: [UInt8], in id: Range<Int>, _ bytes: [UInt8], version: Range<Int>, of chunk: Int64,
    _ size: EntrySize
  ) throws(BinaryError) {
    if !displaced.isEmpty { displaced[Array(idBytes[id])] = nil }
    if !split.isEmpty { split[StateKey.device(Array(idBytes[id]))] = nil }
    let name = idBytes.span.extracting(id)
    let hash = HashIndex.hash(name)
    if let known = planner.registry.device(named: name, hash: hash) { remove(device: known) }
    guard !version.isEmpty else { return }
    var reader = BinaryReader(bytes, in: version)
    let slot = try Self.deviceSlot(&reader)
    if planner.isTaken(slot) {
      displaced[Array(idBytes[id])] = Displaced(
        record: StateRecord(bytes: Array(bytes[version]), offset: offset), chunk: chunk, size: size)
    } else {
      try planner.restore(device: name, hash: hash, at: slot, from: &reader, sharing: &tables)
      chunks.place(slot, in: chunk, size)
    }
  }

  mutating func add(chunk number: Int64, _ bytes: [UInt8], in value: Range<Int>?) throws(BinaryError) {
    guard let value else { return chunks.remove(number) }
    var (form, reader) = try ChunkFormat.open(number, bytes, in: value)
    switch form {
    case .size:
      chunks.note(number, bytes: try reader.integer("a size"), at: offset)
      try reader.end()
    case .entries:
      chunks.note(number, bytes: value.count, at: offset)
      while reader.remaining > 0 { try addEntry(of: number, &reader) }
    case .piece:
      chunks.note(number, bytes: value.count, at: offset)
      guard let (entry, first) = try chunks.take(pieceIn: number, &reader) else { return }
      var whole = BinaryReader(entry)
      try addEntry(of: first, &whole)
      try whole.end()
    }
  }

  private mutating func addEntry(of chunk: Int64, _ reader: inout BinaryReader) throws(BinaryError) {
    let start = reader.offset
    let id = try reader.blobPlace("a device")
    let version = try reader.blobPlace("the state of a device")
    let size = EntrySize(reader.offset - start)
    try add(device: reader.bytes, in: id, reader.bytes, version: version, of: chunk, size)
  }

  /// Returns the numbers of the chunks of devices that count, as the clock names them; without a clock those that were read.
  func chunkRange() throws(StateRecordError) -> Range<Int64> {
    guard let record = others[StateKey.clock] else {
      guard let first = chunks.known.keys.min(), let last = chunks.known.keys.max() else { return 0..<0 }
      return first..<last + 1
    }
    return try record.read(as: StateKey.clock) { bytes throws(BinaryError) in
      // The range comes last.
      var reader = BinaryReader(bytes, in: max(0, bytes.count - 16)..<bytes.count)
      return try Planner.readChunkRange(&reader)
    }
  }

  /// Checks that no chunk of devices is missing. If an operator ordered to leave one out, empty ones take the places of those that
  /// are.
  mutating func checkChunks() throws(StateRecordError) -> Range<Int64> {
    let range = try chunkRange()
    var missing = 0
    for number in range where chunks.known[number] == nil {
      missing += 1
      guard leavesChunksOut, missing <= Self.missingChunksMax else { throw lack(of: number, range) }
      chunks.note(number, bytes: ChunkFormat.empty(number).count, at: 0)
    }
    return range
  }

  /// Returns the error for a missing chunk. It names the record of a chunk near by, which an operator can leave out, or else the
  /// clock.
  private func lack(of number: Int64, _ range: Range<Int64>) -> StateRecordError {
    let others = chunks.known.keys.filter { range.contains($0) }
    let cause = BinaryError.corrupt(
      offset: 0, what: "chunk \(String(number, radix: 16)) of the devices, which is missing")
    guard let near = others.filter({ $0 > number }).min() ?? others.max(), let known = chunks.known[near] else {
      return StateRecordError(key: StateKey.clock, offset: self.others[StateKey.clock]?.offset ?? 0, cause: cause)
    }
    return StateRecordError(key: StateKey.chunk(near), offset: known.offset, cause: cause)
  }

  /// Removes the devices whose newest version is in a chunk that was removed: they were removed, too, and so was the chunk that
  /// said so.
  mutating func dropReplaced(_ range: Range<Int64>) {
    for device in planner.registry.devices.slots where planner.registry.isUsed(device) {
      if case .replaced = chunks.life(of: device, in: range) { remove(device: device) }
    }
    displaced = displaced.filter { $0.value.chunk >= range.lowerBound }
  }

  /// Places the devices that waited for their slots. Two devices have the same slot only if a chunk was left out: one of
  /// them was removed in it. That is the older one.
  mutating func placeDisplaced(_ range: Range<Int64>) throws(StateRecordError) {
    let waiting = displaced.sorted {
      ($0.value.chunk, $0.value.record.offset) < ($1.value.chunk, $1.value.record.offset)
        || $0.value.chunk == $1.value.chunk && $0.key.lexicographicallyPrecedes($1.key)
    }
    for (id, version) in waiting {
      try version.record.read(as: StateKey.chunk(version.chunk)) { bytes throws(BinaryError) in
        var reader = BinaryReader(bytes)
        let slot = try Self.deviceSlot(&reader)
        if planner.isTaken(slot) {
          guard leavesChunksOut else { throw .corrupt(offset: 1, what: "a slot of its own for each device") }
          guard chunks.isOlder(slot, than: version.chunk) else {
            givenUp.append(Identifier(decoding: id))
            return
          }
          givenUp.append(planner.registry.id(of: slot))
          remove(device: slot)
        }
        try planner.restore(
          device: id.span, hash: HashIndex.hash(id.span), at: slot, from: &reader, sharing: &tables)
        chunks.place(slot, in: version.chunk, version.size)
      }
    }
  }
}
