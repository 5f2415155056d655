import Auditing
import Domain
import Serving

/// The page of the most frequent values of a property of decisions.
enum TopPage {
  /// The most rows.
  private static let rowsMax = 100

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let range = try request.pageRange()
    guard let key = Top.Key(rawValue: request.query["by"] ?? Top.Key.device.rawValue) else {
      throw Problem(
        .malformedRequest, "by is one of \(Top.Key.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    context.namesDevices = key == .device
    let top = try context.store().top(by: key, range: range, limit: rowsMax)
    var table = PageTable(
      name: "top",
      caption:
        "\(Figure.count(top.distinct, key.rawValue)) with \(Figure.count(top.total, "decision"))\(top.distinct > rowsMax ? ", the first \(rowsMax)" : "")",
      columns: [key.rawValue, "#Decisions", "#Share"], empty: "No decision in this range.",
      csv: PageLink.to(
        "/v1/top",
        [
          "format": "csv", "limit": String(ConsoleRoute.limitMax), "by": key.rawValue,
          "from": range.from.map(Figure.time), "to": range.to.map(Figure.time),
        ]))
    table.rows = top.rows.map { row in
      [
        PageCell(row.name.text, link: link(key, row.name, range)), .number(row.decisions),
        .share(row.decisions, of: top.total, .coalesce),
      ]
    }
    let time = PageTime()
    let form = PageForm(
      action: "/top",
      fields: [
        .init(
          name: "by", label: "By", sort: .choice, value: key.rawValue,
          choices: Top.Key.allCases.map { ($0.rawValue, $0.rawValue) }),
        .init(name: "from", label: "From, UTC", value: range.from.map(time.text) ?? "", hint: "2013-03-08 21:05"),
        .init(name: "to", label: "To (not included)", value: range.to.map(time.text) ?? "", hint: "2013-03-09"),
      ], button: "Show")
    return try ConsolePage(
      title: "Most decisions by \(key.rawValue)",
      sections: [PageSection(heading: "Counts", forms: [form], tables: [table])]
    ).answer(request)
  }

  /// Returns the address of the decisions that a row counts.
  private static func link(_ key: Top.Key, _ name: Identifier, _ range: TimeRange) -> String {
    let (from, to) = (range.from.map(Figure.time), range.to.map(Figure.time))
    switch key {
    case .device: return PageLink.to(PageLink.device(name), adding: ["from": from, "to": to])
    // The page of an event is about all of its decisions.
    case .event where from == nil && to == nil: return PageLink.event(name)
    case .event, .reason, .kind, .verdict:
      return PageLink.to(
        PageLink.to("/decisions", KeyValuePairs(dictionaryLiteral: (key.rawValue, name.text))),
        adding: ["from": from, "to": to])
    }
  }
}
