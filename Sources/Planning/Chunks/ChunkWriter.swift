import Domain

/// Writes the chunks of one commit, one after the other. `ChunkFormat` describes the bytes.
struct ChunkWriter {
  private var binary = BinaryWriter()
  private let bytesMax: Int
  private let sort: ChunkSort
  /// The end of the key; 0 when no chunk is open.
  private var keyEnd = 0
  /// The number of the open chunk.
  private var number: Int64 = 0
  private var endedBytes = 0

  /// Creates a writer without an open chunk.
  /// - Parameters:
  ///   - sort: The sort of the chunks.
  ///   - bytesMax: The size at which a chunk is full.
  init(_ sort: ChunkSort, bytesMax: Int) {
    self.sort = sort
    self.bytesMax = bytesMax
  }

  /// The size of the open chunk, with `StateExtent.recordBytes`; 0 when none is open.
  var openBytes: Int {
    keyEnd == 0
      ? 0 : binary.bytes.count - keyEnd + ChunkFormat.checksumBytes + StateExtent.recordBytes
  }

  /// The size of all chunks so far, with `StateExtent.recordBytes` for each.
  var bytes: Int { endedBytes + openBytes }

  /// The content that a chunk has room for. It is never so small that the pieces of an entry become many.
  private var room: Int { max(64, bytesMax - ChunkFormat.headBytes - ChunkFormat.checksumBytes) }

  /// Appends an entry: a new version of a value.
  /// - Parameters:
  ///   - slot: The slot of the value.
  ///   - id: The id by which a restore finds the value.
  ///   - version: The bytes of the version, not empty.
  ///   - log: Receives the entry, and chunks that are full.
  ///   - body: Receives the records of chunks that are full.
  /// - Returns: The place of the entry.
  mutating func append<Owner>(
    _ slot: Slot<Owner>, id: Span<UInt8>, _ version: Span<UInt8>, _ log: inout ChunkLog<Owner>, _ body: StateRecordSink
  ) -> ChunkPlace {
    let size = id.count + version.count + 2 * OutputSpan<UInt8>.varintMax
    guard size <= room else { return appendPieces(slot, id: id, version, &log, body) }
    makeRoom(size, &log, body)
    let start = binary.bytes.count
    binary.piece(ofAtMost: size) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: version)
    }
    return log.append(slot, EntrySize(binary.bytes.count - start))
  }

  /// Appends the removal of a value.
  /// - Parameters:
  ///   - id: The id by which a restore finds the value.
  ///   - log: Receives chunks that are full.
  ///   - body: Receives the records of chunks that are full.
  mutating func appendRemoval<Owner>(of id: Span<UInt8>, _ log: inout ChunkLog<Owner>, _ body: StateRecordSink) {
    let size = id.count + 1 + OutputSpan<UInt8>.varintMax
    makeRoom(size, &log, body)
    binary.piece(ofAtMost: size) { room in
      room.append(lengthAnd: id)
      room.append(0)
    }
  }

  /// Appends an addition to the newest version of a value.
  /// - Parameters:
  ///   - id: The id by which a restore finds the value; empty for a device, which the addition itself names.
  ///   - addition: The bytes of the addition, not empty.
  ///   - log: Receives chunks that are full.
  ///   - body: Receives the records of chunks that are full.
  /// - Returns: Whether a chunk has room for it. If not, append a version.
  mutating func appendAddition<Owner>(
    id: Span<UInt8>, _ addition: Span<UInt8>, _ log: inout ChunkLog<Owner>, _ body: StateRecordSink
  ) -> Bool {
    let size = id.count + addition.count + 2 * OutputSpan<UInt8>.varintMax
    guard size <= room else { return false }
    makeRoom(size, &log, body)
    binary.piece(ofAtMost: size) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: addition)
    }
    return true
  }

  private mutating func appendPieces<Owner>(
    _ slot: Slot<Owner>, id: Span<UInt8>, _ version: Span<UInt8>, _ log: inout ChunkLog<Owner>, _ body: StateRecordSink
  ) -> ChunkPlace {
    end(&log, body)
    var entry = BinaryWriter()
    entry.piece(ofAtMost: id.count + version.count + 2 * OutputSpan<UInt8>.varintMax) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: version)
    }
    let whole = entry.bytes
    let pieceBytes = max(32, room - 2 * OutputSpan<UInt8>.varintMax)
    let count = (whole.count - 1) / pieceBytes + 1
    var place = ChunkPlace.unwritten
    for index in 0..<count {
      begin(.piece, log.next)
      binary.count(index)
      binary.count(count)
      binary.text(utf8: whole.span.extracting(index * pieceBytes..<min(whole.count, (index + 1) * pieceBytes)))
      if index == 0 { place = log.append(slot, EntrySize(whole.count)) }
      end(&log, body)
    }
    return place
  }

  private mutating func makeRoom<Owner>(_ size: Int, _ log: inout ChunkLog<Owner>, _ body: StateRecordSink) {
    if keyEnd > 0, binary.bytes.count - keyEnd - ChunkFormat.headBytes + size > room { end(&log, body) }
    if keyEnd == 0 { begin(.entries, log.next) }
  }

  private mutating func begin(_ form: ChunkFormat.Form, _ number: Int64) {
    binary.reset()
    for byte in StateKey.chunk(number, of: sort) { binary.uint8(byte) }
    keyEnd = binary.bytes.count
    self.number = number
    binary.uint8(stateFormatVersion)
    binary.uint8(form.rawValue)
  }

  private mutating func lend(to body: StateRecordSink) {
    let checksum = ChunkFormat.checksum(binary.bytes.span.extracting(keyEnd..<binary.bytes.count), of: number, sort)
    binary.int64(Int64(bitPattern: checksum))
    body(binary.bytes[..<keyEnd], binary.bytes[keyEnd...])
  }

  /// Hands over the open chunk, if there is one.
  /// - Parameters:
  ///   - log: Receives the chunk.
  ///   - body: Receives the record of the chunk.
  mutating func end<Owner>(_ log: inout ChunkLog<Owner>, _ body: StateRecordSink) {
    guard keyEnd > 0 else { return }
    lend(to: body)
    let size = binary.bytes.count - keyEnd
    log.end(bytes: size)
    endedBytes += size + StateExtent.recordBytes
    keyEnd = 0
  }

  /// Hands over the size of a chunk. Only local snapshots have such records; the topic has the chunk itself.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - size: The size of its value.
  ///   - body: Receives the record.
  mutating func lendSize(of number: Int64, _ size: Int, _ body: StateRecordSink) {
    begin(.size, number)
    binary.count(size)
    lend(to: body)
    keyEnd = 0
  }
}
