public import Domain
import GRDB

extension AuditStore {
  /// The most pages that are read for a part of a list: about 130,000 decisions, which take some tenths of a second.
  /// - Beyond: the part ends, and says where the next one begins.
  public static let listedPagesMax = 256

  /// Returns a part of the list of decisions that a filter includes.
  /// - Parameters:
  ///   - filter: the filter. With a device, an event or a command only the pages that mention it are read.
  ///   - order: the order.
  ///   - place: the place of the last decision of the part before; nil for the first part.
  ///   - limit: the greatest number of decisions, at least 1.
  ///   - pagesMax: the greatest number of pages to read.
  /// - Throws: `AuditError` when the file cannot be read.
  public func decisions(
    _ filter: DecisionFilter, order: DecisionPart.Order, after place: DecisionPlace? = nil, limit: Int,
    pagesMax: Int = listedPagesMax
  ) throws(AuditError) -> DecisionPart {
    try read { db in
      var reader = DecisionLister(db: db, filter: filter, order: order, limit: max(1, limit), pagesMax: pagesMax)
      try reader.read(after: place)
      return reader.part
    }
  }

  /// Returns the place of the decision that was stored last; nil in a store without decisions.
  /// - Throws: `AuditError` when the file cannot be read.
  public func newestPlace() throws(AuditError) -> DecisionPlace? {
    try read { db in
      guard let page = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM page"),
        var reader = try db.page(page, words: WordReader(db))
      else { return nil }
      var place = DecisionPlace(page: page, line: -1, id: "")
      while try reader.next() { place = DecisionPlace(page: page, line: reader.line, id: reader.decisionId) }
      return place
    }
  }

  /// Returns the place before the decision that was stored first; nil in a store without decisions.
  /// - Throws: `AuditError` when the file cannot be read.
  public func oldestPlace() throws(AuditError) -> DecisionPlace? {
    try read { db in
      try Int64.fetchOne(db, sql: "SELECT min(seq) FROM page").map { DecisionPlace(page: $0, line: -1, id: "") }
    }
  }

  /// Returns the decision with an id; nil if it is not stored.
  /// - Throws: `AuditError` when the file cannot be read.
  public func decision(_ id: Identifier) throws(AuditError) -> Decision? {
    try read { db in
      let words = WordReader(db)
      for page in try db.pages(ofDecision: id) {
        guard var reader = try db.page(page, words: words) else { continue }
        while try reader.next() { if reader.decisionId == id { return try reader.decision() } }
      }
      return nil
    }
  }
}

extension PageReader {
  /// The id of the line that was read last.
  var decisionId: Identifier { id.partition < 0 ? Identifier(decoding: oddId) : id.text(of: .decision) }
}

extension Database {
  /// Returns the pages that may hold a decision.
  fileprivate func pages(ofDecision id: Identifier) throws -> [Int64] {
    guard let numbers = RecordId(id, of: .decision) else {
      return try Int64.fetchAll(
        self, sql: #"SELECT page FROM stray WHERE partition = -1 AND "offset" = ?"#, arguments: [KeyHash(.id, id).long])
    }
    return try Int64.fetchAll(
      self,
      sql: """
        SELECT page FROM (
          SELECT page, firstOffset, firstOrdinal FROM run
          WHERE partition = ?1 AND (lastOffset, lastOrdinal) >= (?2, ?3) ORDER BY lastOffset, lastOrdinal LIMIT 1)
        WHERE (firstOffset, firstOrdinal) <= (?2, ?3)
        UNION ALL SELECT page FROM stray WHERE partition = ?1 AND "offset" = ?2 AND ordinal = ?3
        """, arguments: [numbers.partition, numbers.offset, numbers.ordinal])
  }
}

/// Reads one part of a list of decisions.
private struct DecisionLister {
  let db: Database
  let filter: DecisionFilter
  let order: DecisionPart.Order
  let limit: Int
  let pagesMax: Int
  var part = DecisionPart()
  /// The ids of the filter as UTF-8.
  private let device: [UInt8]?
  private let event: [UInt8]?
  private let instance: [UInt8]?
  /// The bits that the code of a line must have.
  private let code: (mask: Int64, value: Int64)

  init(db: Database, filter: DecisionFilter, order: DecisionPart.Order, limit: Int, pagesMax: Int) {
    self.db = db
    self.filter = filter
    self.order = order
    self.limit = limit
    self.pagesMax = pagesMax
    device = filter.device.map { Array($0.utf8) }
    event = filter.event.map { Array($0.utf8) }
    instance = filter.instance.map { Array($0.utf8) }
    code = DecisionCode.bits(of: filter)
  }

  mutating func read(after place: DecisionPlace?) throws {
    let words = WordReader(db)
    var pagesRead = 0
    var blocks = try db.blocks(in: filter.range)
    if order == .newest { blocks.reverse() }
    for block in blocks where isWanted(block, after: place) {
      for page in try pages(of: block, after: place) {
        guard pagesRead < pagesMax else { return }
        pagesRead += 1
        guard try read(page, after: place?.page == page ? place : nil, words) else { return }
      }
    }
    part.isLast = true
  }

  private func isWanted(_ block: BlockSlice, after place: DecisionPlace?) -> Bool {
    guard let place else { return true }
    let n = place.page >> AuditSchema.blockShift
    return order == .newest ? block.n <= n : block.n >= n
  }

  /// Returns the pages of a block that may hold decisions of the filter, from the place on.
  private func pages(of block: BlockSlice, after place: DecisionPlace?) throws -> [Int64] {
    var (from, to) = (block.firstSeq, block.endSeq)
    if let place {
      if order == .newest { to = min(to, place.page.addingSaturating(1)) } else { from = max(from, place.page) }
    }
    let hashes = [
      filter.device.map { KeyHash(.device, $0) }, filter.event.map { KeyHash(.event, $0) },
      filter.command.map { KeyHash(.command, $0) },
    ].compactMap { $0?.short }
    let direction = order == .newest ? "DESC" : "ASC"
    guard !hashes.isEmpty else {
      return try Int64.fetchAll(
        db,
        sql: "SELECT seq FROM page WHERE seq >= ? AND seq < ? AND atMax >= ? AND atMin <= ? ORDER BY seq \(direction)",
        arguments: [from, to, filter.range.first, filter.range.end])
    }
    let one = "SELECT page FROM place WHERE block = ? AND hash = ? AND page >= ? AND page < ?"
    let sql =
      Array(repeating: one, count: hashes.count).joined(separator: " INTERSECT ") + " ORDER BY page \(direction)"
    return try Int64.fetchAll(
      db, sql: sql, arguments: StatementArguments(hashes.flatMap { [block.n, $0, from, to] }))
  }

  /// Adds the decisions of a page.
  /// - Parameter place: the place in this page after which to begin; nil for the whole page.
  /// - Returns: whether the part is not full yet.
  private mutating func read(_ page: Int64, after place: DecisionPlace?, _ words: WordReader) throws -> Bool {
    guard var reader = try db.page(page, words: words) else { return true }
    var found: [DecisionPart.PlacedDecision] = []
    /// The line of the place; −1 until it is met.
    var line = -1
    while try reader.next() {
      if let place, place.line >= 0, reader.decisionId == place.id {
        if order == .newest { break }
        line = reader.line
      }
      guard try mayInclude(reader, words) else { continue }
      let decision = try reader.decision()
      guard filter.includes(decision) else { continue }
      found.append(
        DecisionPart.PlacedDecision(
          decision: decision, place: DecisionPlace(page: page, line: reader.line, id: decision.decision)))
    }
    if order == .newest { found.reverse() }
    for next in found where next.place.line > line || order == .newest {
      guard part.decisions.count < limit else { return false }
      part.decisions.append(next)
      part.end = next.place
    }
    // No page begins at the number before the one of a page: pages take many numbers.
    part.end =
      order == .newest
      ? DecisionPlace(page: page - 1, line: -1, id: "")
      : DecisionPlace(page: page, line: reader.line, id: reader.decisionId)
    return true
  }

  /// Whether a line may be one of a decision that the filter includes: a quick look, which makes no texts.
  private func mayInclude(_ line: borrowing PageReader, _ words: WordReader) throws -> Bool {
    guard filter.range.contains(line.at) else { return false }
    guard line.code & code.mask == code.value else { return false }
    if let surface = filter.surface, line.surface != surface { return false }
    if let kind = filter.kind, try words.word(line.kind) != kind { return false }
    if let device, line.device != device { return false }
    if let event, line.event != event { return false }
    if let instance, line.instance != instance { return false }
    return true
  }
}
