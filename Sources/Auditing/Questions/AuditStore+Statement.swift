public import Domain
import GRDB

extension AuditStore {
  /// Returns the charges by the latest `limit` commands to a device in a range.
  /// - Parameters:
  ///   - device: the id of the device.
  ///   - range: the range of log time.
  ///   - utcOffset: the offset of the calendar days from UTC, positive to the east.
  ///   - limit: the greatest number of commands.
  ///   - place: the place at which a newer part of the statement began; nil for the newest part.
  /// - Throws: `AuditError` when the file cannot be read.
  public func statement(
    _ device: Identifier, range: TimeRange = .all, utcOffset: TimeSpan = .zero, limit: Int = 1_000,
    before place: StatementPlace? = nil
  ) throws(AuditError) -> BudgetStatement {
    try read { db in
      let words = WordReader(db)
      var statement = BudgetStatement(
        device: device, isKnown: false, range: range, utcOffset: utcOffset, accounts: [], commands: 0, free: 0,
        omitted: 0)
      var rows = try db.commands(toDevice: device, in: range, words: words)
      statement.isKnown = try !rows.isEmpty || db.isKnown(device: device, words: words)
      if let place { rows = Array(rows.prefix { place.isBehind($0) }) }
      statement.omitted = max(0, rows.count - limit)
      var earlier = BudgetStatement.EarlierBalances()
      for row in rows.prefix(statement.omitted) { earlier.note(try row.command(words)) }
      for row in rows.dropFirst(statement.omitted) {
        let command = try row.command(words)
        statement.add(command, showing: try db.events(shownBy: command, words), after: earlier)
      }
      if statement.omitted > 0 { statement.begin = rows[statement.omitted...].first.map(StatementPlace.init) }
      statement.accounts.sort { ($0.ledger.code, $0.owner) < ($1.ledger.code, $1.owner) }
      return statement
    }
  }
}

extension Database {
  /// Returns the events of the decisions that name a command: those of its list, and those that came at its log time and joined it.
  fileprivate func events(shownBy command: Command, _ words: WordReader) throws -> Set<Identifier> {
    var events: Set<Identifier> = []
    let instant = TimeRange(from: command.at, to: command.at + TimeSpan(microseconds: 1))
    try scan(.command, command.command, in: instant, words: words) { line in
      events.insert(Identifier(decoding: line.event))
      return true
    }
    return events
  }
}
