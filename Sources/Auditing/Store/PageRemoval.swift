import Domain
import Foundation
import GRDB

/// Removes old decisions within one transaction, with everything that the store holds about them except the entries of the index
/// `place`, which go with their block.
struct PageRemoval {
  /// The number of decisions removed.
  private(set) var removed = 0
  private let db: Database
  private let words: WordReader
  private let numbers: WordWriter
  private var tally: [[Int64]: Int64] = [:]
  /// The block whose counts were removed last.
  private var changedBlock: Int64?

  init(_ db: Database, words: WordReader, cache: WordCache) throws {
    self.db = db
    self.words = words
    numbers = try WordWriter(db, cache: cache)
  }

  /// Removes the decisions in the pages of a range of sequence numbers. A page that also holds later decisions is written again with
  /// these.
  /// - Parameter cutoff: removes only decisions from before this time; nil removes all.
  mutating func remove(from start: Int64, below end: Int64, olderThan cutoff: Int64?) throws {
    // Without a cutoff even a page whose times are no numbers is removed: the caller repeats until no page is left.
    let condition = "seq >= ? AND seq < ?" + (cutoff == nil ? "" : " AND atMin < ?")
    let arguments: StatementArguments = cutoff.map { [start, end, $0] } ?? [start, end]
    for page in try Int64.fetchAll(db, sql: "SELECT seq FROM page WHERE \(condition)", arguments: arguments) {
      try remove(page, olderThan: cutoff)
    }
    let subtract = try BoundStatement(db, "UPDATE tally SET count = count - ? WHERE hour = ? AND code = ? AND kind = ?")
    for (key, count) in tally { try subtract.run(count, key[0], key[1], key[2]) }
    try db.execute(sql: "DELETE FROM tally WHERE count <= 0")
    for hour in Set(tally.keys.map { $0[0] }) { try HourNames.remove(hour, db) }
  }

  private mutating func remove(_ page: Int64, olderThan cutoff: Int64?) throws {
    guard var reader = try db.page(page, words: words) else { return }
    let block = page >> AuditSchema.blockShift
    if block != changedBlock { try BlockCounts.remove(block, db) }
    changedBlock = block
    let hasStrays = try Row.fetchOne(db, cached: "SELECT 1 FROM stray WHERE page = ?", [page]) != nil
    var kept = PageWriter()
    kept.begin()
    while try reader.next() {
      if let cutoff, reader.at >= cutoff {
        let decision = try reader.decision()
        try kept.append(DecisionLine(decision), id: RecordId(decision.decision, of: .decision), words: numbers)
        continue
      }
      removed += 1
      tally[[reader.at.hourIndex, reader.code, reader.kind], default: 0] += 1
      if hasStrays { try removeStray(reader, of: page) }
    }
    if kept.lines == 0 {
      for table in ["stray", "run"] { try db.execute(sql: "DELETE FROM \(table) WHERE page = ?", arguments: [page]) }
      try db.execute(sql: "DELETE FROM page WHERE seq = ?", arguments: [page])
    } else {
      try db.execute(
        sql: "UPDATE page SET lines = ?, atMin = ?, atMax = ?, body = ? WHERE seq = ?",
        arguments: [kept.lines, kept.times.min, kept.times.max, Data(kept.bytes), page])
    }
  }

  /// Removes the row of a stray. Ids of another form with the same hash share a row in a page, which then stays until the page goes.
  private func removeStray(_ reader: borrowing PageReader, of page: Int64) throws {
    guard reader.id.partition >= 0 else { return }
    try db.execute(
      sql: #"DELETE FROM stray WHERE partition = ? AND "offset" = ? AND ordinal = ? AND page = ?"#,
      arguments: [reader.id.partition, reader.id.offset, reader.id.ordinal, page])
  }
}
