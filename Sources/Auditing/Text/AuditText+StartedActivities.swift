public import Domain

extension AuditText {
  /// Returns one line for each zombie, an activity that no push can update or end, and the number of starts.
  public static func render(_ started: StartedActivities) -> PrintableText {
    var table = TextTable(
      ["since", "kind", "subject", "device", "start", "decisions since"], [.left, .left, .left, .left, .left, .right])
    for zombie in started.zombies {
      table.add(
        Figure.time(zombie.since), zombie.kind.text, zombie.subject.text, zombie.device.text, zombie.command.text,
        Figure.grouped(Int64(zombie.decisionsSince)))
    }
    let young = started.tooNew > 0 ? "; \(Figure.grouped(Int64(started.tooNew))) too new to tell" : ""
    let older = started.omitted > 0 ? "; \(Figure.grouped(Int64(started.omitted))) older not examined" : ""
    let count = Figure.count(started.zombies.count, "zombie")
    let starts = Figure.count(started.starts, "start")
    let list: PrintableText = started.zombies.isEmpty ? "" : table.text()
    return list
      + "\(count) of \(starts): started by push, and no activity of the kind showed up on the device\(young)\(older)\n"
  }
}
