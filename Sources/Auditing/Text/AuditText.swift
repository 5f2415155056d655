public import Domain

/// Writes answers as text for a terminal, with aligned columns and with times in RFC 3339 and UTC. Every text ends in a line
/// feed. Names from outside are escaped.
public enum AuditText {
  /// Returns one line for each decision and command.
  public static func render(_ timeline: DeviceTimeline) -> PrintableText {
    guard timeline.isKnown else { return "device \(timeline.device) is not known\n" }
    var text: PrintableText = "device \(timeline.device): \(Figure.count(timeline.entries.count, "entry", "entries"))\n"
    if timeline.omitted > 0 {
      text += "  (\(Figure.count(timeline.omitted, "older entry", "older entries")) left out)\n"
    }
    var table = TextTable(
      ["time", "verdict", "reason", "kind", "instance", "event", "worth", "price", "left", "command"],
      [.left, .left, .left, .left, .left, .left, .right, .right, .right, .left])
    for entry in timeline.entries {
      switch entry {
      case .decision(let decision):
        table.add(
          Figure.time(decision.at), decision.verdict.rawValue, decision.reason.rawValue, decision.kind.text,
          decision.instance.text, decision.event.text, Figure.decimal(decision.value), Figure.decimal(decision.price),
          decision.tokensLeft.instance.map(String.init) ?? "-", decision.command.text ?? "")
      case .command(let command):
        let kinds = command.serves.map(\.kind.text).joined(separator: "+")
        let charged = command.charged.map { "\($0.ledger.rawValue) \($0.left)" }.joined(separator: ", ")
        table.add(
          Figure.time(command.at), "push", command.surface.rawValue, kinds, "", "", "", "", "",
          command.command.text + (charged.isEmpty ? " free" : " left: \(charged)"))
      }
    }
    return text + table.text(indent: 2)
  }

  /// Returns the counts of an event's decisions by verdict, reason and kind.
  public static func render(_ effect: EventEffect) -> PrintableText {
    guard effect.isKnown else { return "event \(effect.event) is not known\n" }
    var text: PrintableText =
      "event \(effect.event): \(Figure.count(effect.decisions, "decision")) on \(Figure.count(effect.devices, "device")),"
      + " \(Figure.count(effect.commands, "command")), \(effect.pending) still waiting\n"
    if let first = effect.first, let last = effect.last {
      text += "  from \(Figure.time(first)) to \(Figure.time(last))\n"
    }
    var table = TextTable(
      ["decisions", "verdict", "reason", "final", "kind", "devices, for example"],
      [.right, .left, .left, .left, .left, .left])
    for count in effect.counts {
      table.add(
        Figure.grouped(Int64(count.decisions)), count.verdict.rawValue, count.reason.rawValue,
        count.final ? "yes" : "no",
        count.kind.text, count.sampleDevices.map(\.text).joined(separator: " "))
    }
    return text + table.text(indent: 2)
  }

  /// Returns the most frequent values with their share of all decisions.
  public static func render(_ top: Top) -> PrintableText {
    var table = TextTable(["decisions", "share", top.key.rawValue], [.right, .right, .left])
    for row in top.rows {
      table.add(Figure.grouped(Int64(row.decisions)), share(row.decisions, of: top.total), row.name.text)
    }
    let more = top.distinct - top.rows.count
    let rest = more > 0 ? "and \(Figure.grouped(Int64(more))) more; " : ""
    return "\(table.text())\(rest)\(Figure.count(top.total, "decision")) in all\n"
  }

  /// Returns the totals of a store.
  /// - Parameters:
  ///   - summary: The totals.
  ///   - shares: The shares of the objectives, by kind, for the rates at which error budgets are spent; nil if no policy was given.
  public static func render(_ summary: AuditSummary, shares: [Identifier: Double]? = nil) -> PrintableText {
    var facts = TextTable([], [.left, .left])
    if let first = summary.first, let last = summary.last {
      facts.add("time", "\(Figure.time(first)) to \(Figure.time(last))")
    }
    let (events, devices) = (Figure.grouped(Int64(summary.events)), Figure.grouped(Int64(summary.devices)))
    facts.add("events", "\(summary.eventsAreEstimated ? "about " : "")\(events) with a decision")
    facts.add("devices", summary.devicesAreEstimated ? "about \(devices)" : devices)
    facts.add(
      "decisions",
      "\(Figure.grouped(Int64(summary.decisions))) (\(Figure.grouped(Int64(summary.finalDecisions))) of them final)")
    let surfaces = summary.surfaces.map { "\($0.surface.rawValue) \(Figure.grouped(Int64($0.commands)))" }
    facts.add("commands", ([Figure.grouped(Int64(summary.commands))] + surfaces).joined(separator: "  "))
    let charged = summary.charged.map { "\($0.ledger.rawValue) \(Figure.grouped(Int64($0.tokens)))" }
    facts.add("tokens", charged.isEmpty ? "none" : charged.joined(separator: "  "))
    facts.add("store", "\(Figure.grouped(summary.bytes)) bytes")
    var table = TextTable(
      ["decisions", "share", "final", "verdict", "reason"], [.right, .right, .right, .left, .left])
    for outcome in summary.outcomes {
      table.add(
        Figure.grouped(Int64(outcome.decisions)), share(outcome.decisions, of: summary.decisions),
        Figure.grouped(Int64(outcome.final)), outcome.verdict.rawValue, outcome.reason.rawValue)
    }
    let outcomes: PrintableText = summary.outcomes.isEmpty ? facts.text() : "\(facts.text())\n\(table.text())"
    return outcomes + attainments(summary, shares) + holes(summary)
  }

  /// Returns the lines about objectives; empty if no kind has one.
  private static func attainments(_ summary: AuditSummary, _ shares: [Identifier: Double]?) -> PrintableText {
    if summary.attainments.isEmpty { return "" }
    var table = TextTable(
      ["changes in time", "objective", "window", "in time", "changes", "burn"],
      [.left, .right, .left, .right, .right, .right])
    for attainment in summary.attainments {
      let objective = shares?[attainment.kind]
      for counts in attainment.counts {
        table.add(
          attainment.kind.text, objective.map { Figure.percent($0) } ?? "-", window(counts.minutes),
          counts.changes == 0 ? "-" : share(counts.inTime, of: counts.changes), Figure.grouped(Int64(counts.changes)),
          objective.flatMap { counts.burn(share: $0) }.map { Figure.decimal($0) } ?? "-")
      }
    }
    let hint: PrintableText =
      shares == nil ? "The objective and the rate at which its error budget burns need --policy FILE.\n" : ""
    return "\n\(table.text())\(hint)"
  }

  /// Returns the name of a window of objectives.
  private static func window(_ minutes: Int?) -> String {
    guard let minutes else { return "whole store" }
    if minutes == 60 { return "last hour" }
    return minutes % 60 == 0 ? "last \(minutes / 60) h" : "last \(minutes) min"
  }

  /// Returns the lines about records that the store will never have; empty if there are none.
  private static func holes(_ summary: AuditSummary) -> PrintableText {
    guard summary.recordsMissing > 0 else { return "" }
    var text: PrintableText = "\n\(Figure.count(summary.recordsMissing, "record")) will never be in the store\n"
    var table = TextTable([], [.left, .right, .left, .left])
    for hole in summary.holes {
      let cause =
        switch hole.cause {
        case .refused: "refused"
        case .passedOver: "passed over by order"
        case .removed: "removed by retention"
        }
      let place = "\(hole.topic.rawValue)[\(hole.partition)]@\(hole.first)"
      if let line = hole.line {
        table.add("\(place) line \(line)", "1 decision", cause, hole.reason)
      } else {
        table.add(place, Figure.count(hole.records, "record"), cause, hole.reason)
      }
    }
    text += table.text(indent: 2)
    let listed = summary.holes.reduce(0) { $0.addingSaturating($1.records) }
    let others = summary.recordsMissing.subtractingSaturating(listed)
    if others > 0 { text += "  and \(Figure.count(others, "record")) more\n" }
    return text
  }

  /// Returns the result of a retention in one line.
  public static func render(_ report: Retention.Report) -> PrintableText {
    "removed \(Figure.count(report.decisions, "decision")) and \(Figure.count(report.commands, "command"));"
      + " \(Figure.grouped(report.bytesBefore)) bytes before,"
      + " \(Figure.grouped(report.bytesAfter)) after\(report.isComplete ? "" : "; there is more to remove")\n"
  }

  /// A share in percent with one decimal.
  private static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "-" }
    let permille = (Double(part) / Double(whole) * 1000).rounded()
    let tenths = Int(permille)
    return "\(tenths / 10).\(tenths % 10) %"
  }
}

extension AuditText {
  /// Returns one line for each zombie, an activity that no push can update or end, and the number of starts.
  public static func render(_ started: StartedActivities) -> PrintableText {
    var table = TextTable(
      ["since", "kind", "subject", "device", "start", "decisions since", "cause"],
      [.left, .left, .left, .left, .left, .right, .left])
    for zombie in started.zombies {
      table.add(
        Figure.time(zombie.since), zombie.kind.text, zombie.subject.text, zombie.device.text, zombie.command.text,
        Figure.grouped(Int64(zombie.decisionsSince)), zombie.cause.text)
    }
    let young = started.tooNew > 0 ? "; \(Figure.grouped(Int64(started.tooNew))) too new to tell" : ""
    let older = started.omitted > 0 ? "; \(Figure.grouped(Int64(started.omitted))) older not examined" : ""
    let count = Figure.count(started.zombies.count, "zombie")
    let starts = Figure.count(started.starts, "start")
    let list: PrintableText = started.zombies.isEmpty ? "" : table.text()
    return list
      + "\(count) of \(starts): started by push, and no push can update or end it\(young)\(older)\n"
  }
}

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

extension AuditText {
  /// Returns each story: every decision with its explanation, the push, and its charges.
  public static func render(_ answer: WhyAnswer) -> PrintableText {
    var text: PrintableText = "device \(answer.question.device)"
    if let event = answer.event { text += ", event \(event)" }
    text += "\n"
    if answer.stories.isEmpty {
      text += "  no decision is stored for this\n"
      for remark in answer.remarks { text += "  - \(remark)\n" }
    }
    for story in answer.stories { text += render(story) }
    return text
  }

  private static func render(_ story: WhyAnswer.Story) -> PrintableText {
    var text: PrintableText = "\n\(story.kind) \(story.instance) (\(story.surface.rawValue))\n  \(story.outcome)\n"
    for step in story.steps {
      let decision = step.decision
      text += "  \(Figure.time(decision.at))  \(decision.verdict.rawValue) \(decision.reason.rawValue)"
      text += "  \(decision.decision)\n"
      text += "    \(step.explanation)\n"
      if let counterfactual = step.counterfactual { text += "    \(counterfactual)\n" }
      let others = step.otherEvents.map(\.text)
      if !others.isEmpty { text += "    shows, too: \(others.joined(separator: ", "))\n" }
    }
    if let command = story.command {
      text +=
        "  push \(command.command) at \(Figure.time(command.at)), worth sending until \(Figure.time(command.expires))\n"
      for served in command.serves where served.instance == story.instance && served.eventsLeftOut > 0 {
        text +=
          "    shows \(Figure.count(served.events.count, "event")) that it names, and \(Figure.grouped(Int64(served.eventsLeftOut))) more\n"
      }
      if story.charges.isEmpty { text += "    free: no ledger was charged\n" }
      var table = TextTable([], [.left, .left, .right, .left, .right])
      for charge in story.charges {
        table.add("charged", "\(charge.ledger.rawValue) \(charge.owner)", "\(charge.before)", "->", "\(charge.after)")
      }
      text += table.text(indent: 4)
    }
    guard let last = story.steps.last(where: { $0.decision.reason != .duplicate }) ?? story.steps.last else {
      return text
    }
    let policy = last.decision.policy
    text +=
      "  policy \(policy.version) (\(policy.hash)); what to do: \(ReasonText.advice(story, last.decision.reason))\n"
    return text
  }
}
