import Auditing
import Domain
import Serving

/// The page of access records, for operators: who looked at what, who changed what, and who was refused.
enum AccessPage {
  static let path = "/access"
  /// The records of a page.
  private static let rowsMax = 100

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let time = PageTime()
    var query = QueryReader(request.query.withoutEmpty, pageTime: time)
    let keeper = query.choice("of", AccessRecords.Keeper.self) ?? .console
    let filter = query.accessFilter()
    let place = query.cursor { PageCursor.accessPlace($0) }
    _ = query.text(PageTable.nameField)
    context.note(query.texts)
    try query.finish()
    let part = try context.access.part(of: keeper, filter, after: place, limit: rowsMax)
    let names: KeyValuePairs<String, String?> = [
      "of": keeper == .console ? nil : keeper.rawValue,
      "key": filter.key.text, "operation": filter.operation.text, "device": filter.device.text,
      "event": filter.event.text, "refused": filter.isRefused.map { "\($0)" },
      "from": filter.range.from.map(Figure.time), "to": filter.range.to.map(Figure.time),
    ]
    var table = PageTable(
      name: "access", caption: "The newest first, \(rowsMax) a page",
      columns: [
        "Time, UTC", "Key", "Operation", "Device", "Event", "About", "#Status", "From", "Refused", "#Attempts",
      ],
      empty: "There is no record that these filters include.",
      csv: PageLink.to(
        PageLink.to("/v1/access", names), adding: ["format": "csv", "limit": "\(ConsoleRoute.limitMax)"]))
    table.rows = part.records.map { row($0, time) }
    var section = PageSection(heading: "Records", tables: [table])
    if let next = part.next {
      section.paragraphs = [
        [
          PageCell(
            "Older records",
            link: PageLink.to(PageLink.to(path, names), adding: ["cursor": PageCursor.text(next)]))
        ]
      ]
    }
    return try ConsolePage(
      title: "Who asked", area: .health,
      lead: lead(keeper, isKnown: context.settings.gatewayAccessPath != nil),
      sections: [choices(keeper, filter, time), section]
    ).answer(request)
  }

  private static func lead(_ keeper: AccessRecords.Keeper, isKnown: Bool) -> [PageCell] {
    switch keeper {
    case .gateway:
      [
        "Each device that was registered or removed over HTTP, and each attempt that was refused, as the gateway recorded it. ",
        PageCell("Those of the console", link: path), " tell of pages and questions.",
      ]
    case .console where isKnown:
      [
        "Each change, each look at the history of devices, and each attempt that was refused, as the console recorded it. ",
        PageCell("Those of the gateway", link: PageLink.to(path, ["of": "gateway"])), " tell of changes of devices.",
      ]
    case .console:
      [
        "Each change, each look at the history of devices, and each attempt that was refused. A gateway keeps records of its own: ",
        PageCell("rouse audit access --file", tone: .code), " reads them.",
      ]
    }
  }

  private static func row(_ record: AccessRecord, _ time: PageTime) -> [PageCell] {
    [
      PageCell(time.text(record.at)), PageCell(record.key.text ?? "none", tone: record.key == nil ? .dim : nil),
      PageCell(record.operation.text, tone: .code),
      PageCell(record.device.text ?? "", link: record.device.map { PageLink.device($0) }),
      PageCell(record.event.text ?? "", link: record.event.map { PageLink.event($0) }),
      PageCell(record.subject.text ?? ""), .number(record.status), PageCell(record.client.text ?? ""),
      PageCell(record.refused.text ?? "", tone: record.refused == nil ? nil : .bad), .number(record.count),
    ]
  }

  private static func choices(_ keeper: AccessRecords.Keeper, _ filter: AccessFilter, _ time: PageTime) -> PageSection {
    PageSection(
      heading: "Filters",
      forms: [
        PageForm(
          action: path,
          fields: [
            .init(name: "key", label: "Key", value: filter.key.text ?? ""),
            .init(name: "operation", label: "Operation", value: filter.operation.text ?? "", hint: "devicePage"),
            .init(name: "device", label: "Device", value: filter.device.text ?? ""),
            .init(name: "event", label: "Event", value: filter.event.text ?? ""),
            .init(
              name: "refused", label: "Refused", sort: .choice, value: filter.isRefused.map { "\($0)" } ?? "",
              choices: [("", "any"), ("true", "refused attempts alone"), ("false", "requests that were let in alone")]),
            .init(
              name: "from", label: "From, UTC", value: filter.range.from.map(time.text) ?? "", hint: "2026-03-08 21:05"),
            .init(
              name: "to", label: "To (not included)", value: filter.range.to.map(time.text) ?? "", hint: "2026-03-09"),
            .init(name: "of", label: "", sort: .hidden, value: keeper.rawValue),
          ], button: "Show")
      ])
  }
}
