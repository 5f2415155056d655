import Auditing
import Domain
import Serving

/// The page that says why a device did, or did not, reload.
struct WhyPage {
  private let answer: WhyAnswer
  private let time: PageTime
  private var device: Identifier { answer.question.device }

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ desk: ConsoleDesk) throws -> HTTPAnswer {
    let time = try request.pageZone()
    guard let device = request.query["device"] else {
      return try ConsolePage(
        title: "Why did, or didn’t, a device reload?", sections: [form(nil, time)]
      ).answer(request)
    }
    let question = WhyQuestion(
      device: Identifier(device), instance: request.query["instance"].map { Identifier($0) },
      kind: request.query["kind"].map { Identifier($0) }, event: request.query["event"].map { Identifier($0) },
      at: try request.pageTime("at", time))
    (desk.device, desk.event) = (question.device, question.event)
    let page = try WhyPage(answer: desk.store().why(question), time: time)
    return try page.page.answer(request)
  }

  private static func form(_ question: WhyQuestion?, _ time: PageTime) -> PageSection {
    PageSection(
      heading: question == nil ? "Ask" : "Ask again",
      forms: [
        PageForm(
          action: "/why",
          fields: [
            .init(name: "device", label: "Device", value: question?.device.text ?? "", isNeeded: true),
            .init(
              name: "event", label: "Event", value: question?.event.text ?? "",
              hint: "empty: the newest one up to the time"),
            .init(name: "instance", label: "Instance", value: question?.instance.text ?? "", hint: "empty: all"),
            .init(
              name: "at", label: "Time", value: question?.at.map(time.text) ?? "",
              hint: "2013-03-08 21:05, \(time.zone)"),
          ] + (time.query.map { [.init(name: "utc-offset", label: "", sort: .hidden, value: $0)] } ?? []),
          button: "Why?")
      ])
  }

  private var page: ConsolePage {
    var lead = [PageCell("Device "), PageCell(device.text, link: PageLink.device(device))]
    if let event = answer.event { lead += [", event ", PageCell(event.text, link: PageLink.event(event))] }
    let title =
      switch answer.stories.count {
      case 0: "No decision is stored for this"
      case 1: "\(answer.stories[0].kind): \(Self.short(answer.stories[0].outcome))"
      default: "\(answer.stories.count) instances: what happened to each"
      }
    let wasAsked = answer.question.event != nil || answer.event == nil
    if !wasAsked { lead.append(", the newest one that was decided. ") }
    var sections = answer.stories.enumerated().map { section($1, $0) }
    if answer.stories.isEmpty {
      sections = [PageSection(heading: "What the store knows", list: answer.remarks.map { [PageCell($0)] })]
    }
    return ConsolePage(
      title: title, topic: "Why", lead: lead, sections: sections + [Self.form(answer.question, time)],
      status: answer.stories.isEmpty ? 404 : 200)
  }

  private func section(_ story: WhyAnswer.Story, _ place: Int) -> PageSection {
    var section = PageSection(
      heading: "\(story.kind) \(story.instance) (\(story.surface.rawValue)): \(Self.short(story.outcome))")
    guard let last = story.steps.last(where: { $0.decision.reason != .duplicate }) ?? story.steps.last else {
      return section
    }
    let decision = last.decision
    section.paragraphs = [
      [.verdict(decision.verdict), " ", .reason(decision.reason), PageCell(": \(last.explanation).")]
    ]
    if let counterfactual = last.counterfactual {
      section.paragraphs.append([PageCell("What would have changed it: \(counterfactual).")])
    }
    section.paragraphs.append([PageCell("What to do: \(ReasonText.advice(story, decision.reason)).")])
    section.facts = facts(decision)
    // The last step that was weighed has the terms.
    if let weighed = story.steps.last(where: { $0.decision.isWeighed })?.decision,
      let drawing = WorthChart.drawing(weighed, id: "worth-\(place)")
    {
      section.figures = [
        .init(
          drawing: drawing,
          caption:
            "At \(time.text(weighed.at)) \(time.zone): worth is \(Figure.looks(weighed.looks)) expected in the next 20 minutes × (\(Figure.decimal(weighed.wrong)) wrong)^1.5 = \(Figure.decimal(weighed.worth)). A push is made when its worth is at least the price and no limit holds it back."
        )
      ]
    }
    section.tables = [steps(story, "steps-\(place + 1)")]
    if let command = story.command { section.tables.append(charges(story, command, "charges-\(place + 1)")) }
    return section
  }

  /// Returns an outcome without the numbers that explain it: they follow below.
  private static func short(_ outcome: String) -> String {
    outcome.firstRange(of: ": ").map { String(outcome[..<$0.lowerBound]) } ?? outcome
  }

  private func facts(_ decision: Decision) -> [(name: String, value: [PageCell])] {
    func tokens(_ count: Int?) -> [PageCell] { [PageCell(count.map { Figure.tokens($0) } ?? "not counted")] }
    return [
      ("Relevance", [PageCell(Figure.decimal(decision.relevance))]),
      ("Screen wrong", [PageCell(Figure.percent(decision.wrong))]),
      ("Looks expected", [PageCell(Figure.decimal(decision.looks))]),
      ("Worth", [PageCell(Figure.decimal(decision.value))]), ("Price", [PageCell(Figure.decimal(decision.price))]),
      ("Instance has left", tokens(decision.tokensLeft.instance)),
      ("Device has left", tokens(decision.tokensLeft.device)),
      ("App has left", tokens(decision.tokensLeft.app)),
      ("Policy", [PageCell(decision.policy.version.text), " ", PageCell(decision.policy.hash.text, tone: .dim)]),
    ]
  }

  private func steps(_ story: WhyAnswer.Story, _ name: String) -> PageTable {
    var table = PageTable(
      name: name, caption: "Step by step",
      columns: ["Time, \(time.zone)", "Verdict", "Reason", "#Worth", "#Price", "In words"],
      empty: "No decision.",
      csv: PageLink.to(
        "/v1/why",
        [
          "format": "csv", "device": device.text, "event": answer.event.text, "instance": answer.question.instance.text,
        ]))
    table.rows = story.steps.map { step in
      [
        PageCell(time.text(step.decision.at), detail: step.decision.decision.text), .verdict(step.decision.verdict),
        .reason(step.decision.reason), .decimal(step.decision.value), .decimal(step.decision.price),
        PageCell(step.explanation, detail: step.counterfactual),
      ]
    }
    return table
  }

  private func charges(_ story: WhyAnswer.Story, _ command: Command, _ name: String) -> PageTable {
    var table = PageTable(
      name: name,
      caption:
        "The push \(command.command) at \(time.text(command.at)), worth sending until \(time.text(command.expires))",
      columns: ["Ledger", "Owner", "#Before", "#After", "Push"], empty: "The push was free: no ledger was charged.")
    table.rows = story.charges.map {
      [
        PageCell($0.ledger.rawValue), PageCell($0.owner.text), .number($0.before), .number($0.after),
        PageCell(command.command.text, link: PageLink.command(command.command)),
      ]
    }
    return table
  }
}
