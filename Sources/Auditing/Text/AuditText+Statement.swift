public import Domain

extension AuditText {
  /// Returns the charges of each account with the tokens left after each.
  public static func render(_ statement: BudgetStatement) -> PrintableText {
    guard statement.isKnown else { return "device \(statement.device) is not known\n" }
    var text: PrintableText =
      "device \(statement.device): \(Figure.count(statement.commands, "command")) (\(statement.free) of them free)\n"
    if statement.omitted > 0 { text += "  (\(Figure.count(statement.omitted, "older command")) left out)\n" }
    for account in statement.accounts {
      text += "\n\(account.ledger.rawValue) \(account.owner)\n"
      var table = TextTable(
        ["time", "left", "change", "charged for", "command"], [.left, .right, .right, .left, .left])
      table.add("opening", "\(account.opening)", "", "", "")
      for line in account.lines {
        let events = Figure.count(line.events, "event")
        table.add(
          Figure.time(line.at), "\(line.left)",
          line.change == 0 ? "" : line.change > 0 ? "+\(line.change)" : "\(line.change)",
          "\(line.kinds.map(\.text).joined(separator: "+")) (\(events))", line.command.text)
      }
      text += table.text(indent: 2)
      let days = account.days.map { "\($0.date) \($0.charges)" }.joined(separator: ", ")
      text += "  charges by day (\(offset(statement.utcOffset))): \(days)\n"
    }
    return text
  }

  /// An offset from UTC such as `UTC+5:30`.
  private static func offset(_ span: TimeSpan) -> String {
    let minutes = span.microseconds / 60_000_000
    guard minutes != 0 else { return "UTC" }
    let size = minutes.magnitude
    let rest = size % 60
    return "UTC\(minutes < 0 ? "-" : "+")\(size / 60)\(rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)")"
  }
}
