import KafkaClient

/// Records to be written in one transaction, in one buffer.
struct OutputBatch {
  /// What a record is, and the log partition that it comes from.
  enum Destination: Equatable {
    case decisions(Int32)
    case commands(Int32)
    case state(Int32)
  }

  /// Keys and values.
  var bytes: [UInt8] = []
  /// Places in `bytes` of the records of one destination, in order: they are queued at once. By `Destination.lane`; kept
  /// when they are empty, for their memory.
  private var lanes: [[KafkaRecordPlace]] = []
  /// Where there are records, in the order of the first ones.
  private var used: [Destination] = []
  private(set) var decisions = 0
  private(set) var commands = 0
  private(set) var stateRecords = 0

  var isEmpty: Bool { used.isEmpty }

  mutating func append(_ destination: Destination, key: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
    let start = bytes.count
    bytes += key
    let end = bytes.count
    if let value { bytes += value }
    note(destination, key: start..<end, value: value.map { end..<end + $0.count })
  }

  /// Takes up a record whose key and value were appended to `bytes`, or are about to be.
  mutating func note(_ destination: Destination, key: Range<Int>, value: Range<Int>?) {
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

  /// Counts decisions that are made and not written.
  mutating func countUnlogged(_ count: Int) { decisions += count }

  /// Lends the records, destination by destination: their places in `bytes`.
  func forEachDestination<Failure: Error>(
    _ body: (Destination, [KafkaRecordPlace]) throws(Failure) -> Void
  ) throws(Failure) {
    for destination in used { try body(destination, lanes[destination.lane]) }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    for destination in used { lanes[destination.lane].removeAll(keepingCapacity: true) }
    used.removeAll(keepingCapacity: true)
    decisions = 0
    commands = 0
    stateRecords = 0
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
