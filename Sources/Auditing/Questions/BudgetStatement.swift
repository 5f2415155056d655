public import Domain
import GRDB

/// What a device was charged, like the statement of a bank account.
public struct BudgetStatement: Equatable, Sendable {
  /// One charge.
  public struct Line: Equatable, Sendable {
    public var at: Timestamp
    public var command: String
    /// Kinds that the push served, in the command's order, each once.
    public var kinds: [String]
    public var events: Int
    /// Tokens that came back to the ledger since the line before: a new window, the rate, a refund.
    public var refilled: Int
    public var left: Int
  }

  /// The charges of one calendar day.
  public struct Day: Equatable, Sendable {
    /// `2026-11-20`
    public var date: String
    public var charges: Int
  }

  /// One ledger of one owner.
  public struct Account: Equatable, Sendable {
    public var ledger: Command.Ledger
    /// Instance, device or app.
    public var owner: String
    /// Tokens before the first charge.
    public var opening: Int
    public var lines: [Line]
    /// Tokens after the last charge.
    public var closing: Int
    public var days: [Day]
  }

  public var device: String
  public var isKnown: Bool
  public var range: TimeRange
  /// Of the calendar days, east of UTC.
  public var utcOffset: TimeSpan
  /// In order of ledger and owner.
  public var accounts: [Account]
  public var commands: Int
  /// Commands that were charged to nobody.
  public var free: Int
  /// Older commands of the range that the limit left out.
  public var omitted: Int
}

extension AuditStore {
  /// The charges of a device within a range, the latest `limit` commands of it. Days are those of a fixed offset to UTC.
  public func statement(
    _ device: String, range: TimeRange = .all, utcOffset: TimeSpan = .zero, limit: Int = 1_000
  ) throws(AuditError) -> BudgetStatement {
    try read { db in
      let names = NameReader(db)
      var statement = BudgetStatement(
        device: device, isKnown: false, range: range, utcOffset: utcOffset, accounts: [], commands: 0, free: 0,
        omitted: 0)
      guard let number = try names.number(device, in: .device) else { return statement }
      statement.isKnown = true
      let rows = try db.commands(toDevice: number, in: range)
      statement.omitted = max(0, rows.count - limit)
      for row in rows.suffix(max(0, limit)) { statement.add(try row.command(names)) }
      statement.accounts.sort { ($0.ledger.code, $0.owner) < ($1.ledger.code, $1.owner) }
      return statement
    }
  }
}

extension BudgetStatement {
  /// The calendar day of a time.
  func day(of time: Timestamp) -> String {
    let local = (time + utcOffset).seconds
    return Figure.day(local >= 0 ? local / 86_400 : (local + 1) / 86_400 - 1)
  }

  fileprivate mutating func add(_ command: Command) {
    commands += 1
    if command.charged.isEmpty { free += 1 }
    var kinds: [String] = []
    for served in command.serves where !kinds.contains(served.kind) { kinds.append(served.kind) }
    let events = Set(command.serves.flatMap(\.events)).count
    let date = day(of: command.at)
    for charge in command.charged {
      var line = Line(
        at: command.at, command: command.command, kinds: kinds, events: events, refilled: 0, left: charge.left)
      let known = accounts.firstIndex { $0.ledger == charge.ledger && $0.owner == charge.owner }
      guard let index = known else {
        accounts.append(
          Account(
            ledger: charge.ledger, owner: charge.owner, opening: charge.left.addingSaturated(1), lines: [line],
            closing: charge.left,
            days: [Day(date: date, charges: 1)]))
        continue
      }
      line.refilled = charge.left.addingSaturated(1).subtractingSaturated(accounts[index].closing)
      accounts[index].lines.append(line)
      accounts[index].closing = charge.left
      if accounts[index].days.last?.date == date {
        accounts[index].days[accounts[index].days.count - 1].charges += 1
      } else {
        accounts[index].days.append(Day(date: date, charges: 1))
      }
    }
  }
}
