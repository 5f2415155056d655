/// Writes a snapshot in slices.
final class SnapshotWriter {
  private let sink: any SnapshotSink
  private var block: [UInt8] = [SnapshotBlock.records.rawValue]
  private var count: UInt64 = 0

  /// Begins a snapshot with its header.
  ///
  /// - Parameters:
  ///   - sink: The place to write to.
  ///   - header: The header.
  /// - Throws: `SnapshotError` of the sink.
  init(_ sink: any SnapshotSink, _ header: SnapshotHeader) throws(SnapshotError) {
    self.sink = sink
    try write([SnapshotBlock.head.rawValue] + header.encoded())
  }

  /// Adds a record.
  ///
  /// - Parameters:
  ///   - key: The key of the state record.
  ///   - value: The value of the state record.
  /// - Throws: `SnapshotError` of the sink.
  func add(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) throws(SnapshotError) {
    append(UInt32(key.count))
    append(UInt32(value.count))
    block += key
    block += value
    count += 1
    if block.count >= SnapshotBlock.bytes { try flush() }
  }

  /// Writes the end and replaces the earlier snapshot.
  ///
  /// - Throws: `SnapshotError` of the sink.
  func commit() throws(SnapshotError) {
    try flush()
    block = [SnapshotBlock.end.rawValue]
    append(UInt32(truncatingIfNeeded: count))
    try write(block)
    try sink.commit()
  }

  /// Discards the snapshot; the earlier one stays.
  func discard() { sink.discard() }

  private func flush() throws(SnapshotError) {
    guard block.count > 1 else { return }
    try write(block)
    block.removeAll(keepingCapacity: true)
    block.append(SnapshotBlock.records.rawValue)
  }

  private func append(_ number: UInt32) {
    for shift: UInt32 in [0, 8, 16, 24] { block.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  private func write(_ bytes: [UInt8]) throws(SnapshotError) {
    assert(bytes.count <= SnapshotBlock.bytesMax, "a block of \(bytes.count) bytes could not be read again")
    var head: [UInt8] = []
    head.reserveCapacity(8)
    for number in [UInt32(bytes.count), SnapshotBlock.checksum(bytes)] {
      for shift: UInt32 in [0, 8, 16, 24] { head.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    try sink.write(head)
    try sink.write(bytes)
  }
}
