import Domain
import GRDB

/// One call of `AuditStore.retain`.
struct RetentionRun {
  private let store: AuditStore
  private let retention: Retention
  private var report = Retention.Report()
  /// The number of transactions so far.
  private var chunks = 0

  private static let pagesPerVacuum = 2_000

  init(store: AuditStore, retention: Retention) {
    self.store = store
    self.retention = retention
  }

  /// Removes records by age, then by size, and shrinks the file.
  mutating func run() throws -> Retention.Report {
    report.bytesBefore = try store.bytesUsed()
    try removeOld()
    try removeExcess()
    try vacuum()
    report.bytesAfter = try store.bytesUsed()
    return report
  }

  /// Counts a transaction. Returns false, and marks the report as incomplete, if there may be no more.
  private mutating func mayGoOn() -> Bool {
    guard let limit = retention.chunksMax, chunks >= limit else {
      chunks += 1
      return true
    }
    report.isComplete = false
    return false
  }

  /// Removes rows older than `Retention.ageMax`.
  private mutating func removeOld() throws {
    guard let age = retention.ageMax else { return }
    guard let newest = try store.read({ try Int64.fetchOne($0, sql: "SELECT max(atMax) FROM block") }) else { return }
    let cutoff = newest.subtractingSaturating(age.microseconds)
    report.cutoff = Timestamp(microseconds: cutoff)
    let blocks = try store.read {
      try Int64.fetchAll($0, sql: "SELECT n FROM block WHERE atMin < ? ORDER BY atMin, n", arguments: [cutoff])
    }
    for block in blocks {
      var from = block << AuditSchema.blockShift
      let end = block.addingSaturating(1) << AuditSchema.blockShift
      while let start = try firstRow(from: from, below: end) {
        guard mayGoOn() else { return }
        from = min(end, start.addingSaturating(retention.chunkRows))
        try remove(from: start, below: from, olderThan: cutoff)
      }
      try settle(block)
    }
  }

  /// Removes the oldest rows while more than `Retention.bytesMax` bytes are in use.
  private mutating func removeExcess() throws {
    guard let limit = retention.bytesMax, report.isComplete else { return }
    while try store.bytesUsed() > limit {
      let oldest = try store.read { try Int64.fetchOne($0, sql: "SELECT n FROM block ORDER BY atMax, n LIMIT 1") }
      guard let block = oldest else { return }
      let end = block.addingSaturating(1) << AuditSchema.blockShift
      while try store.bytesUsed() > limit, let start = try firstRow(from: block << AuditSchema.blockShift, below: end) {
        guard mayGoOn() else { return }
        try remove(from: start, below: min(end, start.addingSaturating(retention.chunkRows)), olderThan: nil)
      }
      try settle(block)
    }
  }

  /// Returns the smallest sequence number of a page or a command in a range; nil if the range has none.
  private func firstRow(from: Int64, below end: Int64) throws -> Int64? {
    try store.read { db in
      let tables = ["page", "command"]
      return try tables.compactMap {
        try Int64.fetchOne(db, sql: "SELECT min(seq) FROM \($0) WHERE seq >= ? AND seq < ?", arguments: [from, end])
      }.min()
    }
  }

  /// Removes the records of a range in one transaction.
  /// - Parameter cutoff: removes only records from before this time; nil removes all.
  private mutating func remove(from start: Int64, below end: Int64, olderThan cutoff: Int64?) throws {
    let removed = try store.write { db in
      store.filling.reset()
      var pages = try PageRemoval(db, words: WordReader(db), cache: store.words)
      try pages.remove(from: start, below: end, olderThan: cutoff)
      return (pages.removed, try removeCommands(db, from: start, below: end, olderThan: cutoff))
    }
    report.decisions += removed.0
    report.commands += removed.1
  }

  /// Removes the commands of a range, and subtracts them from the counts by hour.
  /// - Returns: The number of commands.
  private func removeCommands(_ db: Database, from start: Int64, below end: Int64, olderThan cutoff: Int64?) throws
    -> Int
  {
    // Without a cutoff even a row whose `at` is no number is removed: the caller repeats until no row is left.
    let arguments: StatementArguments = cutoff.map { [start, end, $0] } ?? [start, end]
    let range = "seq >= ? AND seq < ?" + (cutoff == nil ? "" : " AND at < ?")
    var commands: [[Int64]: Int64] = [:]
    let words = WordReader(db)
    let starts = try BoundStatement(db, "DELETE FROM activityStart WHERE at = ? AND seq = ?")
    let stored = try Row.fetchCursor(
      db, sql: "SELECT \(CommandRow.columns) FROM command WHERE \(range)", arguments: arguments)
    while let row = try stored.next() {
      let row = try CommandRow(row)
      commands[[row.at.hourIndex, row.surface, 0], default: 0] += 1
      let command = try row.command(words)
      if command.subject != nil { try starts.run(row.at, row.seq) }
      for charge in command.charged {
        commands[[row.at.hourIndex, row.surface, charge.ledger.code], default: 0] += 1
      }
    }
    let tally = try BoundStatement(
      db, "UPDATE commandTally SET count = count - ? WHERE hour = ? AND surface = ? AND ledger = ?")
    for (key, count) in commands { try tally.run(count, key[0], key[1], key[2]) }
    try db.execute(sql: "DELETE FROM commandTally WHERE count <= 0")
    try db.execute(sql: "DELETE FROM command WHERE \(range)", arguments: arguments)
    return db.changesCount
  }

  /// Brings the times of a block up to date, or removes the block if it is empty.
  private func settle(_ block: Int64) throws {
    try store.write { db in
      let start = block << AuditSchema.blockShift
      let end = block.addingSaturating(1) << AuditSchema.blockShift
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT min(a), max(b) FROM (
            SELECT min(atMin) AS a, max(atMax) AS b FROM page WHERE seq >= ? AND seq < ?
            UNION ALL SELECT min(at), max(at) FROM command WHERE seq >= ? AND seq < ?)
          """, arguments: [start, end, start, end])
      if let row, let first = try row.optionalInteger(0), let last = try row.optionalInteger(1) {
        try db.execute(sql: "UPDATE block SET atMin = ?, atMax = ? WHERE n = ?", arguments: [first, last, block])
      } else {
        // The index entries of a block go with its last record. Until then those of removed pages lead nowhere.
        try db.execute(sql: "DELETE FROM place WHERE block = ?", arguments: [block])
        try db.execute(sql: "DELETE FROM block WHERE n = ?", arguments: [block])
      }
    }
  }

  /// Returns free pages to the disk if the file was created with incremental vacuum.
  private mutating func vacuum() throws {
    while try store.read({ try Int64.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 }) > 0 {
      guard try store.read({ try Int64.fetchOne($0, sql: "PRAGMA auto_vacuum") }) == 2, mayGoOn() else { return }
      try store.write { db in _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(Self.pagesPerVacuum))") }
    }
  }
}
