import Auditing
import Domain
import Serving

/// The page of a device: what is on it, what was decided about it, which pushes it got, and what they were charged.
struct DevicePage {
  /// The most decisions and pushes that a page lists.
  /// - Beyond: older ones are reached by an earlier range.
  private static let entriesMax = 100
  /// The most pushes in a statement of a page.
  /// - Beyond: older ones are reached by an earlier range.
  private static let chargesMax = 100
  /// The most accounts of a page.
  /// - Beyond: they are in the table of all accounts only.
  private static let accountsMax = 12
  /// The most rows of the table of all accounts.
  /// - Beyond: accounts are in its CSV only.
  private static let accountRowsMax = 100

  private let timeline: DeviceTimeline
  private let statement: BudgetStatement
  private let range: TimeRange
  private let time: PageTime
  private let registered: KnownRegistration
  private let looks: KnownLooks
  private let readers: StoreReaders
  private var device: Identifier { timeline.device }

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let device = try request.id("device", context)
    let store = try context.store()
    let registered = KnownRegistration(device, context.settings.devices)
    let time = try request.pageZone(registered.time)
    let range = try request.pageRange(time)
    let timeline = try store.device(device, range: range, limit: entriesMax)
    // Older looks would stand beside decisions that the page leaves out.
    let looks = KnownLooks(
      device, from: timeline.omitted > 0 ? timeline.entries.first?.at : range.from, to: range.to,
      context.settings.devices)
    let page = try DevicePage(
      timeline: timeline, statement: store.statement(device, range: range, limit: chargesMax), range: range, time: time,
      registered: registered, looks: looks, readers: context.readers)
    return try page.page.answer(request)
  }

  private var page: ConsolePage {
    let instances = DeviceInstances(
      registered: registered, device: device, counts: timeline.instances, accounts: statement.accounts, range: range,
      time: time
    ).section
    guard timeline.isKnown else {
      let isRegistered = registered.registration != nil
      return ConsolePage(
        title: device.text, topic: "Device", lead: ["The store has no decision about this device and no push to it."],
        sections: isRegistered ? [instances, seen, Self.advice] : [Self.advice], status: isRegistered ? 200 : 404)
    }
    return ConsolePage(
      title: device.text, topic: "Device",
      lead: [
        PageCell(
          "\(Figure.count(timeline.entries.count, "decision or push", "decisions and pushes")) from \(timeline.entries.first.map { time.text($0.at) } ?? "–") to \(timeline.entries.last.map { time.text($0.at) } ?? "–") \(time.zone)."
        )
      ] + older, sections: [choice, instances, events, ledgers])
  }

  /// The way to the entries of the range that the page leaves out. They begin with the oldest one that it has, because others may be of the same
  /// instant.
  private var older: [PageCell] {
    guard timeline.omitted > 0, let first = timeline.entries.first?.at, let last = timeline.entries.last?.at else {
      return []
    }
    let end = first < last ? first + TimeSpan(microseconds: 1) : first
    let link = PageLink.to(
      PageLink.device(device, time), adding: ["from": range.from.map(Figure.time), "to": Figure.time(end)])
    return [" ", PageCell(Figure.count(timeline.omitted, "older one"), link: link), " in this range."]
  }

  /// The looks at a device that has no timeline yet, whose section would have them.
  private var seen: PageSection {
    PageSection(
      heading: "Looks and fetches", paragraphs: [looks.words], tables: looks.isKnown ? [looks.table(time)] : [])
  }

  /// The advice for a device that the store has never seen.
  static var advice: PageSection {
    PageSection(
      heading: "What this can mean",
      list: [
        ["The id is another one: the letter case and every character count."],
        ["No event concerned the device yet: an event that interests no instance of it leaves no decision."],
        ["The store does not cover the time: retention has removed it, or the store lags behind."],
      ])
  }

  private var choice: PageSection {
    PageSection(
      heading: "Range and time zone",
      forms: [
        PageForm(
          action: PageLink.device(device),
          fields: [
            .init(name: "from", label: "From", value: range.from.map(time.text) ?? "", hint: "2013-03-08 21:05"),
            .init(name: "to", label: "To (not included)", value: range.to.map(time.text) ?? "", hint: "2013-03-09"),
            .init(
              name: "utc-offset", label: "Offset of the times from UTC",
              value: time.query ?? "",
              hint: registered.time.map { "-05:00, +00:00 for UTC, or empty for \($0.zone)" }
                ?? "-05:00, or empty for UTC"),
          ]
            + (device == "." || device == ".."
              ? [.init(name: "id", label: "", sort: .hidden, value: device.text)] : []),
          button: "Show")
      ])
  }

  private var events: PageSection {
    var section = PageSection(heading: "Timeline")
    if let drawing = TimelineChart.drawing(timeline.entries, looks.signals, time) {
      section.figures = [
        .init(
          drawing: drawing,
          caption:
            "Times in \(time.zone). A triangle is an event, at the first decision about it; a circle is a look, and a square a fetch. A dot is sent, a ring waits, a diamond went along with another push, a stroke was not sent; bars below are pushes.",
          legend: Verdict.allCases.map(PageCell.verdict))
      ]
    }
    var table = PageTable(
      name: "timeline", caption: "Decisions and pushes, newest first",
      columns: ["Time, \(time.zone)", "Verdict", "Reason", "Instance", "Event", "#Worth", "#Price", "#Left", "Push"],
      empty: "No decision and no push in this range.")
    let (device, range) = (device, range)
    table.export = (readers, { try .timeline(device, range, $0) })
    table.rows = timeline.entries.reversed().map(row)
    section.paragraphs = [
      looks.words
        + (looks.isKnown && timeline.omitted > 0
          ? [" Those before the oldest decision of this page are left out."] : [])
    ]
    section.tables = looks.isKnown ? [table, looks.table(time)] : [table]
    return section
  }

  private func row(_ entry: AuditEntry) -> [PageCell] {
    switch entry {
    case .decision(let decision):
      return [
        time.cell(
          decision.at, link: PageLink.why(device: device, event: decision.event, instance: decision.instance, time)),
        .verdict(decision.verdict), .reason(decision.reason), PageCell(decision.instance.text),
        PageCell(decision.event.text, link: PageLink.event(decision.event)), .decimal(decision.value),
        .decimal(decision.price),
        PageCell(decision.tokensLeft.instance.map(String.init) ?? "–", isNumber: true),
        PageCell(decision.command.text ?? "", link: decision.command.map { PageLink.command($0, time) }),
      ]
    case .command(let command):
      let left = command.charged.map { "\($0.ledger.rawValue) \($0.left)" }.joined(separator: ", ")
      return [
        time.cell(command.at), "push", PageCell(command.surface.rawValue),
        PageCell(command.serves.map(\.instance.text).joined(separator: ", ")),
        PageCell(left.isEmpty ? "free" : "left: \(left)", tone: .dim), PageCell("", isNumber: true),
        PageCell("", isNumber: true), PageCell("", isNumber: true),
        PageCell(command.command.text, link: PageLink.command(command.command, time)),
      ]
    }
  }

  private var ledgers: PageSection {
    var section = PageSection(heading: "Ledger")
    guard !statement.accounts.isEmpty else {
      section.paragraphs = [["No push of this range was charged."]]
      return section
    }
    section.paragraphs = [
      [
        PageCell(
          "\(Figure.count(statement.commands, "push", "pushes")), \(statement.free) of them free. Each account lists its charges as a bank does; days are those of \(time.zone).\(statement.omitted > 0 ? " \(Figure.count(statement.omitted, "older push", "older pushes")) left out." : "")"
        )
      ]
    ]
    section.tables = [accounts]
    for (place, account) in statement.accounts.prefix(Self.accountsMax).enumerated() {
      section.figures.append(
        .init(
          drawing: BurnDownChart.drawing(account, place, time),
          caption: "\(account.ledger.rawValue) \(account.owner): tokens left (\(account.ledger.traits.meaning))."))
      section.tables.append(table(account, "account-\(place + 1)"))
    }
    let others = statement.accounts.count - Self.accountsMax
    if others > 0 {
      section.paragraphs.append([
        PageCell(
          "\(Figure.count(others, "account")) more \(others == 1 ? "has" : "have") no drawing and no statement here; the CSV of the accounts has every charge."
        )
      ])
    }
    return section
  }

  /// The table of all accounts.
  private var accounts: PageTable {
    var table = PageTable(
      name: "accounts", caption: "Accounts; the CSV has every charge of each",
      columns: ["Ledger", "Owner", "#Charges", "#Opening", "#Left"], empty: "No account.", shownMax: Self.accountRowsMax
    )
    let (device, range) = (device, range)
    table.export = (readers, { try .statement(device, range, $0) })
    table.rows = statement.accounts.map {
      [
        PageCell($0.ledger.rawValue), PageCell($0.owner.text), .number($0.lines.count), .number($0.opening),
        .number($0.closing),
      ]
    }
    return table
  }

  private func table(_ account: BudgetStatement.Account, _ name: String) -> PageTable {
    var table = PageTable(
      name: name, caption: "\(account.ledger.rawValue) \(account.owner)",
      columns: ["Time, \(time.zone)", "#Change", "#Left", "Charged for", "Push"], empty: "No charge.")
    let (device, range) = (device, range)
    let one = StatementAccount(ledger: account.ledger, owner: account.owner)
    table.export = (readers, { try .statement(device, range, of: one, $0) })
    table.rows = account.lines.reversed().map { line in
      [
        time.cell(line.at),
        PageCell(line.change == 0 ? "−1" : "\(line.change > 0 ? "+" : "")\(line.change), −1", isNumber: true),
        .number(line.left),
        PageCell("\(line.kinds.map(\.text).joined(separator: " + ")), \(Figure.count(line.events, "event"))"),
        PageCell(line.command.text, link: PageLink.command(line.command, time)),
      ]
    }
    table.rows.append([
      "Opening", PageCell("", isNumber: true), .number(account.opening),
      PageCell("charges by day: " + days(account.lines)), "",
    ])
    return table
  }

  /// Returns the number of charges on each calendar day of the page's zone.
  private func days(_ lines: [BudgetStatement.Line]) -> String {
    var days: [(date: Substring, charges: Int)] = []
    for line in lines {
      let date = time.text(line.at).prefix(10)
      if days.last?.date != date { days.append((date, 0)) }
      days[days.count - 1].charges += 1
    }
    return days.map { "\($0.date) \($0.charges)" }.joined(separator: ", ")
  }
}
