import JSON

@testable import Pipeline

extension OutputBatch {
  /// Adds lines as the recorder of a planner adds decisions.
  mutating func append(decisions lines: [[UInt8]], of partition: Int32) {
    beginDecisions(of: partition, toAdd: lines.count)
    var writer = JSONWriter()
    writer.exchange(&self[blocksOf: partition].bytes)
    for line in lines {
      self[blocksOf: partition].beginLine(&writer)
      writer.piece(ofAtMost: line.count) { room in for byte in line { room.append(byte) } }
      self[blocksOf: partition].endLine(at: writer.count)
    }
    writer.exchange(&self[blocksOf: partition].bytes)
    endDecisions(of: partition)
  }

  /// The closed blocks: the partition, the stated number of lines, and the bytes of each.
  var closedBlocks: [(partition: Int32, count: Int, bytes: [UInt8])] {
    var found: [(partition: Int32, count: Int, bytes: [UInt8])] = []
    forEachBlock { partition, count, bytes in found.append((partition, count, bytes.indices.map { bytes[$0] })) }
    return found
  }
}
