import Domain
import KafkaClient

/// Records that are collected to be written to Kafka in one transaction: commands and state in one buffer, decisions in blocks.
///
/// Commands, state records and closed blocks are ready to be sent. The open block of a partition stays when the others are sent and
/// removed, so that it grows until it is full or until `closeBlocks`, which the worker calls before each commit.
package struct OutputBatch {
  /// The topic that a record goes to, with the number of the log partition that it results from.
  package enum Destination: Equatable, Sendable {
    case commands(Int32)
    case state(Int32)
  }

  /// The bytes of the keys and values of commands and state records.
  package var bytes: [UInt8] = []
  /// The records of each destination as places in `bytes`, in the order in which they are sent. Indexed by
  /// `Destination.lane`. A lane without records stays, so that its memory is used again.
  private var lanes: [[KafkaRecordPlace]] = []
  /// Destinations that have records, in the order of their first ones.
  private var used: [Destination] = []
  /// The decisions of each log partition. Indexed by the partition.
  private var blocks: [DecisionBlocks] = []
  /// The log partitions with closed blocks, in the order of their first ones.
  private var filled: [Int32] = []
  /// Memory that one partition after the other uses to write many decisions.
  private var spare: [UInt8] = []
  /// The largest number of bytes of a block of several decisions.
  private let blockBytesMax: Int
  /// The number of bytes of all blocks, open ones included.
  private var blockBytes = 0
  /// The number of bytes of the closed blocks.
  private var closedBytes = 0
  /// The number of decisions in closed blocks.
  private(set) var decisions = 0
  /// The number of commands in the batch.
  private(set) var commands = 0
  /// The number of state records in the batch.
  private(set) var stateRecords = 0

  /// The usual size of a decision in bytes, for an estimate.
  private static let decisionBytes = 600

  /// Makes an empty batch.
  ///
  /// - Parameter blockBytesMax: The largest number of bytes of a block of several decisions.
  package init(blockBytesMax: Int = DecisionBlock.bytesMax) { self.blockBytesMax = blockBytesMax }

  /// Whether the batch holds no record that is ready to be sent. There may be open blocks.
  package var isEmpty: Bool { used.isEmpty && filled.isEmpty }
  /// The number of bytes that are ready to be sent.
  var readyBytes: Int { bytes.count + closedBytes }
  /// The number of bytes of all records, those of open blocks included.
  var heldBytes: Int { bytes.count + blockBytes }

  // MARK: Decisions

  /// Begins to add decisions to the blocks of a log partition. They are changed where they are, by the subscript, until `endDecisions`.
  ///
  /// - Parameters:
  ///   - partition: The number of the log partition.
  ///   - count: The number of decisions to come.
  package mutating func beginDecisions(of partition: Int32, toAdd count: Int) {
    let index = Int(partition)
    while index >= blocks.count { blocks.append(DecisionBlocks(bytesMax: blockBytesMax)) }
    note(index, -1)
    blocks[index].makeRoom(for: count * Self.decisionBytes, spare: &spare)
  }

  /// The blocks of a log partition, between `beginDecisions` and `endDecisions`.
  package subscript(blocksOf partition: Int32) -> DecisionBlocks {
    @inline(__always) _read { yield blocks[Int(partition)] }
    @inline(__always) _modify { yield &blocks[Int(partition)] }
  }

  /// Ends what `beginDecisions` began.
  ///
  /// - Parameter partition: The number of the log partition.
  package mutating func endDecisions(of partition: Int32) {
    note(Int(partition), 1)
    if !blocks[Int(partition)].closed.isEmpty, !filled.contains(partition) { filled.append(partition) }
  }

  private mutating func note(_ index: Int, _ sign: Int) {
    blockBytes += sign * blocks[index].bytes.count
    closedBytes += sign * blocks[index].closedBytes
    decisions += sign * blocks[index].closedCount
  }

  /// Closes all blocks, so that everything in the batch is ready to be sent.
  mutating func closeBlocks() {
    for index in blocks.indices where blocks[index].openCount > 0 {
      beginDecisions(of: Int32(index), toAdd: 0)
      blocks[index].close()
      endDecisions(of: Int32(index))
    }
  }

  /// Calls a closure for each closed block.
  ///
  /// - Parameter body: Gets the log partition, the number of decisions, and the bytes, which are valid for the call.
  /// - Throws: The first error of `body`, at once.
  func forEachBlock<Failure: Error>(
    _ body: (Int32, _ count: Int, Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    for partition in filled {
      let blocks = blocks[Int(partition)]
      for block in blocks.closed { try body(partition, block.count, blocks.bytes.span.extracting(block.bytes)) }
    }
  }

  // MARK: Commands and state

  /// Copies a record into the batch.
  ///
  /// - Parameters:
  ///   - destination: The topic.
  ///   - key: The record's key.
  ///   - value: The record's value; nil removes the key from a compacted topic.
  package mutating func append(_ destination: Destination, key: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
    let start = bytes.count
    bytes += key
    let end = bytes.count
    if let value { bytes += value }
    note(destination, key: start..<end, value: value.map { end..<end + $0.count })
  }

  /// Adds a record whose key and value are in `bytes`, or will be before the batch is sent.
  ///
  /// - Parameters:
  ///   - destination: The topic.
  ///   - key: The place of the key in `bytes`.
  ///   - value: The place of the value in `bytes`; nil removes the key from a compacted topic.
  package mutating func note(_ destination: Destination, key: Range<Int>, value: Range<Int>?) {
    let lane = destination.lane
    while lane >= lanes.count { lanes.append([]) }
    if lanes[lane].isEmpty { used.append(destination) }
    lanes[lane].append(KafkaRecordPlace(key: key, value: value))
    switch destination {
    case .commands: commands += 1
    case .state: stateRecords += 1
    }
  }

  /// Calls a closure for each destination of commands and state that has records.
  ///
  /// - Parameter body: Gets a destination and the places of its records in `bytes`.
  /// - Throws: The first error of `body`, at once.
  func forEachDestination<Failure: Error>(
    _ body: (Destination, [KafkaRecordPlace]) throws(Failure) -> Void
  ) throws(Failure) {
    for destination in used { try body(destination, lanes[destination.lane]) }
  }

  /// Removes what is ready to be sent, and keeps the memory.
  mutating func removeReady() {
    for partition in filled {
      note(Int(partition), -1)
      blocks[Int(partition)].removeClosed(spare: &spare)
      note(Int(partition), 1)
    }
    filled.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    for destination in used { lanes[destination.lane].removeAll(keepingCapacity: true) }
    used.removeAll(keepingCapacity: true)
    commands = 0
    stateRecords = 0
  }

  /// Empties the batch, open blocks included.
  mutating func removeAll() {
    closeBlocks()
    removeReady()
  }

  /// Checks what must hold whenever no record is being written.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    let records = lanes.reduce(0) { $0 + $1.count }
    if records != commands + stateRecords {
      violations.append("the batch holds \(records) records but counts \(commands) + \(stateRecords)")
    }
    let filled = lanes.indices.filter { !lanes[$0].isEmpty }
    if Set(used.map(\.lane)) != Set(filled) || used.count != filled.count {
      violations.append("the batch lists \(used), but lanes \(filled) hold records")
    }
    for place in lanes.joined() where max(place.key?.upperBound ?? 0, place.value?.upperBound ?? 0) > bytes.count {
      violations.append("a record of the batch ends at \(place), behind its \(bytes.count) bytes")
    }
    for partition in blocks { violations += partition.checkInvariants() }
    let sums = blocks.reduce((0, 0, 0)) { ($0.0 + $1.bytes.count, $0.1 + $1.closedBytes, $0.2 + $1.closedCount) }
    if sums != (blockBytes, closedBytes, decisions) {
      violations.append("the blocks hold \(sums), but \((blockBytes, closedBytes, decisions)) is counted")
    }
    if Set(self.filled.map { Int($0) }) != Set(blocks.indices.filter { !blocks[$0].closed.isEmpty }) {
      violations.append("closed blocks are noted for partitions \(self.filled)")
    }
    return violations
  }
}

extension OutputBatch.Destination {
  fileprivate var lane: Int {
    switch self {
    case .commands(let partition): Int(partition) * 2
    case .state(let partition): Int(partition) * 2 + 1
    }
  }
}
