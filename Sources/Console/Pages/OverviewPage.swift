import Auditing
import Domain
import Logging
import Operating
import Policies
import Serving

/// The first page: the last hours, what came of them, and what needs attention.
struct OverviewPage {
  /// The numbers of hours to choose from.
  private static let windows = [1, 6, 24, 72, StoreActivity.hoursMax]
  /// The hours that are shown unless others are asked for.
  private static let standard = 24

  private let hours: Int
  private let activity: StoreActivity
  private let summary: AuditSummary
  private let view: ClusterView?
  private let shown: SpendingBudget.InstanceCount
  private let now: Timestamp
  private let time = PageTime()

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let asked = request.query["hours"] ?? String(standard)
    guard let hours = Int(asked), windows.contains(hours) else {
      throw Problem(
        .malformedRequest, "hours is one of \(windows.map(String.init).joined(separator: ", ")), found '\(asked)'")
    }
    let store = try context.store()
    let view = try context.clusterView()
    let known = shownInstances(context)
    // The names of all hours are read only for a budget by the devices of the store.
    let summary = try store.summary(hasAttainments: false, hasNames: !known.isKnown)
    let page = try OverviewPage(
      hours: hours, activity: store.activity(hours: hours), summary: summary, view: view, shown: known,
      now: context.now())
    let objectives = try ObjectivesSection(store, view?.policy?.policy, page.time)
    var shown = try page.page(page.attention(store, objectives), objectives.section)
    if view == nil { shown.refreshSeconds = ClusterView.retrySeconds }
    return try shown.answer(request)
  }

  /// Returns what is shown, as far as a view of the registrations tells.
  private static func shownInstances(_ context: ConsoleContext) -> SpendingBudget.InstanceCount {
    guard let devices = context.settings.devices else { return .unknown }
    do throws(ListeningDevicesError) {
      let shown = try devices.shown()
      return shown.ageSeconds == nil ? .filling : .shown(shown)
    } catch {
      context.logger.debug("the view of the registrations cannot be read", metadata: ["error": "\(error)"])
      return .unreadable
    }
  }

  private func page(_ attention: PageSection, _ objectives: PageSection) -> ConsolePage {
    guard let newest = summary.last, let first = activity.hours.first?.start else {
      return ConsolePage(
        title: "Overview", area: .overview,
        lead: ["The audit store is empty. Decisions appear here as soon as a process with the role audit stores them."],
        refreshSeconds: 10)
    }
    return ConsolePage(
      title: "Overview", area: .overview,
      lead: [
        PageCell(
          "\(hours == 1 ? "The hour" : "\(hours) hours") from \(time.text(first)) to the newest decision at \(time.text(newest)) UTC. Times are those of the log: a replayed day counts as the day on which it happened."
        )
      ],
      sections: [numbers, attention, outcomes, spending, objectives, kinds].filter { !$0.heading.isEmpty },
      refreshSeconds: 60)
  }

  // MARK: Sections

  private var numbers: PageSection {
    func share(_ verdict: Verdict) -> (Int, String) {
      let count = activity.outcomes.filter { $0.verdict == verdict }.reduce(0) { $0 + $1.decisions }
      return (
        count,
        "\(Figure.percent(activity.decisions > 0 ? Double(count) / Double(activity.decisions) : 0)) of the decisions"
      )
    }
    func grouped(_ value: Int) -> String { Figure.grouped(Int64(value)) }
    func words(_ number: StoreActivity.DistinctCount) -> String {
      (number.isEstimated ? "about " : "") + grouped(number.count)
    }
    let from = activity.hours.first.map { Figure.time($0.start) }
    var tiles = [
      PageSection.PageTile(
        name: "Decisions", value: grouped(activity.decisions), detail: "in these hours",
        link: PageLink.to("/decisions", ["from": from]))
    ]
    let names: [(Verdict, String)] = [
      (.emit, "Sent"), (.coalesce, "Sent along"), (.defer, "Told to wait"), (.suppress, "Not sent"),
    ]
    for (verdict, name) in names {
      let (count, detail) = share(verdict)
      tiles.append(
        .init(
          name: name, value: grouped(count), detail: detail,
          link: PageLink.to("/decisions", ["verdict": verdict.rawValue, "from": from]), tone: .init(verdict)))
    }
    tiles += [
      .init(
        name: "Pushes", value: grouped(activity.commands),
        detail: activity.surfaces.map { "\($0.surface.rawValue) \(grouped($0.commands))" }.joined(separator: ", "),
        link: PageLink.to("/decisions", ["verdict": Verdict.emit.rawValue, "from": from])),
      .init(
        name: "Events", value: words(activity.events), detail: "with a decision in these hours",
        link: PageLink.to("/top", ["by": "event", "from": from])),
      .init(
        name: "Devices", value: words(activity.devices), detail: "with a decision in these hours",
        link: PageLink.to("/top", ["by": "device", "from": from])),
      lag,
    ]
    var section = PageSection(heading: "Numbers", tiles: tiles)
    section.paragraphs = [
      ["Show the last "]
        + Self.windows.flatMap { hours in
          [
            PageCell(
              hours == 1 ? "hour" : hours == StoreActivity.hoursMax ? "week" : "\(hours) hours",
              link: hours == self.hours ? nil : PageLink.to("/", ["hours": "\(hours)"])),
            PageCell(hours == Self.windows.last ? "." : " · "),
          ]
        }
    ]
    section.figures = [
      .init(
        drawing: HourChart.drawing(activity, time), caption: "Decisions by hour, UTC.",
        legend: Verdict.allCases.map(PageCell.verdict))
    ]
    return section
  }

  /// The records that wait for their readers, and how long ago the brokers told.
  private var lag: PageSection.PageTile {
    let age = view.map { max(0, (now - $0.at).microseconds / 1_000_000) }
    guard let facts = view?.facts, let age else {
      return .init(
        name: "Lag", value: "–",
        detail: age.map { "the brokers did not answer \($0) s ago" } ?? "the brokers are being asked",
        link: "/health")
    }
    let unknown = facts.progress.count { !$0.isKnown }
    return .init(
      name: "Lag", value: Figure.grouped(facts.waiting),
      detail:
        "\(facts.waiting == 1 ? "record waits" : "records wait"), asked \(age) s ago\(unknown > 0 ? "; not known for \(Figure.count(unknown, "partition"))" : "")",
      link: "/health")
  }

  /// Returns what needs attention.
  private func attention(_ store: AuditStore, _ objectives: ObjectivesSection) throws -> PageSection {
    var section = PageSection(heading: "Needs attention")
    if summary.recordsMissing > 0 {
      section.list.append([
        PageCell(Figure.count(summary.recordsMissing, "record"), link: "/health", tone: .bad),
        " will never be in the store.",
      ])
    }
    if let view {
      let waiting = view.facts?.waiting ?? 0
      let letters = view.letters?.count { $0.replayedAt == nil } ?? 0
      if letters > 0 {
        section.list.append([
          PageCell(
            "\(letters == ClusterWatch.lettersMax ? "at least " : "")\(Figure.count(letters, "dead letter"))",
            link: "/dead-letters", tone: .bad), ": records that were not accepted, and not replayed since.",
        ])
      }
      if waiting > 0 {
        section.list.append([
          PageCell("\(Figure.grouped(waiting)) records", link: "/health"), " wait for their readers.",
        ])
      }
      if view.facts == nil {
        section.list.append([PageCell("Kafka does not answer", link: "/health", tone: .bad), "."])
      }
    }
    let started = try store.zombies(range: TimeRange(from: activity.hours.first?.start), limit: HealthPage.rowsMax)
    if !started.zombies.isEmpty {
      let count = Figure.count(started.zombies.count, "Live Activity", "Live Activities")
      section.list.append([
        PageCell("\(started.omitted > 0 ? "at least " : "")\(count)", link: "/health", tone: .bad),
        " that a push started and that no push can end: never registered, or with a token that APNs has refused.",
      ])
    }
    section.list += objectives.alarms
    let lost = activity.outcomes.filter { $0.reason.outcome == .lost }
    for outcome in lost {
      section.list.append([
        PageCell(
          Figure.count(outcome.decisions, "change"),
          link: PageLink.to(
            "/decisions",
            ["reason": outcome.reason.rawValue, "from": activity.hours.first.map { Figure.time($0.start) }]),
          tone: .bad), " not shown: ", PageCell(outcome.reason.rawValue, tone: .code),
        PageCell(
          ". \(outcome.reason.meaning.replacing("`", with: "")) What to do: \(outcome.reason.advice.replacing("`", with: ""))."
        ),
      ])
    }
    if section.list.isEmpty {
      section.paragraphs = [[PageCell("Nothing that the store and the brokers can tell.", tone: .good)]]
    }
    return section
  }

  private var outcomes: PageSection {
    let from = activity.hours.first.map { Figure.time($0.start) }
    var table = PageTable(
      name: "reasons", caption: "Decisions by reason", columns: ["Reason", "Verdict", "#Decisions", "#Share"],
      empty: "No decision in these hours.")
    table.rows = activity.outcomes.map { outcome in
      let link = PageLink.to(
        "/decisions",
        ["reason": outcome.reason.rawValue, "verdict": outcome.verdict.rawValue, "from": from])
      return [
        .reason(outcome.reason, link: link, isExplained: true), .verdict(outcome.verdict), .number(outcome.decisions),
        .share(outcome.decisions, of: activity.decisions, .init(outcome.verdict)),
      ]
    }
    return PageSection(heading: "What came of the events", tables: [table])
  }

  private var spending: PageSection {
    let budget = (view?.policy?.policy).map { SpendingBudget($0, activity, stored: summary.devices, shown) }
    guard let drawing = SpendingChart.drawing(activity, budget, time) else { return PageSection(heading: "") }
    var table = PageTable(
      name: "tokens", caption: "Tokens spent",
      columns: ["Ledger", "#Tokens", "#In the last hour"] + (budget == nil ? [] : ["#Allowed", "#Share"]) + ["Counts"],
      empty: "None.")
    for (place, ledger) in Command.Ledger.allCases.enumerated() where activity.charged(ledger) > 0 {
      table.rows.append(
        [
          PageCell(ledger.rawValue), .number(activity.charged(ledger), link: sent(activity.hours.first)),
          .number(activity.hours.last?.charged[place] ?? 0, link: sent(activity.hours.last)),
        ] + allowance(budget, ledger) + [PageCell(ledger.traits.meaning)])
    }
    var section = PageSection(heading: "Budget over these hours", tables: [table])
    section.figures = [
      .init(
        drawing: drawing,
        caption: budget == nil
          ? "Tokens spent up to each hour, UTC; the thin line is an even pace."
          : "Tokens spent up to each hour, UTC; the dashed line is the budget at an even pace.")
    ]
    section.paragraphs = [
      [
        budget.map { PageCell(Self.words($0), tone: .dim) }
          ?? PageCell("The budget is not known, because the brokers have not told the policy in force.", tone: .dim)
      ]
    ]
    return section
  }

  private static func words(_ budget: SpendingBudget) -> String {
    let devices = Figure.count(budget.devices, "device")
    let stored =
      "the \(devices) of the store, with one instance on each: how many instances a device shows is not known"
    let whose =
      switch budget.source {
      case .shown(let shown):
        "all widgets and controls that the \(devices) with a registration \(budget.devices == 1 ? "shows" : "show"), as of \(shown.ageSeconds ?? 0) s ago"
      case .filling: "\(stored) yet, because the registrations are being read"
      case .unreadable: "\(stored), because the view of devices cannot be read"
      case .unknown: "\(stored) without a view of devices"
      }
    return
      "The budget is what the policy in force allows in these hours to \(whose). A device may spend a day's tokens at any time of the day."
  }

  /// The address of the decisions that were sent since the beginning of an hour: those whose pushes were charged.
  private func sent(_ hour: StoreActivity.ActivityHour?) -> String {
    PageLink.to("/decisions", ["verdict": Verdict.emit.rawValue, "from": hour.map { Figure.time($0.start) }])
  }

  private func allowance(_ budget: SpendingBudget?, _ ledger: Command.Ledger) -> [PageCell] {
    guard let budget else { return [] }
    guard let allowed = budget.allowed(ledger) else {
      return [
        PageCell(budget.isKnown(ledger) ? "no limit" : "not known", isNumber: true), PageCell("–", isNumber: true),
      ]
    }
    guard allowed > 0 else { return [.number(0), PageCell("–", isNumber: true)] }
    let share = Double(activity.charged(ledger)) / allowed
    return [.number(Int(allowed)), .share(share, share > 1 ? .bad : .emit)]
  }

  /// Returns the numbers of decisions by verdict, each with the address of these decisions.
  private func counts(_ decisions: [Int], _ link: (Verdict) -> String) -> [PageCell] {
    zip(Verdict.allCases, decisions).map { verdict, count in .number(count, link: count > 0 ? link(verdict) : nil) }
  }

  private var kinds: PageSection {
    let from = activity.hours.first.map { Figure.time($0.start) }
    var table = PageTable(
      name: "kinds", caption: "Decisions by kind", columns: ["Kind"] + Verdict.allCases.map { "#\($0.rawValue)" },
      empty: "None.",
      shownMax: 20)
    table.rows = activity.kinds.map { kind in
      [PageCell(kind.kind.text, link: PageLink.to("/decisions", ["kind": kind.kind.text, "from": from]))]
        + counts(kind.decisions) {
          PageLink.to("/decisions", ["kind": kind.kind.text, "verdict": $0.rawValue, "from": from])
        }
    }
    var hours = PageTable(
      name: "hours", caption: "The same by hour, UTC",
      columns: ["Hour from"] + Verdict.allCases.map { "#\($0.rawValue)" } + ["#Pushes"],
      empty: "None.")
    hours.rows = activity.hours.reversed().map { hour in
      func link(_ verdict: Verdict?) -> String {
        PageLink.to(
          "/decisions",
          [
            "verdict": verdict?.rawValue, "from": Figure.time(hour.start), "to": Figure.time(hour.start + .hours(1)),
          ])
      }
      return [PageCell(time.text(hour.start), link: link(nil))] + counts(hour.decisions, link)
        + [.number(hour.commands, link: hour.commands > 0 ? link(.emit) : nil)]
    }
    return PageSection(heading: "By kind and by hour", tables: [table, hours])
  }
}
