import Domain
import GRDB

/// Writes the records of one batch within one transaction.
struct BatchWriter {
  /// The number of holes that a store keeps.
  /// - Beyond: the hole is not stored; only a critical line of the log tells of it.
  private static let holesMax = 10_000

  private(set) var counts = StoredCounts(decisions: 0, commands: 0, duplicates: 0)
  private let db: Database
  private let words: WordWriter
  private let commands, starts: BoundStatement
  private var pages: PageStorer
  private var blocks: BlockWriter
  private var hours: HourNames
  /// The sequence number of the next command.
  private var next: Int64 = 0
  private var tally: [TallyKey: Int64] = [:]
  private var commandTally: [CommandTallyKey: Int64] = [:]

  private struct TallyKey: Hashable {
    var hour: Int64
    var code: Int64
    var kind: Int64
  }
  private struct CommandTallyKey: Hashable {
    var hour: Int64
    var surface: Int64
    /// The code of the ledger whose charges are counted; 0 counts the commands themselves.
    var ledger: Int64
  }

  /// - Parameters:
  ///   - db: the connection, within a transaction.
  ///   - cache: the numbers of words that are known.
  ///   - filling: counts the decisions of the block that is being filled.
  ///   - sequenceFloor: a lower bound of the first sequence number.
  /// - Throws: `StoredValueError` when the file has a row with nearly the largest sequence number, which this program never
  ///   writes.
  init(_ db: Database, words cache: WordCache, filling: FillingBlock, sequenceFloor: Int64) throws {
    self.db = db
    words = try WordWriter(db, cache: cache)
    blocks = try BlockWriter(db)
    hours = HourNames(db)
    pages = try PageStorer(db, words: words, filling: filling, sequenceFloor: sequenceFloor)
    commands = try BoundStatement(
      db,
      """
      INSERT OR IGNORE INTO command (seq, partition, "offset", ordinal, device, surface, at, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    starts = try BoundStatement(db, "INSERT INTO activityStart (at, seq) VALUES (?, ?)")
  }

  /// Stores a decision, unless its id is stored already.
  mutating func insert(_ line: DecisionLine) throws {
    guard try pages.insert(line, &blocks, &hours) else {
      counts.duplicates += 1
      return
    }
    counts.decisions += 1
    let key = TallyKey(hour: line.at.microseconds.hourIndex, code: DecisionCode(line).code, kind: pages.lastKind)
    tally[key, default: 0] += 1
  }

  /// Stores a command, unless its id is stored already. Decisions must be stored first.
  mutating func insert(_ command: Command) throws {
    if next == 0 { next = try pages.finish(&blocks) }
    let at = command.at.microseconds
    let parsed = RecordId(command.command, of: .command)
    var id = parsed ?? RecordId(partition: -1, offset: KeyHash(.id, command.command).long, ordinal: 0)
    if parsed == nil {
      guard let ordinal = try freeOrdinal(command.command, id) else {
        counts.duplicates += 1
        return
      }
      id.ordinal = ordinal
    }
    commands.begin()
    commands.set(1, next)
    commands.set(2, id.partition)
    commands.set(3, id.offset)
    commands.set(4, id.ordinal)
    commands.set(5, KeyHash(.device, command.device).long)
    commands.set(6, command.surface.code)
    commands.set(7, at)
    commands.set(8, try CommandBody.encode(command, hasOddId: parsed == nil, words: words))
    try commands.run()
    guard db.changesCount > 0 else {
      counts.duplicates += 1
      return
    }
    counts.commands += 1
    if command.subject != nil { try starts.run(at, next) }
    var key = CommandTallyKey(hour: at.hourIndex, surface: command.surface.code, ledger: 0)
    commandTally[key, default: 0] += 1
    for charge in command.charged {
      key.ledger = charge.ledger.code
      commandTally[key, default: 0] += 1
    }
    try blocks.add(to: next >> AuditSchema.blockShift, from: at, to: at)
    next += 1
  }

  /// Returns a number that tells an id from other ids of another form with the same hash; nil if the id is stored already.
  private func freeOrdinal(_ name: Identifier, _ id: RecordId) throws -> Int64? {
    let reader = WordReader(db)
    let sql = #"SELECT \#(CommandRow.columns) FROM command WHERE partition = -1 AND "offset" = ? ORDER BY ordinal"#
    var free: Int64 = 0
    for row in try Row.fetchAll(db, sql: sql, arguments: [id.offset]) {
      let row = try CommandRow(row)
      if try row.command(reader).command == name { return nil }
      free = row.id.ordinal.addingSaturating(1)
    }
    return free
  }

  /// Writes the counts and times that were collected over the batch, the positions and the holes.
  mutating func finish(positions: [AuditPosition], holes: [AuditHole]) throws {
    _ = try pages.finish(&blocks)
    try blocks.finish()
    try hours.finish()
    let tallies = try BoundStatement(
      db, "INSERT INTO tally VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count")
    for (key, count) in tally { try tallies.run(key.hour, key.code, key.kind, count) }
    let commandTallies = try BoundStatement(
      db, "INSERT INTO commandTally VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count")
    for (key, count) in commandTally { try commandTallies.run(key.hour, key.surface, key.ledger, count) }
    let progress = try BoundStatement(
      db, "INSERT INTO position VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET next = max(next, excluded.next)")
    for position in positions { try progress.run(position.topic.code, Int64(position.partition), position.next) }
    for hole in holes { try insert(hole) }
  }

  private func insert(_ hole: AuditHole) throws {
    let insert = try BoundStatement(
      db,
      """
      INSERT INTO hole SELECT ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM hole) < \(Self.holesMax)
      ON CONFLICT DO NOTHING
      """)
    insert.begin()
    let (topic, line) = (hole.topic.code, Int64(hole.line ?? 0))
    for (index, value) in [topic, Int64(hole.partition), hole.first, hole.next, line, hole.cause.code].enumerated() {
      insert.set(Int32(index + 1), value)
    }
    insert.set(7, Identifier(hole.reason))
    try insert.run()
  }
}
