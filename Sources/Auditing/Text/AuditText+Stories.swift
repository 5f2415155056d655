import Domain

extension AuditText {
  /// A story that a person can read aloud: each decision with its sentence, the push and what it cost.
  public static func render(_ answer: WhyAnswer) -> String {
    var text = "device \(answer.question.device)"
    if let event = answer.event { text += ", event \(event)" }
    text += "\n"
    if answer.stories.isEmpty {
      text += "  no decision is stored for this\n"
      for remark in answer.remarks { text += "  - \(remark)\n" }
    }
    for story in answer.stories { text += render(story) }
    return text
  }

  private static func render(_ story: WhyAnswer.Story) -> String {
    var text = "\n\(story.kind) \(story.instance) (\(story.surface.rawValue))\n  \(story.outcome)\n"
    for step in story.steps {
      let decision = step.decision
      text += "  \(Figure.time(decision.at))  \(decision.verdict.rawValue) \(decision.reason.rawValue)"
      text += "  \(decision.decision)\n"
      text += "    \(step.explanation)\n"
      if let counterfactual = step.counterfactual { text += "    \(counterfactual)\n" }
      let others = decision.events.filter { $0 != decision.event }
      if !others.isEmpty { text += "    together with \(others.joined(separator: ", "))\n" }
    }
    if let command = story.command {
      text +=
        "  push \(command.command) at \(Figure.time(command.at)), worth sending until \(Figure.time(command.expires))\n"
      if story.charges.isEmpty { text += "    free: no ledger was charged\n" }
      var table = TextTable([], [.left, .left, .right, .left, .right])
      for charge in story.charges {
        table.add("charged", "\(charge.ledger.rawValue) \(charge.owner)", "\(charge.before)", "->", "\(charge.after)")
      }
      text += table.text(indent: 4)
    }
    guard let last = story.steps.last else { return text }
    let policy = last.decision.policy
    text += "  policy \(policy.version) (\(policy.hash)); what to do: \(ReasonText.advice(last.decision.reason))\n"
    return text
  }

  /// Charges with the running rest, one account after the other.
  public static func render(_ statement: BudgetStatement) -> String {
    guard statement.isKnown else { return "device \(statement.device) is not known\n" }
    var text =
      "device \(statement.device): \(Figure.count(statement.commands, "command")), of which free \(statement.free)\n"
    if statement.omitted > 0 { text += "  (\(Figure.count(statement.omitted, "older command")) left out)\n" }
    for account in statement.accounts {
      text += "\n\(account.ledger.rawValue) \(account.owner)\n"
      var table = TextTable(
        ["time", "left", "refilled", "charged for", "command"], [.left, .right, .right, .left, .left])
      table.add("opening", "\(account.opening)", "", "", "")
      for line in account.lines {
        let events = Figure.count(line.events, "event")
        table.add(
          Figure.time(line.at), "\(line.left)",
          line.refilled == 0 ? "" : line.refilled > 0 ? "+\(line.refilled)" : "\(line.refilled)",
          "\(line.kinds.joined(separator: "+")) (\(events))", line.command)
      }
      text += table.text(indent: 2)
      let days = account.days.map { "\($0.date) \($0.charges)" }.joined(separator: ", ")
      text += "  charges by day (\(offset(statement.utcOffset))): \(days)\n"
    }
    return text
  }

  private static func offset(_ span: TimeSpan) -> String {
    let minutes = span.microseconds / 60_000_000
    guard minutes != 0 else { return "UTC" }
    let size = minutes.magnitude
    let rest = size % 60
    return "UTC\(minutes < 0 ? "-" : "+")\(size / 60)\(rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)")"
  }
}
