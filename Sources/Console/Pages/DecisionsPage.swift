import Auditing
import Domain
import Serving

/// The list of decisions, newest first, with filters.
struct DecisionsPage {
  /// The decisions of a page.
  private static let rowsMax = 100
  /// The decisions that arrive at a time, twice a second. Nobody can read more, and a browser need not draw them.
  private static let liveRowsMax = 50
  private let filter: DecisionFilter
  private let part: DecisionPart
  /// The place behind which the page begins, in its order; nil for the newest decisions.
  private let place: DecisionPlace?
  /// The place behind which the stream of the page begins.
  private let newest: DecisionPlace?
  private let time = PageTime()
  private let readers: StoreReaders

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    // An id that no path can hold comes in the query.
    if request.query["id"] != nil { return try one(request, context) }
    var query = QueryReader(request.query.withoutEmpty, pageTime: PageTime())
    let filter = query.filter()
    let place = query.cursor { PageCursor.place($0) }
    context.note(query.texts)
    for name in ["id", PageTable.nameField] { _ = query.text(name) }
    try query.finish()
    let store = try context.store()
    // Asked for before the list, so that nothing that is stored in between is missing from both; the list may reach further.
    var newest = place == nil ? try store.newestPlace() ?? DecisionTailer.beginning : nil
    let part = try store.decisions(filter, order: .newest, after: place, limit: rowsMax)
    if let before = newest, let first = part.decisions.first?.place,
      (before.page, before.line) < (first.page, first.line)
    {
      newest = first
    }
    return try DecisionsPage(filter: filter, part: part, place: place, newest: newest, readers: context.readers).page
      .answer(request)
  }

  /// Leads to the explanation of one decision.
  static func one(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let id = try request.id("decision", context)
    guard let decision = try context.store().decision(id) else {
      throw Problem(.notFound, "there is no decision \(id) here; it has not arrived yet, or was removed by age")
    }
    return SignInPage.redirect(
      to: PageLink.why(device: decision.device, event: decision.event, instance: decision.instance))
  }

  private var page: ConsolePage {
    var page = ConsolePage(
      title: "Decisions", area: .decisions,
      lead: [
        "Every verdict on one event, device and instance, newest first. The time leads to the explanation."
      ], sections: [choices, list])
    // The stream continues the page, so it belongs before the newest decisions.
    if let newest, filter.range.to == nil {
      page.stream = PageLink.to(
        PageLink.to("/v1/decisions/tail", query),
        adding: ["cursor": PageCursor.text(newest), "newest": "\(Self.liveRowsMax)"])
      page.refreshSeconds = 5
    }
    return page
  }

  private var query: KeyValuePairs<String, String?> {
    [
      "device": filter.device.text, "event": filter.event.text, "kind": filter.kind.text,
      "instance": filter.instance.text, "verdict": filter.verdict?.rawValue, "reason": filter.reason?.rawValue,
      "objective": filter.objective?.rawValue, "surface": filter.surface?.rawValue, "command": filter.command.text,
      "final": filter.final.map { "\($0)" },
    ]
  }

  private var choices: PageSection {
    func any(_ values: [String]) -> [(value: String, text: String)] { [("", "any")] + values.map { ($0, $0) } }
    return PageSection(
      heading: "Filters",
      forms: [
        PageForm(
          action: "/decisions",
          fields: [
            .init(
              name: "verdict", label: "Verdict", sort: .choice, value: filter.verdict?.rawValue ?? "",
              choices: any(Verdict.allCases.map(\.rawValue))),
            .init(
              name: "reason", label: "Reason", sort: .choice, value: filter.reason?.rawValue ?? "",
              choices: any(Reason.allCases.filter { $0.verdict != nil }.map(\.rawValue))),
            .init(
              name: "objective", label: "Objective", sort: .choice, value: filter.objective?.rawValue ?? "",
              choices: any(ObjectiveResult.allCases.map(\.rawValue))),
            .init(
              name: "final", label: "Closes the event", sort: .choice, value: filter.final.map { "\($0)" } ?? "",
              choices: any(["true", "false"])),
            .init(
              name: "surface", label: "Surface", sort: .choice, value: filter.surface?.rawValue ?? "",
              choices: any(Surface.allCases.map(\.rawValue))),
            .init(name: "kind", label: "Kind", value: filter.kind.text ?? ""),
            .init(name: "device", label: "Device", value: filter.device.text ?? ""),
            .init(name: "instance", label: "Instance", value: filter.instance.text ?? ""),
            .init(name: "event", label: "Event", value: filter.event.text ?? ""),
            .init(name: "command", label: "Push", value: filter.command.text ?? ""),
            .init(
              name: "from", label: "From, UTC", value: filter.range.from.map(time.text) ?? "", hint: "2013-03-08 21:05"),
            .init(
              name: "to", label: "To (not included)", value: filter.range.to.map(time.text) ?? "", hint: "2013-03-09"),
          ], button: "Show")
      ])
  }

  private var list: PageSection {
    var section = PageSection(heading: "Decisions")
    if newest != nil, filter.range.to == nil {
      section.state = "This page is loaded anew every few seconds where no script runs."
    }
    let from = filter.range.from.map(Figure.time)
    let to = filter.range.to.map(Figure.time)
    var table = PageTable(
      name: "decisions", caption: "The newest first, \(Self.rowsMax) a page",
      columns: ["Time, UTC", "Verdict", "Reason", "Device", "Event", "Kind", "#Worth", "#Price", "Push"],
      empty: part.isLast
        ? "No decision is stored that these filters include." : "None among those that were looked through.",
      id: newest != nil ? "live" : nil)
    let (filter, place) = (filter, place)
    table.export = (readers, { try .decisions(filter, after: place, $0) })
    table.rows = part.decisions.map { placed in
      let decision = placed.decision
      return [
        PageCell(
          time.text(decision.at),
          link: PageLink.why(device: decision.device, event: decision.event, instance: decision.instance)),
        .verdict(decision.verdict), .reason(decision.reason),
        PageCell(decision.device.text, link: PageLink.device(decision.device)),
        PageCell(decision.event.text, link: PageLink.event(decision.event)), PageCell(decision.kind.text),
        .decimal(decision.value), .decimal(decision.price),
        PageCell(decision.command.text ?? "", link: decision.command.map(PageLink.command)),
      ]
    }
    section.tables = [table]
    if let next = part.next {
      section.paragraphs = [
        [
          PageCell(
            part.decisions.count < Self.rowsMax ? "Go on looking through older decisions" : "Older decisions",
            link: PageLink.to(
              PageLink.to("/decisions", query),
              adding: ["from": from, "to": to, "cursor": PageCursor.text(next)]))
        ]
      ]
    }
    return section
  }
}
