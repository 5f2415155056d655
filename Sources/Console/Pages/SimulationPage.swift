import Auditing
import Domain
import JSON
import Serving

/// The page of a simulation: the report that `rouse simulate --format json` printed, with the baselines beside the policies.
/// A report is kept for a while, so that its page has an address.
enum SimulationPage {
  static let path = "/simulation"
  /// The most kinds that are shown.
  private static let kindsMax = 50
  /// The most policies and baselines of a kind that are shown.
  private static let plansMax = SimulationReport.policiesMax

  /// Returns the page without a report.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    try page([list(context), form("", context)]).answer(request)
  }

  /// Keeps a report, and leads to its page.
  static func keep(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let fields = try request.form()
    let text = fields["file"] ?? fields["report"] ?? ""
    let typed = fields["file"] == nil ? text : ""
    let names: [String]
    do throws(SimulationReport.Refusal) { names = try SimulationReport(parsing: text).policyNames } catch {
      return page([refusal(error.words), form(typed, context)]).answer(request.viewer)
    }
    return SignInPage.redirect(to: "\(path)/\(context.reports.add(text, policies: names, at: context.now()))")
  }

  /// Shows a report that was given before.
  static func show(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    guard let kept = context.reports[request["report"]] else {
      throw Problem(.notFound, "this console does not have the report any more; give it the file again")
    }
    let report = try SimulationReport(parsing: kept.text).value
    let (kinds, policies) = (report["kinds"]?.elements ?? [], report["policies"]?.elements ?? [])
    let sections = kinds.prefix(kindsMax).enumerated().map { section($1, "kind-\($0 + 1)") }
    let shared = sharedLimits(report["sharedLimits"]?.elements ?? [])
    return try page([summary(report, policies)] + sections + shared + [list(context), form("", context)]).answer(
      request)
  }

  private static func list(_ context: ConsoleContext) -> PageSection {
    var table = PageTable(
      name: "reports", caption: "Reports that this console was given", columns: ["Report", "Policies", "Given, UTC"],
      empty: "None.")
    table.rows = context.reports.all.map { report in
      [
        PageCell(report.name, link: "\(path)/\(report.name)"),
        PageCell(report.policies.joined(separator: ", ")), PageCell(PageTime().text(report.at)),
      ]
    }
    return PageSection(heading: "Reports", tables: [table])
  }

  private static func refusal(_ words: String) -> PageSection {
    PageSection(heading: "Not a report", paragraphs: [[PageCell(words, tone: .bad)]])
  }

  private static func page(_ sections: [PageSection]) -> ConsolePage {
    ConsolePage(
      title: "Simulation", topic: "Policy", area: .policy,
      lead: ["What a policy would have done with recorded events, with simple baselines beside it."], sections: sections
    )
  }

  private static func form(_ text: String, _ context: ConsoleContext) -> PageSection {
    let megabytes = Double(context.settings.limits.bodyBytesMax) / 1_048_576
    return PageSection(
      heading: "Show a report",
      forms: [
        PageForm(
          action: path, changes: true,
          fields: [
            .init(
              name: "file", label: "File that rouse simulate --format json has written", sort: .file,
              hint:
                "At most \(Figure.decimal(megabytes)) MiB. It is kept beside the audit store, with an address of its own, until \(ReportStore.reportsMax) others have come; if that folder cannot be written, until the console ends."
            ),
            .init(name: "report", label: "Or its text", sort: .area, value: text),
          ], button: "Show")
      ])
  }

  private static func summary(_ report: JSONValue, _ policies: [JSONValue]) -> PageSection {
    var table = PageTable(
      name: "policies", caption: "Policies", columns: ["Policy", "#Decisions", "#Pushes"],
      empty: "The report has no policy.")
    table.rows = policies.prefix(plansMax).map { policy in
      [PageCell(policy["name"]?.text ?? "?"), number(policy["decisions"]), number(policy["commands"])]
    }
    func fact(_ name: String, _ key: String) -> (name: String, value: [PageCell]) { (name, [number(report[key])]) }
    return PageSection(
      heading: "Played",
      facts: [
        ("From", [PageCell(report["from"]?.text ?? "?")]), ("To", [PageCell(report["to"]?.text ?? "?")]),
        fact("Events", "events"), fact("Devices", "devices"), fact("Instances", "instances"),
        fact("Dead letters", "deadLetters"),
      ], tables: [table])
  }

  private static func section(_ kind: JSONValue, _ name: String) -> PageSection {
    var table = PageTable(
      name: name, caption: "Policies and baselines, the best first",
      columns: [
        "Plan", "#Wrong looks captured", "#Wrong looks a day", "#Without pushes", "#At best", "#Reloads", "#Wasted",
        "#Days starved",
        "#Over budget", "#Unused a day",
      ], empty: "The report has no plan for this kind.")
    let plans = (kind["plans"]?.elements ?? []).prefix(plansMax).sorted {
      ($0["wrongLooks"]?["capturedMean"]?.double ?? -.infinity)
        > ($1["wrongLooks"]?["capturedMean"]?.double ?? -.infinity)
    }
    table.rows = plans.map { plan in
      let isPolicy = plan["isPolicy"] == .bool(true)
      let (looks, captured) = (plan["wrongLooks"], plan["wrongLooks"]?["capturedMean"]?.double)
      return [
        PageCell(plan["plan"]?.text ?? "?", tone: isPolicy ? .emit : nil, detail: isPolicy ? "policy" : "baseline"),
        captured.map { .share($0, isPolicy ? .emit : .suppress) } ?? PageCell("–", isNumber: true),
        number(looks?["perDay"]), number(looks?["perDayWithout"]),
        number(looks?["perDayOptimum"]), number(plan["reloads"]), number(plan["reloadsWasted"]),
        number(plan["daysStarved"]),
        number(plan["overBudget"]), number(plan["tokensUnusedPerDay"]),
      ]
    }
    let instances = kind["instances"]?.double.map { Figure.decimal($0) } ?? "?"
    var paragraphs: [[PageCell]] = [
      [
        PageCell(
          "\(instances) instances. Captured is the share of the wrong looks that could be avoided and were, as a mean over the days of instances: 100 % is the best plan in hindsight, 0 % is no push at all. Wrong looks a day are a mean over all of them, so the two may differ in their order."
        )
      ]
    ]
    if plans.contains(where: { $0["isPolicy"] != .bool(true) }) {
      paragraphs.append([
        PageCell(
          "Baselines keep only the day's tokens and the minimum interval, neither quiet hours nor limits that instances share. So what they capture is more than such devices allow."
        )
      ])
    }
    return PageSection(heading: kind["kind"]?.text ?? "?", paragraphs: paragraphs, tables: [table])
  }

  /// Returns the section about limits that instances share; none if the report has none.
  private static func sharedLimits(_ limits: [JSONValue]) -> [PageSection] {
    guard !limits.isEmpty else { return [] }
    var table = PageTable(
      name: "shared", caption: "Policies within the limits that instances share",
      columns: ["Policy", "#Days", "#Worth shown", "#Sum of single optima", "#Upper bound", "#Shown of the bound"],
      empty: "None.")
    table.rows = limits.prefix(plansMax).map { limit in
      [
        PageCell(limit["plan"]?.text ?? "?", tone: .emit), number(limit["samples"]), number(limit["valueShown"]),
        number(limit["sumOfOptima"]), number(limit["upperBound"]),
        limit["ofUpperBoundMean"]?.double.map { .share($0, .emit) } ?? PageCell("–", isNumber: true),
      ]
    }
    return [
      PageSection(
        heading: "Limits that instances share",
        paragraphs: [
          [
            "Besides the day's tokens, a rate of pushes, the number of an app, or one push for several widgets can bind. No plan within these limits shows more than the upper bound; the best plan may show less. A day is one of the instances that a push reloads together."
          ]
        ], tables: [table])
    ]
  }

  private static func number(_ value: JSONValue?) -> PageCell {
    guard let number = value?.double else { return PageCell("–", isNumber: true) }
    if let whole = Int(exactly: number) { return .number(whole) }
    return .decimal(number)
  }
}

extension JSONValue {
  /// The elements of an array; nil if this is no array.
  fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  /// The text; nil if this is none.
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The number; nil if this is none.
  fileprivate var double: Double? { if case .number(let number) = self { number } else { nil } }
}
