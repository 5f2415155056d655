public import Domain

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
