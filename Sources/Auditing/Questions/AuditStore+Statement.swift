public import Domain
import GRDB

extension AuditStore {
  /// Returns the charges by the latest `limit` commands to a device in a range.
  /// - Parameters:
  ///   - device: the id of the device.
  ///   - range: the range of log time.
  ///   - utcOffset: the offset of the calendar days from UTC, positive to the east.
  ///   - limit: the greatest number of commands.
  /// - Throws: `AuditError` when the file cannot be read.
  public func statement(
    _ device: Identifier, range: TimeRange = .all, utcOffset: TimeSpan = .zero, limit: Int = 1_000
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
