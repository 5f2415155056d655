import Auditing
import Domain
import Installation
import KafkaClient
import Keys
import Logging
import Operating
import Serving

/// The page of dead letters: by reason, with a look inside, and a way back for each.
struct DeadLettersPage {
  /// The most bytes of a value that are shown.
  private static let valueBytesMax = 16_384
  /// The most rows of a page.
  private static let rowsMax = 100
  /// The path to which the replay of all letters with a reason is sent.
  static let reasonPath = "/dead-letters/by-reason"
  /// The most letters that one push of a button replays.
  /// - Beyond: the page has a button that goes on with older ones.
  private static let replayMax = 1000
  /// The most refused letters that are listed after a replay.
  private static let refusedMax = 20
  /// The path of the letters as CSV.
  static let csvPath = "/dead-letters/csv"
  /// The most letters of a CSV. Each part of it reads what is newer again, to know which letters were replayed.
  /// - Beyond: `GET /v1/dead-letters` goes on.
  private static let csvRowsMax = 10_000

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    try page(request, context).answer(request)
  }

  /// Returns the letters as CSV.
  static func csv(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    // Read at once, so that brokers that do not answer are told before the head of the answer is sent.
    let first = try ExportStream.ExportPart.deadLetters(request.query["reason"], left: csvRowsMax, context)
    return HTTPAnswer(
      status: 200, contentType: AnswerForm.csv.contentType, headers: HTTPAnswer.dataHeaders(.csv, name: "dead-letters"),
      stream: try ExportStream.start(context.readers) { _ in first })
  }

  /// Writes the record of a letter back to its topic.
  static func replay(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    guard let place = place(try request.form()["place"], context) else {
      throw Problem(.malformedRequest, "place is partition@offset")
    }
    let report = try context.replay(place, by: request.viewer).report
    let words: PageCell
    if let refusal = report.refused.first {
      words = PageCell("\(place) was not replayed: \(refusal.why).", tone: .bad)
    } else if report.replayed.isEmpty {
      words = PageCell("\(place) was replayed before, so nothing was done.")
    } else {
      words = PageCell(
        "\(place) was written back to \(report.replayed[0].origin?.partition.topic ?? "its topic").", tone: .good)
    }
    return try page(request, context, done: PageSection(heading: "Done", paragraphs: [[words]])).answer(request)
  }

  /// Writes the records of the newest letters with a reason back to their topics.
  static func replayReason(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let form = try request.form()
    guard let reason = form["reason"], !reason.isEmpty else { throw Problem(.malformedRequest, "reason is missing") }
    let start = try form["cursor"].map { text in
      guard let start = PageCursor.letters(text) else {
        throw Problem(.malformedRequest, "cursor is none of this page")
      }
      return start
    }
    let (report, next) = try context.replay(reason: reason, limit: replayMax, from: start, by: request.viewer)
    var done = PageSection(heading: "Done")
    let words = "\(Figure.count(report.replayed.count, "letter")) with the reason \(reason) replayed"
    done.paragraphs = [[PageCell("\(words).", tone: report.replayed.isEmpty ? nil : .good)]]
    if !report.refused.isEmpty {
      done.paragraphs.append([
        PageCell(
          "\(Figure.count(report.refused.count, "letter")) left out, because they must not be replayed:", tone: .bad)
      ])
      done.list = report.refused.prefix(refusedMax).map { refusal in
        [PageCell(text(refusal.letter.place), link: link(refusal.letter.place)), PageCell(": \(refusal.why)")]
      }
    }
    if let next {
      done.paragraphs.append(["Older ones may wait."])
      done.forms = [reasonForm(reason, from: next, button: "Replay older ones with this reason")]
    }
    return try page(request, context, reason: reason, done: done).answer(request)
  }

  /// Returns the page of one letter, however old it is.
  static func letter(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let place = try ConsoleRoute.place(request, context)
    let known = try context.clusterView()?.letters?.first { $0.place == place }
    let letter = try known ?? context.letter(at: place)
    return try ConsolePage(
      title: "Letter \(text(place))", topic: "Dead letters", area: .deadLetters,
      sections: [
        inside(letter, context, mayReplay: request.viewer.may(.operator)),
        PageSection(
          heading: "Others",
          paragraphs: [
            [
              PageCell("Letters with the same reason", link: PageLink.to("/dead-letters", ["reason": letter.reason])),
              ", ", PageCell("all letters", link: "/dead-letters"), ".",
            ]
          ]),
      ]
    ).answer(request)
  }

  private static func page(
    _ request: ConsoleRequest, _ context: ConsoleContext, reason: String? = nil, done: PageSection? = nil
  ) throws -> ConsolePage {
    let view = try context.clusterView()
    // Any reason: letters of a newer release may have one that this one does not know.
    let reason = reason ?? request.query["reason"]
    var sections = done.map { [$0] } ?? []
    if let letters = view?.letters.map(context.concealed) {
      sections += [reasons(letters), list(letters, reason, mayReplay: request.viewer.may(.operator))]
    }
    sections.append(ClusterView.state(view, context.now()))
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

  private static func list(_ letters: [DeadLetterRecord], _ reason: String?, mayReplay: Bool) -> PageSection {
    let time = PageTime()
    var table = PageTable(
      name: "letters", caption: reason.map { "The newest letters with the reason \($0)" } ?? "The newest letters",
      columns: ["Letter", "Reason", "From", "Time, UTC", "Replayed"], empty: "None.",
      csv: PageLink.to(csvPath, ["reason": reason]),
      shownMax: rowsMax)
    table.rows = letters.filter { reason == nil || $0.reason == reason }.map { letter in
      [
        PageCell(text(letter.place), link: link(letter.place)),
        PageCell(letter.reason, tone: .code, detail: letter.text), PageCell(letter.origin.map { "\($0)" } ?? "unknown"),
        PageCell(letter.message.timestampMilliseconds.map { time.text(Timestamp(milliseconds: $0)) } ?? ""),
        PageCell(letter.replayedAt.map { time.text(Timestamp(milliseconds: $0)) } ?? "no"),
      ]
    }
    var section = PageSection(heading: "Letters", tables: [table])
    if let reason, mayReplay, letters.contains(where: { $0.reason == reason && $0.replayedAt == nil }) {
      section.forms = [
        reasonForm(
          reason,
          button: "Replay all with this reason that were not replayed, at most \(Figure.grouped(Int64(replayMax)))")
      ]
    }
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

  /// Returns the button that replays the letters with a reason, from a place on or from the newest.
  private static func reasonForm(_ reason: String, from start: DeadLetterCursor? = nil, button: String) -> PageForm {
    var form = PageForm(
      action: reasonPath, changes: true, fields: [.init(name: "reason", label: "", sort: .hidden, value: reason)],
      button: button)
    if let start {
      form.fields.append(.init(name: "cursor", label: "", sort: .hidden, value: PageCursor.text(start)))
    }
    return form
  }

  private static func inside(_ letter: DeadLetterRecord, _ context: ConsoleContext, mayReplay: Bool) -> PageSection {
    let value = letter.message.value ?? []
    let show = context.concealing(letter)
    func shown(_ bytes: [UInt8], _ bytesMax: Int) -> String {
      String(decoding: show(bytes).prefix(bytesMax), as: UTF8.self)
    }
    var section = PageSection(heading: "What was not accepted")
    section.facts = [
      ("Reason", [PageCell(letter.reason, tone: .code)]),
      ("In words", [PageCell(shown(Array(letter.text.utf8), .max))]),
      ("From", [PageCell(letter.origin.map { "\($0)" } ?? "unknown")]),
      ("Key", [PageCell(letter.message.key.map { shown($0, 1024) } ?? "none")]),
      ("Size", [PageCell("\(Figure.grouped(Int64(value.count))) bytes")]),
    ]
    section.text =
      letter.message.value == nil
      ? "no value"
      : shown(value, valueBytesMax) + (value.count > valueBytesMax ? "\n…" : "")
    if let at = letter.replayedAt {
      section.paragraphs = [["It was replayed at \(PageTime().text(Timestamp(milliseconds: at))) UTC."]]
    } else if mayReplay {
      section.forms = [
        PageForm(
          action: "/dead-letters", changes: true,
          fields: [.init(name: "place", label: "", sort: .hidden, value: text(letter.place))], button: "Replay")
      ]
    } else {
      section.paragraphs = [["A key with the role operator can replay it."]]
    }
    if let event = event(letter, context) {
      section.forms.append(
        PageForm(
          action: TryPage.path, changes: true,
          fields: [.init(name: "event", label: "", sort: .hidden, value: event)],
          button: "Try it on the policy in force"))
    }
    return section
  }

  /// Returns the event of a letter as JSON; nil if it is no event in the structured mode of CloudEvents, or too large for a form.
  private static func event(_ letter: DeadLetterRecord, _ context: ConsoleContext) -> String? {
    guard let topic = letter.origin?.partition.topic, context.settings.cluster.eventTopics.contains(topic),
      let value = letter.message.value, value.first == UInt8(ascii: "{"), value.count <= valueBytesMax,
      !letter.message.headers.contains(where: { $0.name.hasPrefix("ce_") }),
      let text = String(validating: value, as: UTF8.self)
    else { return nil }
    return text
  }

  private static func link(_ place: KafkaPosition) -> String {
    "/dead-letters/\(place.partition.partition)/\(place.offset)"
  }

  private static func text(_ place: KafkaPosition) -> String { "\(place.partition.partition)@\(place.offset)" }

  private static func place(_ text: String?, _ context: ConsoleContext) -> KafkaPosition? {
    let parts = (text ?? "").split(separator: "@")
    guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0, offset >= 0
    else { return nil }
    return KafkaPosition(
      KafkaTopicPartition(topic: context.settings.cluster.topics.deadLetters, partition: partition), offset: offset)
  }
}
