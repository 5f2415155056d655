import Domain
import GRDB

/// The decisions of a full block by device and by event, so that the most frequent ones of a large store need no scan of its pages.
///
/// A block gets its counts in the transaction that begins a page in a later block: those that `FillingBlock` made while its decisions
/// were stored, or else by reading its pages once. Whatever changes a page of the block afterwards removes them in the same
/// transaction; the pages of a block without counts are scanned.
enum BlockCounts {
  /// The number of distinct devices, or events, up to which a block has their counts.
  /// - Beyond: the block has none of that sort, because they would not be much smaller than its pages.
  static let namesMax = 32_768

  /// Writes the counts of a block, whose pages it reads.
  static func write(_ block: Int64, _ db: Database) throws {
    let (devices, events) = try read(block, db)
    try write(block, devices, events, db)
  }

  /// Writes the counts of a block.
  /// - Parameters:
  ///   - block: The number of the block.
  ///   - devices: The decisions by device; with more than `namesMax` names it is left out, and may be incomplete.
  ///   - events: The decisions by event, likewise.
  ///   - db: The connection, within a transaction.
  static func write(_ block: Int64, _ devices: NameCounts, _ events: NameCounts, _ db: Database) throws {
    let insert = try BoundStatement(db, "INSERT OR REPLACE INTO blockCount VALUES (?, ?, ?)")
    for (key, counts) in [(KeyHash.Key.device, devices), (.event, events)] where counts.distinct <= namesMax {
      insert.begin()
      insert.set(1, block)
      insert.set(2, Int64(key.rawValue))
      insert.set(3, counts.encoded)
      try insert.run()
    }
  }

  /// Removes the counts of a block, because its pages change.
  static func remove(_ block: Int64, _ db: Database) throws {
    try BoundStatement(db, "DELETE FROM blockCount WHERE block = ?").run(block)
  }

  /// Returns the stored counts of a block; nil if it has none.
  static func stored(_ block: Int64, _ key: KeyHash.Key, _ db: Database) throws -> [UInt8]? {
    try Row.fetchOne(
      db, cached: "SELECT body FROM blockCount WHERE block = ? AND key = ?", [block, Int64(key.rawValue)]
    )?.bytes(0)
  }

  /// Counts the decisions in the pages of a block.
  static func read(_ block: Int64, _ db: Database) throws -> (devices: NameCounts, events: NameCounts) {
    var (devices, events) = (NameCounts(), NameCounts())
    let slice = BlockSlice(n: block, isWhole: true)
    try db.scan(from: slice.firstSeq, below: slice.endSeq, .all, words: WordReader(db)) { line in
      devices.add(line.device.span)
      events.add(line.event.span)
    }
    return (devices, events)
  }
}
