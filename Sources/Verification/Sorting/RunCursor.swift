import Domain

/// The position of the merge in one run, and the record at it.
struct RunCursor {
  /// The key of the record.
  private(set) var key = SortedSpill.Key.blank
  /// The bytes of the record.
  private(set) var content: [UInt8] = []
  private var buffer: [UInt8] = []
  /// The number of bytes of `buffer` that were read.
  private var used = 0
  /// The part of the run that is not in `buffer` yet.
  private var unread: Range<UInt64>

  private static let bufferBytes = 1 << 16

  /// Goes to the first record. Returns nil for a run without records.
  /// - Throws: `LedgerCheckError` when the file cannot be read, or reads differently from what was written.
  init?(_ file: RunFile, _ run: Range<UInt64>) throws(LedgerCheckError) {
    unread = run
    guard try advance(file) else { return nil }
  }

  /// Goes to the next record.
  /// - Returns: false at the end of the run.
  /// - Throws: `LedgerCheckError` when the file cannot be read, or reads differently from what was written.
  mutating func advance(_ file: RunFile) throws(LedgerCheckError) -> Bool {
    let before = key
    let isFirst = buffer.isEmpty
    while true {
      if used < buffer.count, take() {
        assert(isFirst || !(key < before), "the records of a run are sorted")
        return true
      }
      guard !unread.isEmpty else {
        if used < buffer.count { throw file.damaged() }
        return false
      }
      buffer.removeFirst(used)
      used = 0
      // A record that is larger than the buffer makes it grow.
      let data = try file.read(min(max(Self.bufferBytes, buffer.count), unread.count), at: unread.lowerBound)
      guard !data.isEmpty else { throw file.damaged() }
      buffer += data
      unread = unread.lowerBound + UInt64(data.count)..<unread.upperBound
    }
  }

  /// Reads a record, if the buffer holds all of it.
  private mutating func take() -> Bool {
    var reader = BinaryReader(buffer, in: used..<buffer.count)
    do throws(BinaryError) {
      var next = SortedSpill.Key.blank
      try next.fields(&reader)
      content = try reader.blob()
      key = next
    } catch { return false }
    used += reader.offset
    return true
  }
}
