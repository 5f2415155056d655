import Auditing
import Domain
import Serving

/// The page of an event: everything that it caused.
struct EventPage {
  /// The most minutes that the table lists.
  private static let minutesMax = 120
  private let effect: EventEffect
  private let spread: EventSpread
  private let time = PageTime()

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let event = try request.id("event", context)
    let store = try context.store()
    let page = try EventPage(effect: store.event(event), spread: store.spread(ofEvent: event))
    return try page.page.answer(request)
  }

  private var page: ConsolePage {
    guard effect.isKnown, let first = effect.first, let last = effect.last else {
      return ConsolePage(
        title: effect.event.text, topic: "Event", lead: ["The store has no decision about this event."],
        sections: [
          PageSection(
            heading: "What this can mean",
            list: [
              ["No instance of any device listens to what the event is about."],
              [
                "The event was refused: ", PageCell("dead letters", link: "/dead-letters"),
                " have a reason for each refusal.",
              ],
              ["The id is another one, or the store does not cover the time."],
            ]), trial,
        ], status: 404)
    }
    return ConsolePage(
      title: effect.event.text, topic: "Event",
      lead: [
        PageCell(Figure.count(effect.decisions, "decision"), link: decisions()),
        PageCell(
          " on \(Figure.count(effect.devices, "device")) from \(time.text(first)) to \(time.text(last)) UTC; "),
        PageCell("part of \(Figure.count(effect.commands, "push", "pushes"))"),
        PageCell(
          "; \(effect.pending == 0 ? "nothing waits any more" : "\(Figure.count(effect.pending, "instance")) still waiting")."
        ),
      ], sections: [tree, spreading, counts, trial])
  }

  /// The address of the decisions about the event.
  private func decisions(_ verdict: Verdict? = nil) -> String {
    PageLink.to("/decisions", ["event": effect.event.text, "verdict": verdict?.rawValue])
  }

  /// The way to the page on which the event is tried.
  private var trial: PageSection {
    let kind = effect.counts.first?.kind
    return PageSection(
      heading: "Try it",
      paragraphs: [
        [
          PageCell(
            "Try this event", link: PageLink.to(TryPage.path, ["event": effect.event.text, "kind": kind?.text])),
          " on the policy in force, or on an edited one: which rules match it, and how many devices would it reach? The store has what came of the event and not the event itself, so its source, type, subject and data are to be completed.",
        ]
      ])
  }

  private var tree: PageSection {
    var section = PageSection(heading: "What it caused")
    section.tree = Verdict.allCases.compactMap { verdict -> PageSection.PageNode? in
      let counts = effect.counts.filter { $0.verdict == verdict }
      guard !counts.isEmpty else { return nil }
      var reasons: [Reason] = []
      for count in counts where !reasons.contains(count.reason) { reasons.append(count.reason) }
      return PageSection.PageNode(
        words: [.verdict(verdict), PageCell(" \(Figure.count(counts.reduce(0) { $0 + $1.decisions }, "decision"))")],
        nodes: reasons.map { reason in node(reason, counts.filter { $0.reason == reason }) })
    }
    return section
  }

  private func node(_ reason: Reason, _ counts: [EventEffect.Count]) -> PageSection.PageNode {
    let total = counts.reduce(0) { $0 + $1.decisions }
    return PageSection.PageNode(
      words: [
        .reason(reason), PageCell(" \(Figure.grouped(Int64(total))). "),
        PageCell(reason.meaning.replacing("`", with: ""), tone: .dim),
      ],
      nodes: counts.map { count in
        PageSection.PageNode(
          words: [PageCell("\(count.kind): \(Figure.grouped(Int64(count.decisions))), for example ")]
            + count.sampleDevices.flatMap {
              [PageCell($0.text, link: PageLink.why(device: $0, event: effect.event)), PageCell(" ")]
            })
      })
  }

  private var spreading: PageSection {
    var section = PageSection(heading: "Over time")
    if let drawing = SpreadChart.drawing(spread, time) {
      section.figures = [
        .init(drawing: drawing, caption: "Decisions over time, UTC.", legend: Verdict.allCases.map(PageCell.verdict))
      ]
    }
    var table = PageTable(
      name: "minutes",
      caption:
        "The same by minute\(spread.minutes.count > Self.minutesMax ? ": the first \(Self.minutesMax) of \(spread.minutes.count) minutes" : "")",
      columns: ["Minute, UTC"] + Verdict.allCases.map { "#\($0.rawValue)" }, empty: "No decision.",
      shownMax: Self.minutesMax)
    table.rows = spread.minutes.map { minute in
      let (from, to) = (Figure.time(minute.start), Figure.time(minute.start + .minutes(1)))
      return [PageCell(time.text(minute.start))]
        + zip(Verdict.allCases, minute.decisions).map { verdict, count in
          let link = PageLink.to(decisions(verdict), adding: ["from": from, "to": to])
          return .number(count, link: count > 0 ? link : nil)
        }
    }
    section.tables = [table]
    return section
  }

  private var counts: PageSection {
    var table = PageTable(
      name: "counts", caption: "Decisions by verdict, reason and kind",
      columns: ["Reason", "Verdict", "Final", "Kind", "#Decisions", "#Share", "Devices, for example"],
      empty: "No decision.", csv: PageLink.csv(PageLink.event(effect.event)))
    table.rows = effect.counts.map { count in
      [
        .reason(
          count.reason,
          link: PageLink.to(
            "/decisions",
            ["event": effect.event.text, "reason": count.reason.rawValue, "kind": count.kind.text])),
        .verdict(count.verdict), PageCell(count.final ? "yes" : "no"), PageCell(count.kind.text),
        .number(
          count.decisions,
          link: PageLink.to(
            "/decisions",
            [
              "event": effect.event.text, "reason": count.reason.rawValue, "verdict": count.verdict.rawValue,
              "kind": count.kind.text,
            ])),
        .share(count.decisions, of: effect.decisions, .init(count.verdict)),
        PageCell(
          count.sampleDevices.first?.text ?? "",
          link: count.sampleDevices.first.map { PageLink.why(device: $0, event: effect.event) }),
      ]
    }
    return PageSection(heading: "Counts", tables: [table])
  }
}
