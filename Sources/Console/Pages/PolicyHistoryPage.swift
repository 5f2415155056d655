import Auditing
import Domain
import Operating
import Policies
import Serving

/// The policies that were applied: the list, the text of each, and the difference between any two.
enum PolicyHistoryPage {
  /// The path of the difference.
  static let differencePath = "/policy/difference"
  /// The most bytes of a policy that are shown.
  private static let textBytesMax = 65_536
  /// The most values and changes that are listed.
  private static let rowsMax = 600
  private static let time = PageTime()

  /// Returns the section of the page of the policy.
  static func section(_ watch: PolicyWatch) -> PageSection {
    let (trail, failure) = watch.trail()
    var section = PageSection(heading: "History")
    if let failure { section.paragraphs.append([PageCell("Not known: \(failure).", tone: .bad)]) }
    guard let trail else {
      if failure == nil {
        section.paragraphs.append(["The log is being read; this page shows the policies in some seconds."])
      }
      return section
    }
    section.tables = [table(trail)]
    if !trail.isComplete {
      section.paragraphs.append([
        PageCell(
          "Only the last records of the log were read, so older policies may be missing. Those in force are at the top of this page.",
          tone: .dim)
      ])
    }
    if trail.records.count > 1 {
      section.forms = [form(trail, from: trail.records[1].offset, to: trail.records[0].offset)]
    }
    return section
  }

  /// Whether the log is being read for the first time.
  static func isWaiting(_ watch: PolicyWatch) -> Bool {
    let (trail, failure) = watch.trail()
    return trail == nil && failure == nil
  }

  private static func table(_ trail: PolicyLog.PolicyTrail) -> PageTable {
    var table = PageTable(
      name: "history", caption: "Policies that were applied, the newest first",
      columns: ["Version", "Hash", "Applied, UTC", "By", "#Offset", "Changes"],
      empty: "No policy was applied among the records that the log holds.",
      csv: PageLink.to("/v1/policies", ["format": "csv"]))
    table.rows = trail.records.enumerated().map { place, record in
      let before = place + 1 < trail.records.count ? trail.records[place + 1].offset : nil
      return [
        PageCell(name(record), link: link(record)), PageCell(record.reference?.hash.text ?? "", tone: .dim),
        PageCell(applied(record)), by(record),
        .number(Int(record.offset)),
        before.map { PageCell("from the one before", link: differenceLink(from: $0, to: record.offset)) } ?? "",
      ]
    }
    return table
  }

  private static func form(_ trail: PolicyLog.PolicyTrail, from: Int64, to: Int64) -> PageForm {
    let choices = trail.records.map { record in
      ("\(record.offset)", "\(name(record)), offset \(record.offset)")
    }
    return PageForm(
      action: differencePath,
      fields: [
        .init(name: "from", label: "Compare", sort: .choice, value: "\(from)", choices: choices),
        .init(name: "to", label: "with", sort: .choice, value: "\(to)", choices: choices),
      ], button: "Compare")
  }

  /// Returns the page of one policy.
  static func record(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    guard let trail = try known(context) else { return try waiting("Policy").answer(request) }
    let record = try record(request["offset"], trail)
    var section = PageSection(
      heading: "Record",
      facts: [
        ("Applied, UTC", [PageCell(applied(record))]), ("By", [by(record)]),
        ("Hash", [PageCell(record.reference?.hash.text ?? "", tone: .code)]),
        ("Log", [PageCell("partition \(record.partition), offset \(record.offset)")]),
      ])
    if let newest = trail.records.first, newest.offset != record.offset {
      section.paragraphs = [
        [
          PageCell(
            "What changed from this one to the newest", link: differenceLink(from: record.offset, to: newest.offset))
        ]
      ]
    }
    var sections = [section]
    do throws(PolicyError) {
      let lines = PolicyExplanation(try PolicyDocument(record: record.text, file: "policy.yaml")).lines
      var table = PageTable(
        name: "values", caption: "Each value with its origin", columns: ["Value", "Set to", "Origin"], empty: "None.",
        shownMax: rowsMax)
      table.rows = lines.map { line in
        [
          PageCell(line.path, tone: .code), PageCell(PolicyText.of(line.value)),
          PageCell(PolicyExplanation.words(line.origin)),
        ]
      }
      sections.append(PageSection(heading: "Values", tables: [table]))
    } catch {
      sections.append(
        PageSection(
          heading: "Values", paragraphs: [[PageCell("This release does not accept the policy: \(error)", tone: .bad)]]))
    }
    let bytes = record.text.utf8
    let isCut = bytes.count > textBytesMax
    sections.append(
      PageSection(
        heading: isCut ? "The first \(Figure.grouped(Int64(textBytesMax))) bytes of the text" : "Text",
        text: String(decoding: bytes.prefix(textBytesMax), as: UTF8.self)))
    return try ConsolePage(title: name(record), topic: "Policy", area: .policy, sections: sections).answer(request)
  }

  /// Returns the page of the difference between two policies.
  static func difference(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    guard let trail = try known(context) else { return try waiting("What changed").answer(request) }
    let (from, to) = (try record(request.query["from"], trail), try record(request.query["to"], trail))
    var section = PageSection(heading: "Values that differ")
    do throws(PolicyError) {
      let old = try PolicyDocument(record: from.text, file: "the log").policy
      let new = try PolicyDocument(record: to.text, file: "the log").policy
      section.tables = [
        changes(PolicyDifference(from: old, to: new), "Effective values that differ", columns: [name(from), name(to)])
      ]
    } catch {
      section.paragraphs = [[PageCell("This release does not accept one of the policies: \(error)", tone: .bad)]]
    }
    let lead: [PageCell] = [
      "From ", PageCell(name(from), link: link(from)), PageCell(" (applied: \(applied(from))) to "),
      PageCell(name(to), link: link(to)), PageCell(" (applied: \(applied(to))). Times are in UTC."),
    ]
    return try ConsolePage(
      title: "What changed", topic: "Policy", area: .policy, lead: lead,
      sections: [
        section, PageSection(heading: "Compare others", forms: [form(trail, from: from.offset, to: to.offset)]),
      ]
    ).answer(request)
  }

  /// Returns the table of a difference.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - caption: The caption.
  ///   - columns: The titles of the old and of the new values.
  static func changes(_ difference: PolicyDifference, _ caption: String, columns: [String]) -> PageTable {
    var table = PageTable(
      name: "changes", caption: caption,
      columns: ["Value"] + columns.map { $0.drop { $0 == "#" } }.map(String.init),
      empty: "No effective value differs.", shownMax: rowsMax)
    table.rows = difference.changes.map { change in
      [
        PageCell(change.path, tone: .code), PageCell(change.old.map { PolicyText.of($0) } ?? "–"),
        PageCell(change.new.map { PolicyText.of($0) } ?? "removed"),
      ]
    }
    return table
  }

  /// Returns the policy records; nil before the log was read for the first time.
  ///
  /// - Throws: `Problem` if it cannot be read.
  private static func known(_ context: ConsoleContext) throws(Problem) -> PolicyLog.PolicyTrail? {
    let (trail, failure) = context.policies.trail()
    if trail == nil, let failure { throw Problem(.unavailable, failure, retryAfterSeconds: 5) }
    return trail
  }

  private static func waiting(_ title: String) -> ConsolePage {
    var page = ConsolePage(
      title: title, topic: "Policy", area: .policy,
      sections: [
        PageSection(
          heading: "Kafka",
          paragraphs: [
            [
              "The log is being read. This page shows the answer in some seconds; ", PageCell("load it now", link: ""),
              ".",
            ]
          ])
      ])
    page.refreshSeconds = ClusterView.retrySeconds
    return page
  }

  private static func record(_ offset: String?, _ trail: PolicyLog.PolicyTrail) throws(Problem)
    -> PolicyLog.PolicyRecord
  {
    guard let offset, let number = Int64(offset) else {
      throw Problem(
        .malformedRequest,
        "a policy is named by its offset in the log, as the history on the page of the policy lists it")
    }
    guard let record = trail.records.first(where: { $0.offset == number }) else {
      let words = "there is no policy at the offset \(number) among the records of the log that were read"
      throw Problem(.notFound, trail.isComplete ? words : "\(words); older ones were not read")
    }
    return record
  }

  private static func name(_ record: PolicyLog.PolicyRecord) -> String {
    record.reference?.version.text ?? "not accepted by this release"
  }

  private static func applied(_ record: PolicyLog.PolicyRecord) -> String { record.at.map(time.text) ?? "not stated" }

  private static func by(_ record: PolicyLog.PolicyRecord) -> PageCell {
    record.appliedBy.map { PageCell("\($0)") } ?? PageCell("not stated", tone: .dim)
  }

  private static func link(_ record: PolicyLog.PolicyRecord) -> String { "/policy/records/\(record.offset)" }

  private static func differenceLink(from: Int64, to: Int64) -> String {
    PageLink.to(differencePath, ["from": "\(from)", "to": "\(to)"])
  }
}
