import Domain
package import JSON

/// The decisions of one log partition that a batch collects, divided into blocks (see `DecisionBlock`).
///
/// The blocks lie one behind the other in `bytes`, with a line feed between two:
///
///     ┌── closed ──┐  ┌── closed ──┐  ┌── open ──
///     line ⏎ line  ⏎  line ⏎ line  ⏎  line ⏎ line …
///
/// A line is written behind the last one. If the open block is too large with it, that block is closed in front of the line, which
/// begins a new one. So no line is moved to divide blocks. `close` closes the open block, too; the worker calls it before each
/// commit, because a block never holds decisions of two transactions. Once the closed blocks are sent they are removed, and the open
/// one moves to the front. An open block is in memory only: after an abort or a crash its decisions are made again.
///
/// A line is written between `beginLine` and `endLine`, by a writer that holds `bytes` meanwhile.
package struct DecisionBlocks {
  /// A block that takes no further line.
  struct Block: Equatable {
    /// The range of its bytes.
    var bytes: Range<Int>
    /// The number of its lines.
    var count: Int
  }

  /// The bytes of all blocks.
  package var bytes: [UInt8] = []
  /// The blocks that are ready to be sent, in order.
  private(set) var closed: [Block] = []
  /// The number of bytes of the closed blocks.
  private(set) var closedBytes = 0
  /// The number of lines of the closed blocks.
  private(set) var closedCount = 0
  /// The first byte of the open block.
  private var openStart = 0
  /// The number of lines of the open block; 0 if no block is open.
  private(set) var openCount = 0
  /// The first byte of the line that is being written.
  private var lineStart = 0
  /// The largest number of bytes of a block of several lines.
  private let bytesMax: Int

  /// The most memory that a partition keeps for its next decisions, in bytes.
  /// - Beyond: the memory goes to the partition that writes many decisions next.
  private static let keptBytesMax = 256 << 10

  /// Makes an empty collection.
  ///
  /// - Parameter bytesMax: The largest number of bytes of a block of several lines.
  package init(bytesMax: Int = DecisionBlock.bytesMax) { self.bytesMax = bytesMax }

  /// Begins the line of a decision.
  ///
  /// - Parameter writer: The writer that holds `bytes`.
  @inline(__always)
  package mutating func beginLine(_ writer: inout JSONWriter) {
    if openCount > 0 {
      writer.beginLine()
    } else {
      openStart = writer.count
    }
    lineStart = writer.count
  }

  /// Ends the line. It begins a new block if the open one is too large with it.
  ///
  /// - Parameter end: The number of bytes that the writer holds.
  @inline(__always)
  package mutating func endLine(at end: Int) {
    if openCount > 0, end - openStart > bytesMax {
      close(at: lineStart - 1)
      openStart = lineStart
    }
    openCount += 1
  }

  /// Closes the open block, if there is one.
  mutating func close() {
    if openCount > 0 { close(at: bytes.count) }
  }

  private mutating func close(at end: Int) {
    closed.append(Block(bytes: openStart..<end, count: openCount))
    closedBytes += end - openStart
    closedCount += openCount
    openCount = 0
  }

  /// Removes the closed blocks, and moves the open one to the front.
  ///
  /// - Parameter spare: Memory that one partition after the other uses. Receives that of `bytes` if it is large.
  mutating func removeClosed(spare: inout [UInt8]) {
    if bytes.capacity > Self.keptBytesMax {
      var large: [UInt8] = []
      swap(&large, &bytes)
      if openCount > 0 { bytes = Array(large[openStart...]) }
      large.removeAll(keepingCapacity: true)
      if large.capacity > spare.capacity { swap(&large, &spare) }
    } else if openCount > 0 {
      bytes.removeSubrange(..<openStart)
    } else {
      bytes.removeAll(keepingCapacity: true)
    }
    openStart = 0
    closed.removeAll(keepingCapacity: true)
    (closedBytes, closedCount) = (0, 0)
  }

  /// Takes over the spare memory if many bytes are about to be written.
  ///
  /// - Parameters:
  ///   - count: The number of bytes that are about to be written, roughly.
  ///   - spare: The spare memory. Receives the memory that was in use.
  mutating func makeRoom(for count: Int, spare: inout [UInt8]) {
    guard bytes.count + count > bytes.capacity, spare.capacity > bytes.capacity else { return }
    spare.removeAll(keepingCapacity: true)
    spare += bytes
    swap(&spare, &bytes)
  }

  /// Checks what must hold while no line is being written.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    var lines = 0
    var end = -1
    for block in closed {
      if block.bytes.lowerBound != end + 1 { violations.append("a block begins at \(block.bytes), behind \(end)") }
      if block.count > 1, block.bytes.count > bytesMax { violations.append("\(block) is larger than \(bytesMax)") }
      end = block.bytes.upperBound
      lines += block.count
    }
    if lines != closedCount {
      violations.append("\(lines) decisions are in closed blocks, and \(closedCount) are counted")
    }
    if max(end, openCount > 0 ? openStart : 0) > bytes.count { violations.append("a block ends behind the bytes") }
    return violations
  }
}
