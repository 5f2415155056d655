import Domain
import KafkaClient
import Testing

@testable import Pipeline

/// Records of several destinations in one batch.
@Suite("a batch of output")
struct OutputBatchTests {
  private static func records(_ batch: OutputBatch) -> [String] {
    var found = batch.closedBlocks.map { "decisions(\($0.partition)) \(String(decoding: $0.bytes, as: UTF8.self))" }
    batch.forEachDestination { destination, places in
      for place in places {
        let value = place.value.map { String(decoding: batch.bytes[$0], as: UTF8.self) } ?? "removed"
        found.append("\(destination) \(String(decoding: batch.bytes[place.key ?? 0..<0], as: UTF8.self)) \(value)")
      }
    }
    return found
  }

  @Test("records are lent by destination, in the order of the first ones; emptying keeps nothing")
  func order() {
    var batch = OutputBatch()
    for _ in 0..<2 {
      #expect(batch.isEmpty && batch.heldBytes == 0 && batch.checkInvariants().isEmpty)
      batch.append(.state(1), key: Array("s".utf8)[...], value: nil)
      batch.append(decisions: [Array("1".utf8), Array("2".utf8)], of: 1)
      batch.append(.state(1), key: Array("t".utf8)[...], value: Array("2".utf8)[...])
      #expect(Self.records(batch) == ["state(1) s removed", "state(1) t 2"])
      batch.closeBlocks()
      #expect(Self.records(batch) == ["decisions(1) 1\n2", "state(1) s removed", "state(1) t 2"])
      #expect(batch.decisions == 2 && batch.commands == 0 && batch.stateRecords == 2)
      #expect(batch.readyBytes == 6 && batch.checkInvariants().isEmpty)
      batch.append(decisions: [Array("3".utf8)], of: 0)
      batch.removeAll()
    }
    #expect(Self.records(batch).isEmpty)
  }

  @Test("a record behind the bytes is a violation")
  func violation() {
    var batch = OutputBatch()
    batch.note(.commands(0), key: 0..<1, value: 1..<9)
    #expect(batch.checkInvariants().count == 1)
  }

  @Test(
    "the lines of the blocks are the decisions in order, whatever the size of a block; none is across a commit",
    arguments: [1, 100, DecisionBlock.bytesMax], 1...12 as ClosedRange<UInt64>)
  func blocks(bytesMax: Int, seed: UInt64) {
    var random = SeededRandom(seed: seed, stream: 1)
    var batch = OutputBatch(blockBytesMax: bytesMax)
    /// For each partition and each time between two commits, the lines that were added and those that were sent.
    var (added, sent): ([[[UInt8]]], [[[UInt8]]]) = ([], [])
    let partitions = 3
    func what(_ text: String) -> Comment { "\(text): seed \(seed), blocks of \(bytesMax) bytes" }
    func send() {
      for block in batch.closedBlocks {
        let read = DecisionBlock(block.bytes, count: Array("\(block.count)".utf8))
        let lines = read.documents
        #expect(read.contradiction(lines: lines.count) == nil, what("the stated number of lines"))
        #expect(lines.count == 1 || block.bytes.count <= bytesMax, what("the size"))
        sent[sent.count - partitions + Int(block.partition)] += lines
      }
      batch.removeReady()
      #expect(batch.isEmpty, what("what was sent is removed"))
    }
    for _ in 0..<20 {
      for _ in 0..<partitions {
        added.append([])
        sent.append([])
      }
      for _ in 0..<random.below(8) {
        let partition = random.below(partitions)
        let lines = (0..<random.below(6)).map { _ in
          let count = random.pick([
            (1 + random.below(60), 5), (random.below(3000), 2), (70_000, bytesMax > 100 ? 1 : 0),
          ])
          return (0..<count).map { _ in UInt8(32 + random.below(90)) }
        }
        batch.append(decisions: lines, of: Int32(partition))
        added[added.count - partitions + partition] += lines
        #expect(batch.checkInvariants().isEmpty, what("invariants"))
        if random.chance(1, in: 4) { send() }
      }
      batch.closeBlocks()
      send()
      #expect(batch.heldBytes == 0, what("a commit leaves nothing"))
    }
    #expect(sent == added, what("the lines"))
    #expect(added.joined().count > 10, what("there were lines"))
  }

  @Test("a block is closed by the line that does not fit, and not before; a line that is too large is alone")
  func full() {
    var batch = OutputBatch(blockBytesMax: 7)
    let lines = [3, 3, 1, 9, 7, 1].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) }
    for line in lines { batch.append(decisions: [line], of: 0) }
    #expect(batch.closedBlocks.map(\.bytes.count) == [7, 1, 9, 7])
    #expect(batch.decisions == 5 && batch.readyBytes == 24)
    batch.removeReady()
    #expect(batch.isEmpty && batch.heldBytes == 1)
    batch.closeBlocks()
    #expect(batch.closedBlocks.map(\.bytes.count) == [1])
  }
}
