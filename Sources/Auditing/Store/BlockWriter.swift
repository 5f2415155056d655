import Domain
import GRDB

/// Keeps the row of each block up to date within one transaction: the first and the last time in it.
struct BlockWriter {
  private let db: Database
  private var n: Int64?
  private var times: (min: Int64, max: Int64) = (.max, .min)

  init(_ db: Database) throws { self.db = db }

  /// Notes the first and the last time of records in a block.
  mutating func add(to block: Int64, from first: Int64, to last: Int64) throws {
    try open(block)
    times = (min(times.min, first), max(times.max, last))
  }

  /// Writes the row of the block in hand.
  mutating func finish() throws {
    guard let n else { return }
    try BoundStatement(db, "INSERT OR REPLACE INTO block VALUES (?, ?, ?)").run(n, times.min, times.max)
    self.n = nil
  }

  private mutating func open(_ block: Int64) throws {
    guard block != n else { return }
    try finish()
    n = block
    times = (.max, .min)
    guard let row = try Row.fetchOne(db, cached: "SELECT atMin, atMax FROM block WHERE n = ?", [block]) else { return }
    times = (try row.integer(0), try row.integer(1))
  }
}
