import Domain
import GRDB

/// Counts the decisions of the block that is being filled, while they are stored, for `BlockCounts`. So a full block, of 131,072
/// decisions at most, need not be read again.
///
/// The counts are those of the decisions that this store put into the block. They are forgotten when another process has written to the
/// file, when decisions are removed, and when a write fails, because its decisions are rolled back. They are used only if the pages
/// of the block hold just as many decisions; otherwise the pages are read.
final class FillingBlock {
  /// The version of the file by the writes of other connections (`PRAGMA data_version`).
  private var version: Int64?
  private var block: Int64?
  private var devices = NameCounts()
  private var events = NameCounts()
  private var decisions = 0

  /// Forgets what was counted.
  func reset() { count(nil) }

  /// Begins a transaction of writing: forgets what was counted if another connection has written since the last one.
  func begin(_ db: Database) throws {
    let version = try Int64.fetchOne(db, sql: "PRAGMA data_version")
    if version != self.version { reset() }
    self.version = version
  }

  /// Begins the counts of a block, unless it is the one that is counted.
  func enter(_ block: Int64) {
    if block != self.block { count(block) }
  }

  private func count(_ block: Int64?) {
    self.block = block
    (devices, events, decisions) = (NameCounts(), NameCounts(), 0)
  }

  /// Counts a decision of the block that was entered last.
  func add(_ line: DecisionLine) {
    decisions += 1
    // A sort with more names than this is not stored.
    if devices.distinct <= BlockCounts.namesMax { devices.add(line.bytes.span.extracting(line.device.range)) }
    if events.distinct <= BlockCounts.namesMax { events.add(line.bytes.span.extracting(line.event.range)) }
  }

  /// Writes the counts of a block whose pages are all written.
  /// - Returns: Whether it did; otherwise the pages must be read.
  func write(_ block: Int64, _ db: Database) throws -> Bool {
    guard block == self.block else { return false }
    let slice = BlockSlice(n: block, isWhole: true)
    let lines = try Int64.fetchOne(
      db, sql: "SELECT sum(lines) FROM page WHERE seq >= ? AND seq < ?", arguments: [slice.firstSeq, slice.endSeq])
    guard lines == Int64(decisions) else { return false }
    try BlockCounts.write(block, devices, events, db)
    return true
  }
}
