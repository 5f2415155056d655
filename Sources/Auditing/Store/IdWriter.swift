import Domain
import GRDB

/// Tells new decisions from duplicates within one transaction, and writes the runs and the strays (`AuditSchema`).
struct IdWriter {
  private let db: Database
  private let insertRun: BoundStatement
  private let insertStray: BoundStatement
  /// The last stored id of each log partition; nil if there is none.
  private var lasts: [Int64: RecordId?] = [:]
  /// The log partition of the last line, with its entry in `lasts`, which is not up to date meanwhile.
  private var current: (partition: Int64, last: RecordId?)?
  /// The runs of the page in hand.
  private var runs: [(first: RecordId, last: RecordId)] = []
  /// The ids in these runs.
  private var pending: [RecordId] = []
  /// The ids of another form in the page in hand.
  private var pendingOdd: [Identifier] = []
  /// The page whose ids were read last. Records that come twice come in the same order.
  private var known: (page: Int64, ids: Set<RecordId>)?

  init(_ db: Database) throws {
    self.db = db
    insertRun = try BoundStatement(db, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)")
    insertStray = try BoundStatement(db, "INSERT OR IGNORE INTO stray VALUES (?, ?, ?, ?)")
  }

  /// Returns whether the store has no decision with the id of a line.
  /// - Parameters:
  ///   - line: The decision.
  ///   - id: The numbers of its id; nil for an id of another form.
  mutating func isNew(_ line: DecisionLine, _ id: RecordId?) throws -> Bool {
    guard let id else { return try !isStored(line.identifier(line.id)) }
    guard let last = try last(of: id.partition) else { return true }
    return try RecordId.inLogOrder(last, id) || !isStored(id)
  }

  /// Notes a new id.
  mutating func add(_ line: DecisionLine, _ id: RecordId?, to page: Int64) throws {
    guard let id else {
      let name = line.identifier(line.id)
      pendingOdd.append(name)
      return try insertStray.run(-1, KeyHash(.id, name).long, 0, page)
    }
    if let last = try last(of: id.partition), !RecordId.inLogOrder(last, id) {
      return try insertStray.run(id.partition, id.offset, id.ordinal, page)
    }
    current?.last = id
    pending.append(id)
    if runs.last?.first.partition == id.partition { runs[runs.count - 1].last = id } else { runs.append((id, id)) }
  }

  /// Writes the runs of a page.
  mutating func close(_ page: Int64) throws {
    for run in runs {
      try insertRun.run(
        run.first.partition, run.last.offset, run.last.ordinal, run.first.offset, run.first.ordinal, page)
    }
    runs.removeAll(keepingCapacity: true)
    pending.removeAll(keepingCapacity: true)
    pendingOdd.removeAll(keepingCapacity: true)
    // The page may be one whose ids were read before it grew.
    known = nil
  }

  /// Returns the last id of a log partition, those of this transaction included.
  private mutating func last(of partition: Int64) throws -> RecordId? {
    if let current {
      if current.partition == partition { return current.last }
      lasts[current.partition] = current.last
    }
    let last: RecordId?
    if let known = lasts[partition] {
      last = known
    } else {
      last = try storedLast(of: partition)
    }
    current = (partition, last)
    return last
  }

  /// Returns the last id of a log partition that is stored. Retention may have removed the last run, so strays count too.
  private func storedLast(of partition: Int64) throws -> RecordId? {
    let queries = [
      "SELECT lastOffset, lastOrdinal FROM run WHERE partition = ? ORDER BY lastOffset DESC, lastOrdinal DESC LIMIT 1",
      #"SELECT "offset", ordinal FROM stray WHERE partition = ? ORDER BY "offset" DESC, ordinal DESC LIMIT 1"#,
    ]
    let lasts = try queries.compactMap { try Row.fetchOne(db, cached: $0, [partition]) }.map {
      RecordId(partition: partition, offset: try $0.integer(0), ordinal: try $0.integer(1))
    }
    return lasts.max(by: RecordId.inLogOrder)
  }

  /// Returns whether an id is stored that does not lie behind all others of its partition.
  private mutating func isStored(_ id: RecordId) throws -> Bool {
    if pending.contains(id) { return true }
    let run = try Row.fetchOne(
      db,
      cached: """
        SELECT firstOffset, firstOrdinal, page FROM run
        WHERE partition = ? AND (lastOffset, lastOrdinal) >= (?, ?) ORDER BY lastOffset, lastOrdinal LIMIT 1
        """, [id.partition, id.offset, id.ordinal])
    if let run {
      let first = RecordId(partition: id.partition, offset: try run.integer(0), ordinal: try run.integer(1))
      if !RecordId.inLogOrder(id, first), try ids(of: run.integer(2)).contains(id) { return true }
    }
    return try Row.fetchOne(
      db, cached: #"SELECT 1 FROM stray WHERE partition = ? AND "offset" = ? AND ordinal = ?"#,
      [id.partition, id.offset, id.ordinal]) != nil
  }

  /// Returns whether an id of another form is stored.
  private func isStored(_ name: Identifier) throws -> Bool {
    if pendingOdd.contains(name) { return true }
    let pages = try Int64.fetchAll(
      db.cachedStatement(sql: #"SELECT DISTINCT page FROM stray WHERE partition = -1 AND "offset" = ?"#),
      arguments: [KeyHash(.id, name).long])
    for page in pages {
      guard var reader = try db.page(page, words: WordReader(db)) else { continue }
      while try reader.next() {
        if reader.id.partition < 0, Identifier(decoding: reader.oddId) == name { return true }
      }
    }
    return false
  }

  /// Returns the ids of a page.
  private mutating func ids(of page: Int64) throws -> Set<RecordId> {
    if let known, known.page == page { return known.ids }
    var ids: Set<RecordId> = []
    if var reader = try db.page(page, words: WordReader(db)) { while try reader.next() { ids.insert(reader.id) } }
    known = (page, ids)
    return ids
  }
}
