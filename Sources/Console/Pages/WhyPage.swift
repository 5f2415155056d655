import Auditing
import Domain
import Serving

/// The page that says why a device did, or did not, reload.
struct WhyPage {
  /// The most instances that are explained whole.
  /// - Beyond: others are in a table, each with a link to its explanation.
  private static let storiesMax = 12
  /// The most steps of an instance that are listed.
  /// - Beyond: the first ones are in the CSV only.
  private static let stepsMax = 25
  private let answer: WhyAnswer
  private let time: PageTime
  private var device: Identifier { answer.question.device }

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    guard let device = request.query["device"] else {
      return try ConsolePage(
        title: "Why did, or didn’t, a device reload?", sections: [form(nil, request.pageZone())]
      ).answer(request)
    }
    let time = try request.pageZone(KnownRegistration(Identifier(device), context.settings.devices).time)
    let question = WhyQuestion(
      device: Identifier(device), instance: request.query["instance"].map { Identifier($0) },
      kind: request.query["kind"].map { Identifier($0) }, event: request.query["event"].map { Identifier($0) },
      at: try request.pageTime("at", time))
    (context.device, context.event) = (question.device, question.event)
    let page = try WhyPage(answer: context.store().why(question), time: time)
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
            .init(name: "kind", label: "Kind", value: question?.kind.text ?? "", hint: "empty: all"),
            .init(
              name: "at", label: "Time", value: question?.at.map(time.text) ?? "",
              hint: "2013-03-08 21:05, \(time.zone)"),
          ] + (time.query.map { [.init(name: "utc-offset", label: "", sort: .hidden, value: $0)] } ?? []),
          button: "Why?")
      ])
  }

  private var page: ConsolePage {
    var lead = [PageCell("Device "), PageCell(device.text, link: PageLink.device(device, time))]
    if let event = answer.event { lead += [", event ", PageCell(event.text, link: PageLink.event(event))] }
    let title =
      switch answer.stories.count {
      case 0: "No decision is stored for this"
      case 1: "\(answer.stories[0].kind): \(Self.short(answer.stories[0].outcome))"
      default: "\(answer.stories.count) instances: what happened to each"
      }
    let wasAsked = answer.question.event != nil || answer.event == nil
    if !wasAsked { lead.append(", the newest one that was decided. ") }
    var sections = answer.stories.prefix(Self.storiesMax).enumerated().map { section($1, $0) }
    if answer.stories.count > Self.storiesMax { sections.append(others) }
    if answer.stories.isEmpty {
      sections = [PageSection(heading: "What the store knows", list: answer.remarks.map { [PageCell($0)] })]
    }
    return ConsolePage(
      title: title, topic: "Why", lead: lead, sections: sections + [Self.form(answer.question, time)],
      status: answer.stories.isEmpty ? 404 : 200)
  }

  /// The instances that are not explained whole.
  private var others: PageSection {
    var table = PageTable(
      name: "others", caption: "The outcome at further instances; each leads to its explanation",
      columns: ["Instance", "Kind", "Surface", "Outcome", "#Steps"], empty: "None.")
    table.rows = answer.stories.dropFirst(Self.storiesMax).map { story in
      [
        PageCell(
          story.instance.text,
          link: PageLink.why(device: device, event: answer.event, instance: story.instance, time)),
        PageCell(story.kind.text), PageCell(story.surface.rawValue), PageCell(Self.short(story.outcome)),
        .number(story.steps.count),
      ]
    }
    return PageSection(
      heading: "\(Figure.count(answer.stories.count - Self.storiesMax, "other instance"))", tables: [table])
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
    section.figures = [terms(story, decision, "terms-\(place)")]
    section.tables = [steps(story, "steps-\(place + 1)")]
    if let command = story.command { section.tables.append(charges(story, command, "charges-\(place + 1)")) }
    return section
  }

  /// Returns an outcome without the numbers that explain it: they follow below.
  private static func short(_ outcome: String) -> String {
    outcome.firstRange(of: ": ").map { String(outcome[..<$0.lowerBound]) } ?? outcome
  }

  /// Draws the terms of the last step that was weighed. If none was, it is the last one that made the event wait, or else the last one.
  private func terms(_ story: WhyAnswer.Story, _ last: Decision, _ id: String) -> PageSection.PageFigure {
    let decisions = story.steps.map(\.decision)
    let drawn = decisions.last { $0.isWeighed } ?? decisions.last { $0.reason.holdsBack } ?? last
    let worth =
      drawn.isWeighed
      ? "Worth is \(Figure.looks(drawn.looks)) expected in the next 20 minutes × (\(Figure.decimal(drawn.wrong)) wrong)^1.5 = \(Figure.decimal(drawn.worth))."
      : "It was not weighed, so it has neither worth nor price."
    return PageSection.PageFigure(
      drawing: TermsChart.drawing(drawn, id: id),
      caption:
        "At \(time.full(drawn.at)). Relevance is \(Figure.decimal(drawn.relevance)) of 1. \(worth) A push is made when its worth is at least the price and no limit holds it back. \(limit(drawn)) A square is a token that was left."
    )
  }

  /// Returns a sentence about the limit that held an event back.
  private func limit(_ decision: Decision) -> String {
    guard decision.reason.holdsBack, decision.reason != .belowPrice else { return "No limit held it back then." }
    let end = decision.until.map { " until \(time.full($0)), or until the event ended" } ?? ""
    return "The limit \(decision.reason.rawValue) held it back\(end)."
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
      name: name,
      caption: story.steps.count > Self.stepsMax
        ? "Step by step, the last \(Self.stepsMax) of \(story.steps.count)" : "Step by step",
      columns: ["Time, \(time.zone)", "Verdict", "Reason", "#Worth", "#Price", "In words", "Decision"],
      empty: "No decision.",
      csv: PageLink.to(
        "/v1/why",
        [
          "format": "csv", "device": device.text, "event": answer.event.text, "instance": story.instance.text,
          "kind": story.kind.text,
        ]))
    table.rows = story.steps.suffix(Self.stepsMax).map { step in
      [
        time.cell(step.decision.at), .verdict(step.decision.verdict),
        .reason(step.decision.reason), .decimal(step.decision.value), .decimal(step.decision.price),
        PageCell(step.explanation, detail: Self.detail(step)),
        PageCell(step.decision.decision.text, tone: .dim),
      ]
    }
    return table
  }

  /// Returns what would have changed a step, and the other events that it shows; nil if there is neither.
  private static func detail(_ step: WhyAnswer.Step) -> String? {
    let others = step.otherEvents.map(\.text)
    let shown = others.isEmpty ? nil : "shows, too: \(others.joined(separator: ", "))"
    let parts = [step.counterfactual, shown].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private func charges(_ story: WhyAnswer.Story, _ command: Command, _ name: String) -> PageTable {
    var table = PageTable(
      name: name,
      caption:
        "The push \(command.command) at \(time.full(command.at)), worth sending until \(time.full(command.expires))",
      columns: ["Ledger", "Owner", "#Before", "#After", "Push"], empty: "The push was free: no ledger was charged.")
    table.rows = story.charges.map {
      [
        PageCell($0.ledger.rawValue), PageCell($0.owner.text), .number($0.before), .number($0.after),
        PageCell(command.command.text, link: PageLink.command(command.command, time)),
      ]
    }
    return table
  }
}
