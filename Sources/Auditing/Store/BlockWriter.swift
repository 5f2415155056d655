import Domain
import GRDB

/// Keeps the row of each block up to date within one transaction: the times, and the sketches of its devices and events.
struct BlockWriter {
  private let db: Database
  private var n: Int64?
  private var times: (min: Int64, max: Int64) = (.max, .min)
  private var devices = DistinctSketch()
  private var events = DistinctSketch()

  init(_ db: Database) throws { self.db = db }

  /// Notes the first and the last time of records in a block.
  mutating func add(to block: Int64, from first: Int64, to last: Int64) throws {
    try open(block)
    times = (min(times.min, first), max(times.max, last))
  }

  /// Notes a decision about a device and an event in a block.
  mutating func add(to block: Int64, device: KeyHash, event: KeyHash?) throws {
    if block != n { try open(block) }
    devices.add(device)
    if let event { events.add(event) }
  }

  /// Writes the row of the block in hand.
  mutating func finish() throws {
    guard let n else { return }
    let replace = try BoundStatement(db, "INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?)")
    replace.begin()
    replace.set(1, n)
    replace.set(2, times.min)
    replace.set(3, times.max)
    replace.set(4, devices.bytes)
    replace.set(5, events.bytes)
    try replace.run()
    self.n = nil
  }

  private mutating func open(_ block: Int64) throws {
    guard block != n else { return }
    try finish()
    n = block
    times = (.max, .min)
    (devices, events) = (DistinctSketch(), DistinctSketch())
    guard let row = try Row.fetchOne(db, cached: "SELECT atMin, atMax, devices, events FROM block WHERE n = ?", [block])
    else { return }
    times = (try row.integer(0), try row.integer(1))
    devices = try DistinctSketch(try row.bytes(2))
    events = try DistinctSketch(try row.bytes(3))
  }
}
