/// Records to be written in one transaction, in one buffer.
struct OutputBatch {
  enum Destination: Equatable {
    case decisions, commands, deadLetters
    /// The log partition whose state it is.
    case state(Int32)
  }

  struct Record {
    var destination: Destination
    var key: Range<Int>
    /// Nil: a tombstone.
    var value: Range<Int>?
  }

  private(set) var bytes: [UInt8] = []
  private(set) var records: [Record] = []
  private(set) var decisions = 0
  private(set) var commands = 0
  private(set) var stateRecords = 0

  var isEmpty: Bool { records.isEmpty }

  mutating func append(_ destination: Destination, key: some Collection<UInt8>, value: ArraySlice<UInt8>?) {
    append(destination, value: value) { $0 += key }
  }

  /// - Parameter appendKey: appends the key to the bytes it is given.
  mutating func append(
    _ destination: Destination, value: ArraySlice<UInt8>?, appendKey: (inout [UInt8]) -> Void
  ) {
    let start = bytes.count
    appendKey(&bytes)
    let end = bytes.count
    if let value { bytes += value }
    records.append(Record(destination: destination, key: start..<end, value: value.map { _ in end..<bytes.count }))
    switch destination {
    case .decisions: decisions += 1
    case .commands: commands += 1
    case .state: stateRecords += 1
    case .deadLetters: break
    }
  }

  /// Counts decisions that are made and not written.
  mutating func countUnlogged(_ count: Int) { decisions += count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    decisions = 0
    commands = 0
    stateRecords = 0
  }
}
