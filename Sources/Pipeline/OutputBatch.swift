import KafkaClient

/// Records to be written in one transaction, in one buffer.
struct OutputBatch {
  /// What a record is, and the log partition that it comes from.
  enum Destination: Equatable {
    case decisions(Int32)
    case commands(Int32)
    case state(Int32)
  }

  /// Keys and values. Keys are appended by their owners (see `append(_:keyFrom:value:)`).
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

  mutating func append(_ destination: Destination, key: some Collection<UInt8>, value: ArraySlice<UInt8>?) {
    let start = bytes.count
    bytes += key
    append(destination, keyFrom: start, value: value)
  }

  /// Appends a record whose key was appended to `bytes` before. Not a closure that appends it: the compiler then gives it a
  /// copy of the planner it reads from, table by table.
  /// - Parameter start: count of `bytes` before the key.
  mutating func append(_ destination: Destination, keyFrom start: Int, value: ArraySlice<UInt8>?) {
    let end = bytes.count
    if let value { bytes += value }
    let place = KafkaRecordPlace(key: start..<end, value: value.map { _ in end..<bytes.count })
    let lane = destination.lane
    while lane >= lanes.count { lanes.append([]) }
    if lanes[lane].isEmpty { used.append(destination) }
    lanes[lane].append(place)
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
