import KafkaClient

/// Records that are collected in one buffer, to be written to Kafka in one transaction.
package struct OutputBatch {
  /// The topic that a record goes to, with the number of the log partition that it results from.
  package enum Destination: Equatable, Sendable {
    case decisions(Int32)
    case commands(Int32)
    case state(Int32)
  }

  /// The bytes of all keys and values.
  package var bytes: [UInt8] = []
  /// The records of each destination as places in `bytes`, in the order in which they are sent. Indexed by
  /// `Destination.lane`. A lane without records stays, so that its memory is used again.
  private var lanes: [[KafkaRecordPlace]] = []
  /// Destinations that have records, in the order of their first ones.
  private var used: [Destination] = []
  /// The number of decisions in the batch.
  private(set) var decisions = 0
  /// The number of commands in the batch.
  private(set) var commands = 0
  /// The number of state records in the batch.
  private(set) var stateRecords = 0

  /// Makes an empty batch.
  package init() {}

  /// Whether the batch holds no record.
  package var isEmpty: Bool { used.isEmpty }

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
    case .decisions: decisions += 1
    case .commands: commands += 1
    case .state: stateRecords += 1
    }
  }

  /// Calls a closure for each destination that has records.
  ///
  /// - Parameter body: Gets a destination and the places of its records in `bytes`.
  /// - Throws: The first error of `body`, at once.
  func forEachDestination<Failure: Error>(
    _ body: (Destination, [KafkaRecordPlace]) throws(Failure) -> Void
  ) throws(Failure) {
    for destination in used { try body(destination, lanes[destination.lane]) }
  }

  /// Empties the batch and keeps its memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    for destination in used { lanes[destination.lane].removeAll(keepingCapacity: true) }
    used.removeAll(keepingCapacity: true)
    decisions = 0
    commands = 0
    stateRecords = 0
  }

  /// Checks what must hold whenever no record is being written.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    let records = lanes.reduce(0) { $0 + $1.count }
    if records != decisions + commands + stateRecords {
      violations.append("the batch holds \(records) records but counts \(decisions) + \(commands) + \(stateRecords)")
    }
    let filled = lanes.indices.filter { !lanes[$0].isEmpty }
    if Set(used.map(\.lane)) != Set(filled) || used.count != filled.count {
      violations.append("the batch lists \(used), but lanes \(filled) hold records")
    }
    for place in lanes.joined() where max(place.key?.upperBound ?? 0, place.value?.upperBound ?? 0) > bytes.count {
      violations.append("a record of the batch ends at \(place), behind its \(bytes.count) bytes")
    }
    return violations
  }
}

extension OutputBatch.Destination {
  fileprivate var lane: Int {
    switch self {
    case .decisions(let partition): Int(partition) * 3
    case .commands(let partition): Int(partition) * 3 + 1
    case .state(let partition): Int(partition) * 3 + 2
    }
  }
}
