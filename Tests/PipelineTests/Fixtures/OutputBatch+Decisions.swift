import JSON

@testable import Pipeline

extension OutputBatch {
  /// Adds lines as the recorder of a planner adds decisions.
  mutating func append(decisions lines: [[UInt8]], of partition: Int32) {
    var blocks = takeBlocks(of: partition, toAdd: lines.count)
    var writer = JSONWriter()
    writer.exchange(&blocks.bytes)
    for line in lines {
      blocks.beginLine(&writer)
      writer.piece(ofAtMost: line.count) { room in for byte in line { room.append(byte) } }
      blocks.endLine(at: writer.count)
    }
    writer.exchange(&blocks.bytes)
    giveBack(blocks, of: partition)
  }

  /// The closed blocks: the partition, the stated number of lines, and the bytes of each.
  var closedBlocks: [(partition: Int32, count: Int, bytes: [UInt8])] {
    var found: [(partition: Int32, count: Int, bytes: [UInt8])] = []
    forEachBlock { partition, count, bytes in found.append((partition, count, bytes.indices.map { bytes[$0] })) }
    return found
  }
}
