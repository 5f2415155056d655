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
        The original bytes, key and headers; `rouse-replayed-from` tells where from. Replaying twice does no harm: an \
        event that was accepted is known by its source and id, for one to two days and among the last 16 of its \
        subject and type; an older one is stale. What still cannot be accepted becomes a letter again. A registration \
        becomes the newest record of its device: replay it only where the device has sent no other since.

        EXAMPLE
          rouse dead-letters replay 'rouse.dead-letters[3]@17' \\
            --bootstrap localhost:9092
          rouse dead-letters replay --reason MISSING_FIELD --limit 1000
        """)

    @Argument(help: ArgumentHelp("Where they stand, as list shows it.", valueName: "topic[partition]@offset"))
    var places: [String] = []
    @Option(help: ArgumentHelp("Instead of places: the newest letters with this reason.", valueName: "code"))
    var reason: String?
    @Option(help: "With --reason, at most this many.")
    var limit = 100
    @OptionGroup var settings: SettingsOptions

    func validate() throws {
      if places.isEmpty == (reason == nil) { throw ValidationError("name places, or --reason, and not both") }
      guard (1...100_000).contains(limit) else { throw ValidationError("--limit \(limit): expected 1 to 100000") }
    }

    func run() async throws {
      let places = try places.map { try Place.parse($0) }
      let box = DeadLetterBox(settings: try await settings.resolve().connected())
      var letters: [Letter] = []
      for place in places { letters.append(try box.letter(at: place)) }
      if let reason { letters = try box.newest(limit, reason: reason).reversed() }
      try box.replay(letters)
      for letter in letters {
        try Output.print("\(letter.place)  replayed to \(letter.origin?.partition.topic ?? "")\n")
      }
      Words.say("\(Digits.count(letters.count, "letter")) replayed")
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
    "\(place)  \(time)  \(reason)  from \(origin.map { "\($0)" } ?? "nowhere")\n    \(text)"
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
