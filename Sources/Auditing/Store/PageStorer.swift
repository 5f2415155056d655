import Domain
import GRDB

/// Puts decisions into pages within one transaction, with the entries by which they are found, and tells duplicates.
struct PageStorer {
  private let db: Database
  private let words: WordWriter
  private let filling: FillingBlock
  private let sequenceFloor: Int64
  private var ids: IdWriter
  private var writer = PageWriter()
  /// The sequence number of the page in hand; nil if there is none.
  private var page: Int64?
  /// The sequence number behind the last page and the last command.
  private var next: Int64
  /// The pages of this transaction, and for each device, event and command in them its hash with the index of its page below it.
  private var pages: [Int64] = []
  private var entries: [UInt64] = []
  /// The block of the page that was begun or continued last; nil before the first page of a store.
  private var block: Int64?
  /// Whether this transaction has removed the counts of `block`, which its pages change.
  private var hasOpenBlock = false
  /// The blocks that this transaction has filled and whose decisions are not counted.
  private var fullBlocks: [Int64] = []
  /// Whether this transaction has not yet put a line into the page in hand.
  private var isFirstLine = true

  /// - Parameters:
  ///   - db: the connection, within a transaction.
  ///   - words: gives numbers to words.
  ///   - filling: counts the decisions of the block that is being filled.
  ///   - sequenceFloor: a lower bound of the first sequence number.
  /// - Throws: `StoredValueError` when the file has a row with nearly the largest sequence number, which this program never
  ///   writes.
  init(_ db: Database, words: WordWriter, filling: FillingBlock, sequenceFloor: Int64) throws {
    self.db = db
    self.words = words
    self.filling = filling
    try filling.begin(db)
    self.sequenceFloor = sequenceFloor
    ids = try IdWriter(db)
    let newest = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM page")
    block = newest.map { $0 >> AuditSchema.blockShift }
    let page = newest ?? 1 - Int64(PageFormat.linesMax)
    let command = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM command") ?? 0
    guard max(page, command) < Int64.max - (1 << 32) else {
      throw StoredValueError(reason: "holds a row with an impossible sequence number")
    }
    next = max(page + Int64(PageFormat.linesMax), command + 1, sequenceFloor)
  }

  /// The number of the kind of the decision that was stored last.
  var lastKind: Int64 { writer.lastKind }

  /// Stores a decision, and adds its names to those of its hour.
  /// - Returns: Whether its id is new.
  mutating func insert(_ line: DecisionLine, _ blocks: inout BlockWriter, _ hours: inout HourNames) throws -> Bool {
    let id = RecordId(line.bytes.span.extracting(line.id.range), of: .decision)
    guard try ids.isNew(line, id) else { return false }
    let page = try self.page ?? open()
    self.page = page
    try ids.add(line, id, to: page)
    try writer.append(line, id: id, words: words)
    filling.add(line)
    let device = KeyHash(.device, line.bytes.span.extracting(line.device.range))
    enter(device)
    let isFirstOfHour = try hours.enter(line.at.microseconds.hourIndex)
    hours.add(device: device, event: noteEvent(of: line, isFirstOfHour: isFirstOfHour))
    if line.command.isPresent { enter(KeyHash(.command, line.bytes.span.extracting(line.command.range))) }
    if writer.isFull { try close(&blocks) }
    return true
  }

  /// Writes the page in hand and the entries of all pages.
  /// - Returns: The first sequence number that is free.
  mutating func finish(_ blocks: inout BlockWriter) throws -> Int64 {
    try close(&blocks)
    for block in fullBlocks { try BlockCounts.write(block, db) }
    fullBlocks.removeAll()
    guard !entries.isEmpty else { return next }
    // In order, so that each page of the index is written once.
    entries.sort()
    let insert = try BoundStatement(db, "INSERT OR IGNORE INTO place VALUES (?, ?, ?)")
    var last: UInt64?
    for entry in entries where entry != last {
      last = entry
      let page = pages[Int(entry & 0xffff_ffff)]
      let hash = Int64(Int32(truncatingIfNeeded: entry >> 32))
      try insert.run(page >> AuditSchema.blockShift, hash, page)
    }
    entries.removeAll()
    pages.removeAll()
    return next
  }

  /// Adds the hash of the event to the entries, unless the line before in the page has the same event.
  /// - Parameter isFirstOfHour: Whether the line before is of another hour.
  /// - Returns: The hash; nil if the line before has the same event and is of the same hour.
  private mutating func noteEvent(of line: DecisionLine, isFirstOfHour: Bool) -> KeyHash? {
    let isNew = writer.hasNewEvent || isFirstLine
    guard isNew || isFirstOfHour else { return nil }
    isFirstLine = false
    let hash = KeyHash(.event, line.bytes.span.extracting(line.event.range))
    if isNew { enter(hash) }
    return hash
  }

  private mutating func enter(_ hash: KeyHash) {
    entries.append((hash.value & 0xffff_ffff_0000_0000) | UInt64(pages.count - 1))
  }

  /// Begins a page: the last one of the store if it is small, else a new one.
  private mutating func open() throws -> Int64 {
    isFirstLine = true
    if pages.isEmpty, let small = try reopen() {
      pages.append(small)
      try enterBlock(of: small)
      return small
    }
    let page = next
    try enterBlock(of: page)
    next += Int64(PageFormat.linesMax)
    pages.append(page)
    writer.begin()
    return page
  }

  /// Notes that a page is about to change. A page in a later block than the one before fills that one.
  private mutating func enterBlock(of page: Int64) throws {
    let new = page >> AuditSchema.blockShift
    if let block, block < new, try !filling.write(block, db) { fullBlocks.append(block) }
    filling.enter(new)
    guard new != block || !hasOpenBlock else { return }
    try BlockCounts.remove(new, db)
    (block, hasOpenBlock) = (new, true)
  }

  /// Continues the last page of the store, if it is small.
  private mutating func reopen() throws -> Int64? {
    let row = try Row.fetchOne(
      db, cached: "SELECT seq, CASE WHEN length(body) < ? THEN body END FROM page ORDER BY seq DESC LIMIT 1",
      [PageFormat.reopenedBytesMax])
    guard let row, let body = try row.optionalBytes(1), try row.integer(0) >= sequenceFloor else { return nil }
    try writer.resume(body, words: WordReader(db))
    return writer.lines > 0 && !writer.isFull ? try row.integer(0) : nil
  }

  /// Writes the page in hand, if there is one.
  private mutating func close(_ blocks: inout BlockWriter) throws {
    guard let page else { return }
    let replace = try BoundStatement(db, "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?)")
    replace.begin()
    replace.set(1, page)
    replace.set(2, Int64(writer.lines))
    replace.set(3, writer.times.min)
    replace.set(4, writer.times.max)
    replace.set(5, writer.bytes)
    try replace.run()
    try ids.close(page)
    try blocks.add(to: page >> AuditSchema.blockShift, from: writer.times.min, to: writer.times.max)
    self.page = nil
  }
}
