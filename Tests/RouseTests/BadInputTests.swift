import Foundation
import JSON
import Testing

@Suite("Bad input")
struct BadInputTests {
  /// A good line of each file, between which bad ones are put.
  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    try place.put(phone("d1"), "devices.jsonl")
    try place.put(delay("e1", 10, at: "15:00:00") + delay("e2", 90, at: "16:00:00"), "events.jsonl")
    try place.put(signal("app.backgrounded", "d1", at: "15:30:00"), "signals.jsonl")
    return place
  }

  private static let arguments = [
    "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--signals",
    "signals.jsonl", "--decisions", "decisions.jsonl", "--dead-letters", "dead.jsonl",
  ]

  private static let event = delay("bad", 1, at: "15:10:00").trimmingCharacters(in: .newlines)
  private static let device = phone("bad").trimmingCharacters(in: .newlines)
  private static let widget = signal("widget.fetched", "d1", at: "15:10:00").trimmingCharacters(in: .newlines)

  /// A bad line, its file, and the reason and words of its dead letter.
  private static let lines: [(file: String, line: String, reason: String, words: String)] = [
    ("events.jsonl", String(event.prefix(60)), "INVALID_JSON", "ends too early"),
    ("events.jsonl", "not json", "INVALID_JSON", "expected"),
    ("events.jsonl", "[]", "WRONG_TYPE", "$: expected an object, found an array"),
    ("events.jsonl", event.replacing("\"subject\":\"flight/UA1\",", with: ""), "MISSING_FIELD", "$.subject: missing"),
    ("events.jsonl", event.replacing("\"flight/UA1\"", with: "7"), "WRONG_TYPE", "$.subject: expected a string"),
    ("events.jsonl", event.replacing("15:10:00Z", with: "noon"), "INVALID_VALUE", "$.time: expected an RFC 3339"),
    ("events.jsonl", event.replacing("\"1.0\"", with: "\"0.3\""), "UNSUPPORTED_SPECVERSION", "expected \"1.0\""),
    (
      "events.jsonl",
      event.replacing("{\"delayMinutes\":1}", with: "{\"x\":\"" + String(repeating: "x", count: 2 << 20) + "\"}"),
      "TOO_LARGE", "expected at most 262144 bytes"
    ),
    (
      "events.jsonl", String(repeating: "[", count: 100) + String(repeating: "]", count: 100), "TOO_DEEP",
      "at most 32 levels"
    ),
    ("devices.jsonl", device.replacing("America/New_York", with: "America/Gotham"), "UNKNOWN_TIME_ZONE", "Gotham"),
    (
      "devices.jsonl", device.replacing("\"26.1\"", with: "26.1"), "WRONG_TYPE",
      "$.osVersion: expected a version such as"
    ),
    ("devices.jsonl", device.replacing("\"production\"", with: "\"prod\""), "INVALID_VALUE", "production"),
    ("devices.jsonl", #"{"device":"bad","deleted":true}"#, "MISSING_FIELD", "missing"),
    (
      "devices.jsonl",
      device.replacing("[\"flight/UA1\"]", with: "[" + (0..<10_000).map { "\"f/\($0)\"" }.joined(separator: ",") + "]"),
      "OUT_OF_BOUNDS", "expected at most 64 elements, found 10000"
    ),
    (
      "signals.jsonl", widget.replacing("widget.fetched", with: "widget.fetchd"), "UNKNOWN_TYPE",
      "did you mean \"rouse.signal.widget.fetched\"?"
    ),
    ("signals.jsonl", widget.replacing(",\"subject\":\"d1\"", with: ""), "MISSING_FIELD", "expected a device"),
  ]

  @Test("a bad line is a dead letter with reason, place and line, and the rest is planned", arguments: lines.indices)
  func badLine(_ index: Int) throws {
    let bad = Self.lines[index]
    let place = try place()
    let good = String(decoding: try place.bytes(bad.file), as: UTF8.self)
    let plain = try place.rouse(list: Self.arguments)
    let decisions = try place.lines("decisions.jsonl").map { $0.split(separator: "\"event\"").last }
    #expect(plain.status == 0)
    try place.put(bad.line + "\n" + good, bad.file)
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 0)
    #expect(outcome.err.contains("dead letters  1"))
    #expect(outcome.err.contains("refused \(bad.file):1: "))
    // Offsets, and so ids, are those of accepted records only.
    #expect(try place.lines("decisions.jsonl").map { $0.split(separator: "\"event\"").last } == decisions)
    let letters = try place.lines("dead.jsonl")
    #expect(letters.count == 1)
    let letter = try JSONValue(parsing: letters.first ?? "")
    #expect(letter["reason"] == .string(bad.reason))
    #expect(letter["file"] == .string(bad.file))
    #expect(letter["line"] == .number(1))
    #expect(letter["value"] == .string(bad.line))
    guard case .string(let path)? = letter["path"], case .string(let message)? = letter["message"] else {
      Issue.record("no path or message")
      return
    }
    #expect("\(path): \(message)".contains(bad.words), "\(path): \(message)")
  }

  @Test("a line that is no UTF-8 is kept as base64")
  func invalidUTF8() throws {
    let place = try place()
    let bytes = Data([0x7b, 0x22, 0xff, 0x22, 0x7d])
    try place.put(bytes + [0x0a] + (try place.bytes("events.jsonl")), "events.jsonl")
    #expect(try place.rouse(list: Self.arguments).status == 0)
    let letter = try JSONValue(parsing: try place.lines("dead.jsonl").first ?? "")
    #expect(letter["reason"] == .string("INVALID_UTF8"))
    #expect(letter["valueBase64"] == .string(bytes.base64EncodedString()))
  }

  @Test("a line beyond all bounds is skipped without being kept")
  func hugeLine() throws {
    let place = try place()
    try place.put(Data(repeating: 0x20, count: 5 << 20) + [0x0a] + (try place.bytes("events.jsonl")), "events.jsonl")
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 0)
    #expect(outcome.err.contains("refused events.jsonl:1: $: expected at most 4194304 bytes, found 5242880"))
    #expect(try place.lines("dead.jsonl").first?.contains("value") == false)
  }

  @Test("an event type that no rule knows is a decision, not a dead letter")
  func unknownType() throws {
    let place = try place()
    try place.put(Self.event.replacing("flight.delay.changed", with: "flight.repainted") + "\n", "events.jsonl")
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.err.contains("dead letters  0"))
    #expect(try place.lines("decisions.jsonl").count == 1)
    #expect(try place.lines("decisions.jsonl").first?.contains("\"NO_MATCH\"") == true)
  }

  @Test("the summary shows the first few refusals and counts the rest")
  func manyRefusals() throws {
    let place = try place()
    try place.put(String(repeating: "oops\n", count: 12) + delay("e1", 1, at: "15:00:00"), "events.jsonl")
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.err.split(separator: "\n").count { $0.hasPrefix("refused events.jsonl:") } == 5)
    #expect(outcome.err.contains("and 7 more; all of them go to --dead-letters"))
    #expect(try place.lines("dead.jsonl").count == 12)
  }

  @Test("a policy with a typo stops the plan with file, line and column, and leaves no output")
  func policyTypo() throws {
    let place = try place()
    try place.put(tinyPolicy.replacing("halfLife", with: "halfLive"), "policy.yaml")
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 1)
    #expect(outcome.out == "")
    #expect(outcome.err.contains("policy.yaml:7:5: error: kinds.FlightStatus.halfLive"), "\(outcome.err)")
    #expect(!place.has("decisions.jsonl"))
  }

  @Test(
    "a file that is not there exits 1, names it, and leaves no output",
    arguments: ["policy.yaml", "devices.jsonl", "events.jsonl", "signals.jsonl"])
  func missingFile(_ name: String) throws {
    let place = try place()
    try FileManager.default.removeItem(at: place.folder.appendingPathComponent(name))
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 1)
    #expect(
      outcome.err
        == "rouse: cannot open \(name): no such file or directory; check the path: a relative one counts from the working directory\n"
    )
    #expect(!place.has("decisions.jsonl"))
  }

  @Test("a gzip file that breaks off exits 1 and leaves no output")
  func brokenGzip() throws {
    let place = try place()
    try place.put(Data([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 0x4b]), "events.jsonl")
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("gzip"))
    #expect(!place.has("decisions.jsonl"))
  }

  @Test("empty files plan nothing")
  func empty() throws {
    let place = try place()
    for name in ["devices.jsonl", "events.jsonl", "signals.jsonl"] { try place.put("", name) }
    let outcome = try place.rouse(list: Self.arguments)
    #expect(outcome.status == 0)
    #expect(outcome.err.contains("decisions     0"))
    #expect(try place.bytes("decisions.jsonl").isEmpty)
  }

  @Test("an input without a single line that can be used is named, and the exit code is 1")
  func foreignInput() throws {
    let place = try place()
    let devices = try place.bytes("devices.jsonl")
    let events = try place.bytes("events.jsonl")
    try place.put(events, "devices.jsonl")
    try place.put(devices, "events.jsonl")
    let swapped = try place.rouse(list: Self.arguments)
    #expect(swapped.status == 1)
    #expect(
      swapped.err.hasSuffix(
        "rouse: no line of devices.jsonl is a registration: all 2 refused; are --devices and --events swapped?\n"),
      "\(swapped.err)")
    // What was refused, and why, is there to be read.
    #expect(try place.lines("dead.jsonl").count == 3)
    try place.put(devices, "devices.jsonl")
    let one = try place.rouse(list: Self.arguments)
    #expect(one.status == 1)
    #expect(one.err.hasSuffix("rouse: no line of events.jsonl is an event: the only one refused; name another file\n"))
  }

  @Test("a misspelt variable of the environment is named with the one that was meant")
  func environment() throws {
    let outcome = try place().rouse("run", "--print-config", environment: ["ROUSE_AUDIT_RETENTION_DAY": "9"])
    #expect(outcome.status == 1)
    #expect(
      outcome.err.hasPrefix(
        "rouse: environment ROUSE_AUDIT_RETENTION_DAY: unknown setting; did you mean ROUSE_AUDIT_RETENTION_DAYS? known: "
      ),
      "\(outcome.err)")
  }

  @Test("an event with too many interest keys is told of, by the check of the policy and by the plan")
  func manyKeys() throws {
    let place = try place()
    func kind(_ number: Int) -> String {
      let keys = (0..<16).map { "\"k\($0)/{data.delayMinutes}/\(number)\"" }.joined(separator: ", ")
      return """
          Kind\(number):
            halfLife: 20m
            rules: [{ event: flight.*, interests: [\(keys)], relevance: { base: 1 } }]

        """
    }
    func policy(_ kinds: Int) -> String { "version: 1\nkinds:\n" + (0..<kinds).map(kind).joined() }
    try place.put(policy(3), "policy.yaml")
    #expect(try place.rouse("policy", "check", "policy.yaml").lines.count == 1)
    try place.put(policy(5), "policy.yaml")
    let check = try place.rouse("policy", "check", "policy.yaml")
    #expect(check.status == 0)
    #expect(
      check.lines.first
        == "policy.yaml:5:15: warning: kinds.Kind0.rules[0].event: an event of this type can have 81 interest keys over all kinds; only the first 64 count"
    )
    // With the subject, 49 keys are those of the first three kinds; of the last kind none is left.
    let phones = (0..<5).map { number in
      phone("d\(number)").replacing("flight/UA1", with: "k0/10/\(number)")
        .replacing("FlightStatus", with: "Kind\(number)")
    }
    try place.put(phones.joined(), "devices.jsonl")
    let plan = try place.rouse(list: Self.arguments + ["--format", "json"])
    #expect(plan.status == 0)
    let summary = try JSONValue(parsing: plan.out)
    #expect(summary["eventsWithKeysLeftOut"] == .number(2))
    let decisions = try place.lines("decisions.jsonl")
    for number in 0..<5 { #expect(decisions.contains { $0.contains("\"device\":\"d\(number)\"") } == (number < 4)) }
    #expect(
      try place.rouse(list: Self.arguments).err.contains("keys left out  of 2 events with more than 64 interest keys"))
  }
}
