public import Domain
import GRDB

/// The charges to a device's ledgers, in the form of a bank statement.
public struct BudgetStatement: Equatable, Sendable {
  /// One line of an account: one charge.
  public struct Line: Equatable, Sendable {
    /// The time of the command, in log time.
    public var at: Timestamp
    /// The id of the command.
    public var command: Identifier
    /// The kinds that the push served, each once, in the order of the command.
    public var kinds: [Identifier]
    /// The number of distinct events that the push showed: those whose decisions name the command.
    public var events: Int
    /// The number of tokens that the ledger gained since the previous line: by a new window, the rate, a refund or a larger limit.
    /// It is negative if a smaller limit took tokens away.
    public var change: Int
    /// The number of tokens left after the charge.
    public var left: Int
  }

  /// The number of charges on one calendar day.
  public struct DayCharges: Equatable, Sendable {
    /// The date, such as `2026-11-20`.
    public var date: String
    /// The number of charges on that day.
    public var charges: Int
  }

  /// The charges to one ledger.
  public struct Account: Equatable, Sendable {
    /// The kind of ledger.
    public var ledger: Command.Ledger
    /// The instance, device, activity or app that the ledger belongs to.
    public var owner: Identifier
    /// The number of tokens before the first charge.
    public var opening: Int
    /// The charges, oldest first.
    public var lines: [Line]
    /// The number of tokens after the last charge.
    public var closing: Int
    /// The charges by calendar day, oldest first; days without a charge are left out.
    public var days: [DayCharges]
  }

  /// The id of the device.
  public var device: Identifier
  /// Whether the store has ever seen the device.
  public var isKnown: Bool
  /// The range of log time that the statement covers.
  public var range: TimeRange
  /// The offset of the calendar days from UTC, positive to the east.
  public var utcOffset: TimeSpan
  /// The accounts in order of ledger and owner.
  public var accounts: [Account]
  /// The number of commands in the statement.
  public var commands: Int
  /// The number of commands among them that were charged to no ledger.
  public var free: Int
  /// The number of older commands in the range, which the limit left out.
  public var omitted: Int
  /// The place at which the statement begins; nil if it has the oldest command of the range.
  public var begin: StatementPlace?
}

extension BudgetStatement {
  /// The date of a time at the statement's offset.
  func day(of time: Timestamp) -> String {
    let local = (time + utcOffset).seconds
    return Figure.day(local >= 0 ? local / 86_400 : (local + 1) / 86_400 - 1)
  }

  /// The tokens that were left by the commands before the statement, by ledger and owner.
  struct EarlierBalances {
    private struct AccountName: Hashable {
      var ledger: Command.Ledger
      var owner: Identifier
    }
    private var left: [AccountName: Int] = [:]

    /// Notes the charges of a command. Commands must be noted oldest first.
    mutating func note(_ command: Command) {
      for charge in command.charged { left[AccountName(ledger: charge.ledger, owner: charge.owner)] = charge.left }
    }

    /// Returns the tokens that were left in the account of a charge; nil if it was not charged before.
    func left(in charge: Command.Charge) -> Int? { left[AccountName(ledger: charge.ledger, owner: charge.owner)] }
  }

  /// Adds the charges of a command. Commands must be added oldest first.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - shown: The events of the stored decisions that name it.
  ///   - earlier: The tokens that were left by the commands before the statement.
  mutating func add(
    _ command: Command, showing shown: Set<Identifier> = [], after earlier: EarlierBalances = EarlierBalances()
  ) {
    commands += 1
    if command.charged.isEmpty { free += 1 }
    var kinds: [Identifier] = []
    for served in command.serves where !kinds.contains(served.kind) { kinds.append(served.kind) }
    // Events that a command leaves out of its list may be the same for several instances, so the most of one instance counts.
    let leftOut = command.serves.reduce(0) { max($0, $1.eventsLeftOut) }
    let listed = Set(command.serves.flatMap(\.events))
    // Decisions may be missing in the store.
    let events = max(listed.count.addingSaturating(leftOut), listed.union(shown).count)
    let date = day(of: command.at)
    for charge in command.charged {
      var line = Line(
        at: command.at, command: command.command, kinds: kinds, events: events, change: 0, left: charge.left)
      let known = accounts.firstIndex { $0.ledger == charge.ledger && $0.owner == charge.owner }
      guard let index = known else {
        let opening = earlier.left(in: charge) ?? charge.left.addingSaturating(1)
        line.change = charge.left.addingSaturating(1).subtractingSaturating(opening)
        accounts.append(
          Account(
            ledger: charge.ledger, owner: charge.owner, opening: opening, lines: [line],
            closing: charge.left,
            days: [DayCharges(date: date, charges: 1)]))
        continue
      }
      line.change = charge.left.addingSaturating(1).subtractingSaturating(accounts[index].closing)
      accounts[index].lines.append(line)
      accounts[index].closing = charge.left
      if accounts[index].days.last?.date == date {
        accounts[index].days[accounts[index].days.count - 1].charges += 1
      } else {
        accounts[index].days.append(DayCharges(date: date, charges: 1))
      }
    }
  }
}

/// The place of a command among those to its device, at which a part of a statement begins. It stays right when newer commands are
/// stored, and when older ones are removed.
public struct StatementPlace: Equatable, Sendable {
  /// The time of the command.
  public var at: Timestamp
  /// The partition of its id; −1 for an id of another form.
  public var partition: Int64
  /// The offset of its id; the hash for an id of another form.
  public var offset: Int64
  /// The ordinal of its id.
  public var ordinal: Int64

  /// Makes a place.
  public init(at: Timestamp, partition: Int64, offset: Int64, ordinal: Int64) {
    self.at = at
    self.partition = partition
    self.offset = offset
    self.ordinal = ordinal
  }

  /// Makes the place of a row.
  init(_ row: CommandRow) {
    self.init(
      at: Timestamp(microseconds: row.at), partition: row.id.partition, offset: row.id.offset, ordinal: row.id.ordinal)
  }

  /// Whether a row comes before the place, in the order of `CommandRow.inOrder`.
  func isBehind(_ row: CommandRow) -> Bool {
    (row.at, row.id.partition, row.id.offset, row.id.ordinal) < (at.microseconds, partition, offset, ordinal)
  }
}

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
