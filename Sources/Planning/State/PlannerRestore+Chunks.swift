import Domain

extension PlannerRestore {
  /// A version of a device that waits for its slot.
  struct Displaced {
    var record: StateRecord
    /// The number of the chunk with the version.
    var chunk: Int64
    var size: EntrySize
  }

  /// The place in which a version of a device is: its slot, and the number of its chunk. No two versions have the same place,
  /// because a commit writes at most one version for a slot.
  struct VersionPlace: Hashable {
    var slot: DeviceSlot
    var chunk: Int64
  }

  /// Adds a device of a local snapshot.
  mutating func add(
    device keyBytes: [UInt8], in id: Range<Int>, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    let hash = HashIndex.hash(keyBytes.span.extracting(id))
    guard let value else {
      return try add(device: keyBytes, in: id, hash: hash, bytes, version: 0..<0, of: 0, EntrySize(0))
    }
    let start = value.lowerBound + (try Self.reader(bytes, in: value).offset)
    let end = max(start, value.upperBound - 9)
    var last = BinaryReader(bytes, in: end..<value.upperBound)
    let chunk = try last.int64("the number of a chunk")
    let size = EntrySize(code: try last.uint8("a size"))
    guard start < end else { throw .truncated(offset: 1, what: "the state of a device") }
    let version = start..<end
    try add(device: keyBytes, in: id, hash: hash, bytes, version: version, of: chunk, size)
  }

  /// Adds a version of a device, or its removal.
  /// - Parameters:
  ///   - idBytes: A buffer with the id.
  ///   - id: The place of the id in it.
  ///   - hash: The hash of the id.
  ///   - bytes: A buffer with the version.
  ///   - version: The place of the version in it; empty for a removal.
  ///   - chunk: The number of the chunk with the version.
  ///   - size: The size of its entry.
  private mutating func add(
    device idBytes: [UInt8], in id: Range<Int>, hash: UInt32, _ bytes: [UInt8], version: Range<Int>, of chunk: Int64,
    _ size: EntrySize
  ) throws(BinaryError) {
    if !displaced.isEmpty { displaced[Array(idBytes[id])] = nil }
    if !split.isEmpty { split[StateKey.device(Array(idBytes[id]))] = nil }
    let name = idBytes.span.extracting(id)
    if let known = fleet.registry.device(named: name, hash: hash) { remove(device: known) }
    guard !version.isEmpty else { return }
    var reader = BinaryReader(bytes, in: version)
    let slot = try Self.deviceSlot(&reader)
    if fleet.isTaken(slot) {
      displaced[Array(idBytes[id])] = Displaced(
        record: StateRecord(bytes: Array(bytes[version]), offset: offset), chunk: chunk, size: size)
      displacedPlaces.insert(VersionPlace(slot: slot, chunk: chunk))
    } else {
      try fleet.restore(device: name, hash: hash, at: slot, from: &reader, sharing: &tables)
      chunks.place(slot, in: chunk, size)
      if !additions.isEmpty { try applyAdditions(to: slot, in: chunk) }
    }
  }

  /// Applies an addition to the version that it names. If another version has the slot, that one is newer: the addition
  /// counts for nothing.
  /// - Parameters:
  ///   - bytes: A buffer with the addition.
  ///   - place: The place of the addition in it.
  private mutating func add(additionIn bytes: [UInt8], _ place: Range<Int>) throws(BinaryError) {
    var reader = BinaryReader(bytes, in: place)
    let slot = try Self.deviceSlot(&reader)
    let chunk: Int64 = try reader.integer("the number of a chunk")
    if fleet.isTaken(slot), chunks.isFrom(chunk, slot) {
      try fleet.restore(additionTo: slot, from: &reader, sharing: &tables)
      return
    }
    let version = VersionPlace(slot: slot, chunk: chunk)
    guard hasSplitDevices || displacedPlaces.contains(version) else { return }
    additions[version, default: []].append(StateRecord(bytes: Array(bytes[reader.rest()]), offset: offset))
  }

  /// Applies the additions to a device that has just got its slot.
  mutating func applyAdditions(to slot: DeviceSlot, in chunk: Int64) throws(BinaryError) {
    guard let waiting = additions.removeValue(forKey: VersionPlace(slot: slot, chunk: chunk)) else { return }
    for addition in waiting {
      var reader = BinaryReader(addition.bytes)
      try fleet.restore(additionTo: slot, from: &reader, sharing: &tables)
    }
  }

  /// Adds a chunk, or removes it.
  mutating func add(
    chunk number: Int64, of sort: ChunkSort, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    guard let value else {
      switch sort {
      case .devices: chunks.remove(number)
      case .notes: notes.chunks.remove(number)
      }
      return
    }
    var (form, reader) = try ChunkFormat.open(number, of: sort, bytes, in: value)
    let size: Int = form == .size ? try reader.integer("a size") : value.count
    switch sort {
    case .devices: chunks.note(number, bytes: size, at: offset)
    case .notes: notes.chunks.note(number, bytes: size, at: offset)
    }
    switch form {
    case .size: try reader.end()
    case .entries where sort == .devices: try addDevices(of: number, &reader)
    case .entries: while reader.remaining > 0 { try addEntry(of: number, sort, &reader) }
    case .piece:
      let piece =
        switch sort {
        case .devices: try chunks.take(pieceIn: number, &reader)
        case .notes: try notes.chunks.take(pieceIn: number, &reader)
        }
      guard let (entry, first) = piece else { return }
      var whole = BinaryReader(entry)
      try addEntry(of: first, sort, &whole)
      try whole.end()
    }
  }

  /// Adds the devices of a chunk. Their places in the index are loaded first, so that the waits for memory overlap.
  private mutating func addDevices(of chunk: Int64, _ reader: inout BinaryReader) throws(BinaryError) {
    var entries: ContiguousArray<DeviceEntry> = []
    while reader.remaining > 0 { entries.append(try DeviceEntry(&reader)) }
    for entry in entries { fleet.registry.prefetchDevice(entry.hash) }
    for entry in entries { try add(entry, of: chunk, reader.bytes) }
  }

  private mutating func add(_ entry: DeviceEntry, of chunk: Int64, _ bytes: [UInt8]) throws(BinaryError) {
    if entry.id.isEmpty { return try add(additionIn: bytes, entry.version) }
    try add(device: bytes, in: entry.id, hash: entry.hash, bytes, version: entry.version, of: chunk, entry.size)
  }

  /// An entry of a chunk of devices.
  private struct DeviceEntry {
    /// The place of the id; empty for an addition.
    let id: Range<Int>
    /// The place of the version, or of the addition; empty for a removal.
    let version: Range<Int>
    /// The size of the entry.
    let size: EntrySize
    /// The hash of the id.
    let hash: UInt32

    init(_ reader: inout BinaryReader) throws(BinaryError) {
      let start = reader.offset
      id = try reader.blobPlace("an id")
      version = try reader.blobPlace("a version")
      size = EntrySize(reader.offset - start)
      hash = HashIndex.hash(reader.bytes.span.extracting(id))
    }
  }

  private mutating func addEntry(
    of chunk: Int64, _ sort: ChunkSort, _ reader: inout BinaryReader
  ) throws(BinaryError) {
    switch sort {
    case .devices:
      try add(try DeviceEntry(&reader), of: chunk, reader.bytes)
    case .notes:
      let start = reader.offset
      let (id, version) = (try reader.blobPlace("an id"), try reader.blobPlace("a version"))
      let size = EntrySize(reader.offset - start)
      var (key, content) = (BinaryReader(reader.bytes, in: id), BinaryReader(reader.bytes, in: version))
      let (note, isWhole) = try SubjectNote.read(&key, &content)
      notes.take(note, isWhole: isWhole, in: chunk, size, into: &fleet.subjects)
    }
  }

  /// Returns the numbers of the chunks that count, as the clock names them; without a clock those that were read.
  func chunkRange(of sort: ChunkSort) throws(StateRecordError) -> Range<Int64> {
    guard let record = others[StateKey.clock] else {
      let known = known(sort).keys
      guard let first = known.min(), let last = known.max() else { return 0..<0 }
      return first..<last + 1
    }
    return try record.read(as: StateKey.clock) { bytes throws(BinaryError) in
      let extent = try StateExtent(clock: bytes)
      return switch sort {
      case .devices: extent.deviceChunks.numbers
      case .notes: extent.noteChunks.numbers
      }
    }
  }

  /// The chunks of a sort that were read.
  func known(_ sort: ChunkSort) -> [Int64: ChunkKnown] {
    switch sort {
    case .devices: chunks.known
    case .notes: notes.chunks.known
    }
  }

  /// Checks that no chunk is missing. If an operator ordered to leave out one with devices, empty ones take the places of those that
  /// are. If one with notes is left out, none of them counts.
  /// - Returns: The numbers of the chunks that count.
  mutating func checkChunks(of sort: ChunkSort) throws(StateRecordError) -> Range<Int64> {
    let range = try chunkRange(of: sort)
    if sort == .notes, leavesNotesOut { return range }
    var missing = 0
    for number in range where known(sort)[number] == nil {
      missing += 1
      guard sort == .devices, leavesChunksOut, missing <= Self.missingChunksMax else {
        throw lack(of: number, sort, range)
      }
      chunks.note(number, bytes: ChunkFormat.empty(number, of: sort).count, at: 0)
    }
    return range
  }

  /// Returns the error for a missing chunk. It names the record of a chunk near by, which an operator can leave out, or else the
  /// clock.
  private func lack(of number: Int64, _ sort: ChunkSort, _ range: Range<Int64>) -> StateRecordError {
    let others = known(sort).filter { range.contains($0.key) }
    let cause = BinaryError.corrupt(
      offset: 0, what: "chunk \(String(number, radix: 16)) of the \(sort.noun), which is missing")
    guard
      let near = others.filter({ $0.key > number }).min(by: { $0.key < $1.key }) ?? others.max(by: { $0.key < $1.key })
    else {
      return StateRecordError(key: StateKey.clock, offset: self.others[StateKey.clock]?.offset ?? 0, cause: cause)
    }
    return StateRecordError(key: StateKey.chunk(near.key, of: sort), offset: near.value.offset, cause: cause)
  }

  /// Removes the devices whose newest version is in a chunk that was removed: they were removed, too, and so was the chunk that
  /// said so.
  mutating func dropReplaced(_ range: Range<Int64>) {
    for device in fleet.registry.devices.slots where fleet.registry.isUsed(device) {
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
      try version.record.read(as: StateKey.chunk(version.chunk, of: .devices)) { bytes throws(BinaryError) in
        var reader = BinaryReader(bytes)
        let slot = try Self.deviceSlot(&reader)
        if fleet.isTaken(slot) {
          guard leavesChunksOut else { throw .corrupt(offset: 1, what: "a slot of its own for each device") }
          guard chunks.isOlder(slot, than: version.chunk) else {
            givenUp.append(Identifier(decoding: id))
            return
          }
          givenUp.append(fleet.registry.id(of: slot))
          remove(device: slot)
        }
        try fleet.restore(
          device: id.span, hash: HashIndex.hash(id.span), at: slot, from: &reader, sharing: &tables)
        chunks.place(slot, in: version.chunk, version.size)
        try applyAdditions(to: slot, in: version.chunk)
      }
    }
  }
}
