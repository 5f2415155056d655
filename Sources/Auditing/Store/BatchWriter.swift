import Domain
import GRDB

/// Writes the rows of one batch within one transaction.
struct BatchWriter {
  private(set) var counts = StoredCounts(decisions: 0, commands: 0, duplicates: 0)
  private let db: Database
  private let caches: NameCaches
  private var names: NameWriter
  private let decisions: BoundStatement
  private let commands: BoundStatement
  /// The sequence number of the next row.
  private var next: Int64
  private var block: Int64
  private var blockTimes: (min: Int64, max: Int64)?
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
  ///   - caches: the numbers of strings that are known.
  ///   - sequenceFloor: a lower bound of the first sequence number.
  /// - Throws: `StoredValueError` when the file has a row with nearly the largest sequence number, which this program never
  ///   writes.
  init(_ db: Database, names caches: NameCaches, sequenceFloor: Int64) throws {
    self.db = db
    self.caches = caches
    let last =
      try Int64.fetchOne(
        db, sql: "SELECT max(ifnull((SELECT max(seq) FROM decision), 0), ifnull((SELECT max(seq) FROM command), 0))")
      ?? 0
    guard last < Int64.max - (1 << 32) else {
      throw StoredValueError(reason: "holds a row with an impossible sequence number")
    }
    next = max(last + 1, sequenceFloor)
    block = next >> AuditSchema.blockShift
    names = try NameWriter(db, caches: caches, age: block >> AuditSchema.ageShift)
    decisions = try BoundStatement(
      db,
      """
      INSERT OR IGNORE INTO decision (seq, partition, "offset", ordinal, event, device, instance, code, at, relevance,
        wrong, looks, value, price, leftInstance, leftDevice, leftApp, untilAfter, command, policy, trace, causes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    commands = try BoundStatement(
      db,
      """
      INSERT OR IGNORE INTO command (seq, partition, "offset", ordinal, device, surface, at, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
  }

  mutating func insert(_ decision: Decision) throws {
    let id = try identify(decision.decision, of: .decision)
    let kind = try names.kind(decision.kind)
    let at = decision.at.microseconds
    let code = DecisionCode(decision).code
    decisions.begin()
    decisions.set(1, next)
    decisions.set(2, id.partition)
    decisions.set(3, id.offset)
    decisions.set(4, id.ordinal)
    let event = try names.event(decision.event)
    decisions.set(5, event)
    decisions.set(6, try names.device(decision.device))
    decisions.set(7, try names.instance(decision.instance, kind: kind, surface: decision.surface))
    decisions.set(8, code)
    decisions.set(9, at)
    StoredNumber.set(10, decision.relevance, in: decisions)
    StoredNumber.set(11, decision.wrong, in: decisions)
    StoredNumber.set(12, decision.looks, in: decisions)
    StoredNumber.set(13, decision.value, in: decisions)
    StoredNumber.set(14, decision.price, in: decisions)
    decisions.set(15, decision.tokensLeft.instance)
    decisions.set(16, decision.tokensLeft.device)
    decisions.set(17, decision.tokensLeft.app)
    if let until = decision.until { decisions.set(18, until.microseconds &- at) }
    if let command = decision.command { decisions.set(19, try reference(command, from: id)) }
    decisions.set(20, try names.policy(decision.policy))
    if let trace = decision.traceparent { decisions.set(21, try names.text(Identifier(trace))) }
    if decision.events.count != 1 || decision.events[0] != decision.event {
      var causes = BinaryWriter()
      for cause in decision.events { causes.varint(UInt64(bitPattern: try names.event(cause))) }
      decisions.set(22, causes.bytes)
    }
    try decisions.run()
    guard db.changesCount > 0 else {
      counts.duplicates += 1
      return
    }
    counts.decisions += 1
    tally[TallyKey(hour: at.hourIndex, code: code, kind: kind), default: 0] += 1
    try wrote(at: at)
  }

  mutating func insert(_ command: Command) throws {
    let id = try identify(command.command, of: .command)
    let at = command.at.microseconds
    commands.begin()
    commands.set(1, next)
    commands.set(2, id.partition)
    commands.set(3, id.offset)
    commands.set(4, id.ordinal)
    commands.set(5, try names.device(command.device))
    commands.set(6, command.surface.code)
    commands.set(7, at)
    commands.set(8, try CommandBody.encode(command, names: names))
    try commands.run()
    guard db.changesCount > 0 else {
      counts.duplicates += 1
      return
    }
    counts.commands += 1
    var key = CommandTallyKey(hour: at.hourIndex, surface: command.surface.code, ledger: 0)
    commandTally[key, default: 0] += 1
    for charge in command.charged {
      key.ledger = charge.ledger.code
      commandTally[key, default: 0] += 1
    }
    try wrote(at: at)
  }

  /// Writes the counts and times that were collected over the batch, the positions and the holes.
  mutating func finish(positions: [TopicPosition], holes: [AuditHole]) throws {
    try closeBlock()
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
      INSERT INTO hole SELECT ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM hole) < \(AuditHole.storedMax)
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

  /// Returns the columns that store an id. For an id of another form, they are partition −1 and the number of its text.
  private func identify(_ id: Identifier, of kind: RecordId.Kind) throws -> RecordId {
    if let parsed = RecordId(id, of: kind) { return parsed }
    return RecordId(partition: -1, offset: try names.text(id), ordinal: 0)
  }

  /// Returns the value of a decision's column `command`: the ordinal of a command of the same log record, otherwise −1
  /// minus the number of the id's text.
  private func reference(_ command: Identifier, from decision: RecordId) throws -> Int64 {
    if let id = RecordId(command, of: .command), id.partition == decision.partition,
      id.offset == decision.offset
    {
      return id.ordinal
    }
    return -1 - (try names.text(command))
  }

  /// Notes that a row was written, and begins a new block where the old one is full.
  private mutating func wrote(at: Int64) throws {
    blockTimes = (min(blockTimes?.min ?? at, at), max(blockTimes?.max ?? at, at))
    next += 1
    if next >> AuditSchema.blockShift != block {
      try closeBlock()
      block = next >> AuditSchema.blockShift
      if block >> AuditSchema.ageShift != names.age {
        names = try NameWriter(db, caches: caches, age: block >> AuditSchema.ageShift)
      }
    }
  }

  /// Writes the first and the last time of the current block.
  private mutating func closeBlock() throws {
    guard let times = blockTimes else { return }
    let blocks = try BoundStatement(
      db,
      """
      INSERT INTO block VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET atMin = min(atMin, excluded.atMin), atMax = max(atMax, excluded.atMax)
      """)
    try blocks.run(block, times.min, times.max)
    blockTimes = nil
  }
}
