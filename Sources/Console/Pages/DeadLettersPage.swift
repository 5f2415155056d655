import Auditing
import Domain
import KafkaClient
import Keys
import Logging
import Pipeline
import Serving

/// The page of dead letters: by reason, with a look inside, and a way back for each.
struct DeadLettersPage {
  /// The most bytes of a value that are shown.
  private static let valueBytesMax = 16_384
  /// The most rows of a page.
  private static let rowsMax = 100
  /// The path of the letters as CSV.
  static let csvPath = "/dead-letters/csv"
  /// The most letters of a CSV. Each part of it reads what is newer again, to know which letters were replayed.
  /// - Beyond: `GET /v1/dead-letters` goes on.
  private static let csvRowsMax = 10_000

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ desk: ConsoleDesk) throws -> HTTPAnswer {
    try page(request, desk).answer(request)
  }

  /// Returns the letters as CSV.
  static func csv(_ request: ConsoleRequest, _ desk: ConsoleDesk) throws -> HTTPAnswer {
    // Read at once, so that brokers that do not answer are told before the head of the answer is sent.
    let first = try ExportStream.ExportPart.deadLetters(request.query["reason"], left: csvRowsMax, desk)
    return HTTPAnswer(
      status: 200, contentType: AnswerForm.csv.contentType, headers: HTTPAnswer.dataHeaders(.csv, name: "dead-letters"),
      stream: try ExportStream.start(desk.readers) { _ in first })
  }

  /// Writes the record of a letter back to its topic.
  static func replay(_ request: ConsoleRequest, _ desk: ConsoleDesk) throws -> HTTPAnswer {
    guard let place = place(try request.form()["place"], desk) else {
      throw Problem(.malformedRequest, "place is partition@offset")
    }
    let report = try desk.replay(place, by: request.viewer).report
    let words: PageCell
    if let refusal = report.refused.first {
      words = PageCell("\(place) was not replayed: \(refusal.why).", tone: .bad)
    } else if report.replayed.isEmpty {
      words = PageCell("\(place) was replayed before, so nothing was done.")
    } else {
      words = PageCell(
        "\(place) was written back to \(report.replayed[0].origin?.partition.topic ?? "its topic").", tone: .good)
    }
    return try page(request, desk, done: words).answer(request)
  }

  private static func page(_ request: ConsoleRequest, _ desk: ConsoleDesk, done: PageCell? = nil) throws -> ConsolePage
  {
    let view = try desk.clusterView()
    var sections: [PageSection] = []
    if let done { sections.append(PageSection(heading: "Done", paragraphs: [[done]])) }
    let letters = view?.letters ?? []
    if view?.letters != nil {
      if let wanted = place(request.query["place"], desk), let letter = letters.first(where: { $0.place == wanted }) {
        desk.subject = desk.subject ?? "\(wanted)"
        sections.append(inside(letter, mayReplay: request.viewer.may(.operator)))
      }
      sections += [reasons(letters), list(letters, request.query["reason"])]
    }
    sections.append(ClusterView.state(view, desk.now()))
    var page = ConsolePage(
      title: "Dead letters", area: .deadLetters,
      lead: [
        "Records that intake, a broker or a planner did not accept, each with the reason. Mend the cause first; a replay writes the record back to the topic that it came from."
      ],
      sections: sections)
    page.refreshSeconds = view == nil && request.head.method == "GET" ? ClusterView.retrySeconds : nil
    return page
  }

  private static func reasons(_ letters: [DeadLetterRecord]) -> PageSection {
    var counts: [String: (all: Int, waiting: Int)] = [:]
    for letter in letters {
      counts[letter.reason, default: (0, 0)].all += 1
      counts[letter.reason, default: (0, 0)].waiting += letter.replayedAt == nil ? 1 : 0
    }
    var table = PageTable(
      name: "reasons",
      caption:
        "Letters by reason\(letters.count == ClusterWatch.lettersMax ? ", of the newest \(ClusterWatch.lettersMax)" : "")",
      columns: ["Reason", "#Letters", "#Not replayed"], empty: "There is no dead letter: everything was accepted.")
    table.rows = counts.sorted { ($1.value.all, $0.key) < ($0.value.all, $1.key) }.map { reason, count in
      [
        PageCell(reason, link: PageLink.to("/dead-letters", ["reason": reason]), tone: .code), .number(count.all),
        .number(count.waiting),
      ]
    }
    return PageSection(heading: "By reason", tables: [table])
  }

  private static func list(_ letters: [DeadLetterRecord], _ reason: String?) -> PageSection {
    let time = PageTime()
    var table = PageTable(
      name: "letters", caption: reason.map { "The newest letters with the reason \($0)" } ?? "The newest letters",
      columns: ["Letter", "Reason", "From", "Time, UTC", "Replayed"], empty: "None.",
      csv: PageLink.to(csvPath, ["reason": reason]),
      shownMax: rowsMax)
    table.rows = letters.filter { reason == nil || $0.reason == reason }.map { letter in
      [
        PageCell(
          text(letter.place), link: PageLink.to("/dead-letters", ["place": text(letter.place), "reason": reason])),
        PageCell(letter.reason, tone: .code, detail: letter.text), PageCell(letter.origin.map { "\($0)" } ?? "unknown"),
        PageCell(letter.message.timestampMilliseconds.map { time.text(Timestamp(milliseconds: $0)) } ?? ""),
        PageCell(letter.replayedAt.map { time.text(Timestamp(milliseconds: $0)) } ?? "no"),
      ]
    }
    var section = PageSection(heading: "Letters", tables: [table])
    if letters.count == ClusterWatch.lettersMax || table.rows.count > rowsMax {
      section.paragraphs = [
        [
          PageCell(
            "The newest \(rowsMax) of the newest \(ClusterWatch.lettersMax) letters. The CSV reads the topic itself, up to \(Figure.grouped(Int64(csvRowsMax))) letters.",
            tone: .dim)
        ]
      ]
    }
    return section
  }

  private static func inside(_ letter: DeadLetterRecord, mayReplay: Bool) -> PageSection {
    let value = letter.message.value ?? []
    var section = PageSection(heading: "Letter \(text(letter.place))")
    section.facts = [
      ("Reason", [PageCell(letter.reason, tone: .code)]), ("In words", [PageCell(letter.text)]),
      ("From", [PageCell(letter.origin.map { "\($0)" } ?? "unknown")]),
      ("Key", [PageCell(letter.message.key.map { String(decoding: $0.prefix(1024), as: UTF8.self) } ?? "none")]),
      ("Size", [PageCell("\(Figure.grouped(Int64(value.count))) bytes")]),
    ]
    section.text =
      letter.message.value == nil
      ? "no value"
      : String(decoding: value.prefix(valueBytesMax), as: UTF8.self) + (value.count > valueBytesMax ? "\n…" : "")
    if letter.replayedAt != nil {
      section.paragraphs = [["It was replayed already."]]
    } else if mayReplay {
      section.forms = [
        PageForm(
          action: "/dead-letters", changes: true,
          fields: [.init(name: "place", label: "", sort: .hidden, value: text(letter.place))], button: "Replay")
      ]
    } else {
      section.paragraphs = [["A key with the role operator can replay it."]]
    }
    return section
  }

  private static func text(_ place: KafkaPosition) -> String { "\(place.partition.partition)@\(place.offset)" }

  private static func place(_ text: String?, _ desk: ConsoleDesk) -> KafkaPosition? {
    let parts = (text ?? "").split(separator: "@")
    guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0, offset >= 0
    else { return nil }
    return KafkaPosition(
      KafkaTopicPartition(topic: desk.settings.pipeline.topics.deadLetters, partition: partition), offset: offset)
  }
}
