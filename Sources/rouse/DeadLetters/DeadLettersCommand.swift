import ArgumentParser
import Domain
import JSON
import KafkaClient
import Pipeline

struct DeadLettersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters", abstract: "Look at records that were not accepted, and give them back.",
    subcommands: [List.self, Show.self, Replay.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The newest letters, with the reason and where each came from.",
      discussion: """
        EXAMPLE
          rouse dead-letters list --bootstrap localhost:9092 --limit 50
        """)

    @OptionGroup var settings: SettingsOptions
    @Option(help: "Show at most this many.")
    var limit = 20
    @Option(help: ArgumentHelp("Only letters with this reason.", valueName: "code"))
    var reason: String?
    @OptionGroup var output: FormatOption

    func validate() throws {
      guard (1...100_000).contains(limit) else { throw ValidationError("--limit \(limit): expected 1 to 100000") }
    }

    func run() async throws {
      let box = DeadLetterBox(settings: try await settings.resolve().connected())
      let letters = try box.newest(limit, reason: reason)
      switch output.format {
      case .text:
        if letters.isEmpty { Words.say("no dead letters") }
        for letter in letters { try Output.print(letter.line + "\n") }
      case .json:
        var json = JSONWriter()
        json.beginArray()
        for letter in letters { letter.encode(to: &json, whole: false) }
        json.endArray()
        try Output.print(json.bytes)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "One letter with its headers and bytes.",
      discussion: """
        EXAMPLE
          rouse dead-letters show 'rouse.dead-letters[3]@17' --bootstrap localhost:9092
        """)

    @Argument(help: ArgumentHelp("Where it stands, as list shows it.", valueName: "topic[partition]@offset"))
    var place: String
    @OptionGroup var settings: SettingsOptions
    @OptionGroup var output: FormatOption

    func run() async throws {
      let place = try Place.parse(place)
      let letter = try DeadLetterBox(settings: try await settings.resolve().connected()).letter(at: place)
      switch output.format {
      case .text: try Output.print(letter.page)
      case .json:
        var json = JSONWriter()
        letter.encode(to: &json, whole: true)
        try Output.print(json.bytes)
      }
    }
  }

  struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write letters back to the topics they came from.",
      discussion: """
        The original bytes, key and headers, into the same partition; `rouse-replayed-from` tells where from. All \
        letters are looked at before the first is written: when one is refused, none is written, unless --skip-refused \
        leaves it out. What still cannot be accepted becomes a letter again.

        A letter is replayed once: a receipt beside it says so, written in the same transaction, and a second replay \
        leaves it out. So after a failure, the same command goes on.

        A registration would be the newest record of its device. It is refused when the device has registered anew, or \
        was forgotten, since.

        Exits 1 when letters were refused and --skip-refused was not given.

        EXAMPLE
          rouse dead-letters replay 'rouse.dead-letters[3]@17' \\
            --bootstrap localhost:9092
          rouse dead-letters replay --reason MISSING_FIELD --limit 1000
        """)

    @Argument(help: ArgumentHelp("Where they stand, as list shows it.", valueName: "topic[partition]@offset"))
    var places: [String] = []
    @Option(help: ArgumentHelp("Instead of places: the newest letters with this reason.", valueName: "code"))
    var reason: String?
    @Option(help: "With --reason, at most this many: the newest that were not replayed.")
    var limit = 100
    @Flag(help: "Leave out letters that are refused, and replay the others.")
    var skipRefused = false
    @OptionGroup var settings: SettingsOptions

    func validate() throws {
      if places.isEmpty, reason == nil {
        throw ValidationError("name places as `rouse dead-letters list` shows them, or --reason with a code")
      }
      if !places.isEmpty, reason != nil { throw ValidationError("name places, or --reason, and not both") }
      guard (1...100_000).contains(limit) else { throw ValidationError("--limit \(limit): expected 1 to 100000") }
    }

    func run() async throws {
      let places = try places.map { try Place.parse($0) }
      let box = DeadLetterBox(settings: try await settings.resolve().connected())
      var letters: [Letter] = []
      for place in places { letters.append(try box.letter(at: place)) }
      if let reason {
        letters = try box.newest(limit, reason: reason, waiting: true).reversed()
        if letters.isEmpty { Words.say("no letter with the reason \(reason) waits to be replayed") }
      }
      var count = 0
      let report: ReplayReport
      do {
        report = try box.replay(letters, skipsRefused: skipRefused) { replayed in
          count += replayed.count
          for letter in replayed {
            try Output.print("\(letter.place)  replayed to \(letter.origin?.partition.topic ?? "")\n")
          }
        }
      } catch let error as KafkaError {
        let done = count == 0 ? "no letter was" : Digits.count(count, "letter was", "letters were")
        throw Failure(
          "\(error.operation) failed: \(error.message) (\(error.code.name)); \(done) replayed; "
            + "the same command goes on, and replays none twice")
      }
      try tell(report)
    }

    private func tell(_ report: ReplayReport) throws {
      for letter in report.replayedBefore { Words.say("\(letter.place): replayed before, left out") }
      for refusal in report.refused { Words.say("\(refusal.letter.place): refused: \(refusal.why)") }
      guard report.refused.isEmpty || skipRefused else {
        throw Failure(
          "\(Digits.count(report.refused.count, "letter")) refused, so none was replayed; name the others only, or leave "
            + "out what is refused with --skip-refused")
      }
      var words = "\(Digits.count(report.replayed.count, "letter")) replayed"
      if !report.replayedBefore.isEmpty { words += ", \(Digits.grouped(report.replayedBefore.count)) replayed before" }
      if !report.refused.isEmpty { words += ", \(Digits.grouped(report.refused.count)) refused" }
      Words.say(words)
    }
  }
}

/// `topic[partition]@offset`
private enum Place {
  static func parse(_ text: String) throws -> KafkaPosition {
    guard let at = text.lastIndex(of: "@"), let offset = Int64(text[text.index(after: at)...]), offset >= 0,
      let open = text[..<at].lastIndex(of: "["), text[..<at].last == "]", open > text.startIndex,
      let partition = Int32(text[text.index(after: open)..<text.index(before: at)]), partition >= 0
    else { throw ValidationError("\(text): expected topic[partition]@offset, as rouse dead-letters list shows it") }
    return KafkaPosition(KafkaTopicPartition(topic: String(text[..<open]), partition: partition), offset: offset)
  }
}

extension Letter {
  fileprivate var time: String {
    message.timestampMilliseconds.map { "\(Timestamp(milliseconds: $0))" } ?? "no time"
  }

  fileprivate var line: String {
    let replayed = replayedAt.map { "  replayed \(Timestamp(milliseconds: $0))" } ?? ""
    return "\(place)  \(time)  \(reason)  from \(origin.map { "\($0)" } ?? "nowhere")\(replayed)\n    \(text)"
  }

  fileprivate var page: String {
    var page = line + "\n"
    func shown(_ bytes: [UInt8]?) -> String {
      guard let bytes else { return "none" }
      return String(validating: bytes, as: UTF8.self)
        ?? bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }
    for header in message.headers { page += "\(header.name): \(shown(header.value))\n" }
    page += "key: \(shown(message.key))\n"
    if let leftOutBytes {
      page += "value: \(Digits.grouped(leftOutBytes)) bytes, too large for a letter; they stand at the origin\n"
    } else {
      page += "value, \(Digits.grouped(message.value?.count ?? 0)) bytes:\n\(shown(message.value))\n"
    }
    return page
  }

  fileprivate func encode(to json: inout JSONWriter, whole: Bool) {
    json.beginObject()
    for (key, value) in [
      ("place", "\(place)"), ("at", time), ("reason", reason), ("message", text),
      ("origin", origin.map { "\($0)" } ?? ""),
    ] {
      json.key(key)
      json.string(value)
    }
    if let replayedAt {
      json.key("replayed")
      json.string("\(Timestamp(milliseconds: replayedAt))")
    }
    json.key("bytes")
    json.integer(leftOutBytes ?? message.value?.count ?? 0)
    if whole {
      json.key("headers")
      json.beginArray()
      for header in message.headers {
        json.beginObject()
        json.key("name")
        json.string(header.name)
        Self.bytes(header.value, to: &json)
        json.endObject()
      }
      json.endArray()
      json.key("key")
      json.beginObject()
      Self.bytes(message.key, to: &json)
      json.endObject()
      json.key("value")
      json.beginObject()
      Self.bytes(leftOutBytes == nil ? message.value : nil, to: &json)
      json.endObject()
    }
    json.endObject()
  }

  /// `text` where it is UTF-8, `hex` otherwise, neither for null.
  private static func bytes(_ bytes: [UInt8]?, to json: inout JSONWriter) {
    guard let bytes else { return }
    if let text = String(validating: bytes, as: UTF8.self) {
      json.key("text")
      json.string(text)
    } else {
      json.key("hex")
      json.string(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }
  }
}
