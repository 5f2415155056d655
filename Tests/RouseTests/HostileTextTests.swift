import Foundation
import JSON
import KafkaClient
import Testing

/// Ids, kinds and paths from outside carry terminal commands. In text mode, none of them reaches a terminal.
@Suite("Hostile text", .serialized)
struct HostileTextTests {
  /// An ANSI colour, a window title, a new line that looks like a log line, and characters that reorder or hide text.
  private static let evil =
    "\u{1b}[31m\u{1b}]0;t\u{7}\t\u{8}\r\nFORGED critical rouse: \u{85}\u{9b}31m\u{7f}\u{61c}\u{200b}\u{200e}\u{202e}"
    + "\u{2028}FORGED \u{2029}\u{2066}\u{feff}\u{ad}\u{e0041}\u{e007f}"

  /// A JSON object on one line. `#` in a value stands for the hostile text.
  private static func line(_ json: String) throws -> String {
    var writer = JSONWriter()
    writer.string(evil)
    let quoted = writer.text.dropFirst().dropLast()
    return json.replacingOccurrences(of: "#", with: String(quoted)) + "\n"
  }

  /// A policy with a hostile kind.
  private static let policy = tinyPolicy.replacingOccurrences(
    of: "FlightStatus:", with: #""Flight\e[31m\r\nFORGED\u202e":"#)
  private static let kind = "Flight\u{1b}[31m\r\nFORGED\u{202e}"

  private static func device() throws -> String {
    try line(
      #"{"device":"d#","app":"app#","environment":"production","platform":"iOS","osVersion":"26.1","timeZone":"UTC","#
        + #""tokens":{"widgets":"aa1"},"widgets":[{"id":"w","kind":"Flight\u001b[31m\r\nFORGED\u202e","#
        + #""family":"systemSmall","interests":["flight/UA1"]}],"updatedAt":"2013-06-30T00:00:00Z"}"#
    )
    .replacingOccurrences(of: #""id":"w""#, with: #""id":"w\u001b[31m\nFORGED""#)
  }

  private static func event(_ id: String, _ minutes: Int, at time: String) throws -> String {
    try line(
      #"{"specversion":"1.0","id":"\#(id)","source":"/s~","type":"flight.delay.changed","subject":"flight/UA1","#
        + #""time":"2013-07-01T\#(time)Z","data":{"delayMinutes":\#(minutes)}}"#
    )
    .replacingOccurrences(of: "~", with: #"\u001b[31m\nFORGED"#)
  }

  /// A folder with hostile inputs, and the outcome of a plan of them.
  private func planned() throws -> (Workplace, Outcome) {
    let place = try Workplace()
    try place.put(Self.policy, "policy.yaml")
    try place.put(Self.policy.replacingOccurrences(of: "perDay: 40", with: "perDay: 30"), "other.yaml")
    try place.put(try Self.device() + "{\"device\":\"\u{1b}[31mraw\n", "devices.jsonl")
    var events = try Self.event("e1#", 10, at: "15:00:00") + Self.event("e2#", 30, at: "15:02:00")
    events += try Self.line(#"{"specversion":"1.0#","id":"x#","source":"s","type":"t","subject":"s"}"#)
    events += try Self.line(
      #"{"specversion":"1.0","id":"x#","source":"s","type":"t","subject":"s","time":"2013-07-01#"}"#)
    events += "\u{1b}[31mraw \u{202e}\u{85}\n"
    try place.put(events, "events.jsonl")
    let outcome = try place.rouse(
      "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--decisions",
      "decisions.jsonl", "--commands", "commands.jsonl", "--audit", "audit.sqlite")
    return (place, outcome)
  }

  /// Whether a character may reach a terminal. Only the line feed of the layout is a control.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control: scalar == "\n"
    case .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  /// Checks that an outcome has no raw control, and no line that hostile text began.
  private func expectPrintable(_ outcome: Outcome, _ words: [String]) {
    for text in [outcome.out, outcome.err] {
      let raw = text.unicodeScalars.filter { !Self.isPrintable($0) }.map { String($0.value, radix: 16) }
      #expect(raw.isEmpty, "\(words): \(Set(raw).sorted())")
      let forged = text.unicodeScalars.split(separator: "\n").filter { String($0).hasPrefix("FORGED") }
      #expect(forged.isEmpty, "\(words)")
    }
  }

  @Test("a plan of hostile records prints none of their controls")
  func plan() throws {
    let (_, outcome) = try planned()
    #expect(outcome.status == 0)
    #expect(outcome.err.contains("refused"))
    expectPrintable(outcome, ["plan"])
  }

  @Test("no text command prints a control of an id, and none of them can begin a line")
  func commands() throws {
    let (place, _) = try planned()
    let store = ["--store", "audit.sqlite"]
    let inputs = ["--devices", "devices.jsonl", "--events", "events.jsonl"]
    let answered: [[String]] = [
      ["audit", "summary"] + store, ["audit", "device", "d\(Self.evil)"] + store,
      ["audit", "why", "d\(Self.evil)"] + store,
      ["audit", "why", "d\(Self.evil)", "--event", "e2\(Self.evil)"] + store,
      ["audit", "event", "e1\(Self.evil)"] + store, ["audit", "statement", "d\(Self.evil)"] + store,
      ["audit", "top", "--by", "device"] + store, ["audit", "top", "--by", "kind"] + store,
      ["audit", "zombies"] + store, ["policy", "check", "policy.yaml"], ["policy", "explain", "policy.yaml"],
      ["policy", "explain", "policy.yaml", "--kind", Self.kind],
      ["policy", "diff", "policy.yaml", "other.yaml"], ["simulate", "--policy", "policy.yaml"] + inputs,
      ["verify", "--decisions", "decisions.jsonl", "--commands", "commands.jsonl", "--policy", "policy.yaml"],
    ]
    for words in answered {
      let outcome = try place.rouse(list: words)
      #expect(outcome.status == 0, "\(words): \(outcome.err)")
      expectPrintable(outcome, words)
    }
    let device = try place.rouse(list: ["audit", "device", "d\(Self.evil)"] + store)
    #expect(device.out.contains(#"d\u{1b}[31m\u{1b}]0;t\u{7}\u{9}\u{8}\u{d}\u{a}FORGED critical rouse: \u{85}"#))
    #expect(device.out.contains("emit"))
  }

  @Test("no error prints a control of the value that it quotes")
  func errors() throws {
    let (place, _) = try planned()
    let store = ["--store", "audit.sqlite"]
    try place.put("version: v\n\"ke\\e[31m\\nFORGED\": 1\nkinds: {}\n", "wrong.yaml")
    try place.put(
      try Self.line(#"{"decision":"d#","event":"e#","verdict":"v#"}"#) + "\u{1b}[31mraw\n", "broken.jsonl")
    let refused: [[String]] = [
      ["audit", "device", "nobody\(Self.evil)"] + store, ["audit", "event", "none\(Self.evil)"] + store,
      ["audit", "why", "nobody\(Self.evil)"] + store, ["audit", "statement", "nobody\(Self.evil)"] + store,
      ["audit", "why", "d\(Self.evil)", "--event", "none\(Self.evil)"] + store,
      ["audit", "summary", "--store", "no\(Self.evil)"], ["policy", "check", "wrong.yaml"],
      ["policy", "explain", "wrong.yaml"], ["policy", "check", "no\(Self.evil)"],
      ["policy", "explain", "policy.yaml", "--kind", "no\(Self.evil)"], ["policy", "profiles", "show", "no\u{1b}[31m"],
      ["verify", "--decisions", "broken.jsonl", "--commands", "commands.jsonl", "--policy", "policy.yaml"],
      ["plan", "--policy", "policy.yaml", "--devices", "no\(Self.evil)", "--events", "events.jsonl"],
      ["dead-letters", "show", "no\u{1b}[31m\u{202e}"], ["no\u{1b}[31m\u{202e}"],
    ]
    for words in refused { expectPrintable(try place.rouse(list: words), words) }
  }

  @Test("dead letters are listed and shown without the controls of their records")
  func deadLetters() throws {
    let place = try Workplace()
    let broker = try EmbeddedBroker()
    try broker.createTopic("rouse.dead-letters", partitions: 1)
    let producer = try KafkaProducer(KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)]))
    try producer.send(
      topic: "rouse.dead-letters", partition: 0, key: Array("key\(Self.evil)".utf8),
      value: Array("{\"a\(Self.evil)".utf8),
      headers: [
        KafkaHeader("rouse-reason", "INVALID_JSON\(Self.evil)"), KafkaHeader("rouse-message", "no\(Self.evil)"),
        KafkaHeader("rouse-origin-topic", "topic\(Self.evil)"), KafkaHeader("rouse-origin-partition", "0"),
        KafkaHeader("rouse-origin-offset", "1"), KafkaHeader("name\(Self.evil)", "value\(Self.evil)"),
      ])
    #expect(try producer.flush(timeout: .seconds(60)))
    for words in [["list"], ["show", "rouse.dead-letters[0]@0"]] {
      let outcome = try place.rouse(list: ["dead-letters"] + words + ["--bootstrap", broker.bootstrapServers])
      #expect(outcome.status == 0)
      #expect(outcome.out.contains(#"INVALID_JSON\u{1b}[31m"#))
      expectPrintable(outcome, words)
    }
  }

  @Test("the data outputs keep the ids, as escapes")
  func data() throws {
    // An export has hashes in place of the tokens, and is otherwise what was planned.
    let token = /"token":"[^"]*"/
    let (place, _) = try planned()
    let outcome = try place.rouse("audit", "export", "--store", "audit.sqlite")
    expectPrintable(outcome, ["audit", "export"])
    func values(_ lines: [String]) throws -> [String] {
      try lines.map { line in
        try JSONReader().read(Array(line.replacing(token, with: "\"token\":\"\"").utf8)) {
          (node: JSONNode) throws(JSONError) in
          var json = JSONWriter()
          json.value(node)
          return json.text
        }
      }.sorted()
    }
    let rows = try place.lines("decisions.jsonl") + place.lines("commands.jsonl")
    #expect(try values(outcome.lines) == values(rows))
    for command in [["audit", "device", "d\(Self.evil)"], ["audit", "why", "d\(Self.evil)"]] {
      let json = try place.rouse(list: command + ["--store", "audit.sqlite", "--format", "json"])
      expectPrintable(json, command)
      #expect(json.out.contains(#"\u202e\u2028FORGED \u2029\u2066\ufeff"#))
      let first = try #require(try JSONValue(parsing: json.out)["device"])
      #expect(first == .string("d\(Self.evil)"))
    }
  }
}
