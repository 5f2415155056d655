import Domain
import Foundation
import JSON
import Testing

@Suite("rouse plan")
struct PlanTests {
  /// A folder with two phones, each about a flight, five delays, and a signal that the app came to the foreground before
  /// the fourth.
  private func tiny() throws -> Workplace {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    try place.put(phone("d1") + phone("d2", "flight/UA2"), "devices.jsonl")
    try place.put(
      delay("e1", 10, at: "15:00:00") + delay("e2", 20, at: "15:02:00") + delay("e3", 11, at: "15:03:00", "flight/UA2")
        + delay("e4", 30, at: "15:20:00") + delay("e5", 60, at: "15:21:00", "flight/UA2"), "events.jsonl")
    try place.put(signal("app.foregrounded", "d1", at: "15:19:00"), "signals.jsonl")
    return place
  }

  private static let inputs = [
    "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl",
  ]

  private struct MissingHash: Error {}

  @Test("the first decision and its command, to the byte")
  func golden() throws {
    let place = try tiny()
    let outcome = try place.rouse(list: Self.inputs + ["--decisions", "-", "--commands", "commands.jsonl"])
    #expect(outcome.status == 0)
    // The hash covers the policy and its profile. The profile's file may change, so the hash is asked for.
    let check = try JSONValue(parsing: try place.rouse("policy", "check", "policy.yaml", "--format", "json").out)
    guard case .string(let hash)? = check["hash"] else { throw MissingHash() }
    let policy = #""policy":{"version":"tiny.1","hash":"\#(hash)"}}"#
    // Worth and price are tested with the planner.
    #expect(
      outcome.lines.first?.replacing(/"(wrong|looks|value|price)":[0-9.]+/) { "\"\($0.output.1)\":N" }
        == #"{"decision":"d-0-2-1","event":"e1","events":["e1"],"device":"d1","instance":"w1","kind":"FlightStatus","#
        + #""surface":"widget","verdict":"emit","reason":"EMITTED","final":true,"at":"2013-07-01T15:00:00Z","#
        + #""relevance":0.5,"wrong":N,"looks":N,"value":N,"price":N,"tokensLeft":{"instance":39,"device":2},"command":"c-0-2-0","#
        + policy)
    #expect(
      try place.lines("commands.jsonl").first
        == #"{"command":"c-0-2-0","device":"d1","app":"com.example.glance","environment":"production","#
        + #""surface":"widget","serves":[{"instance":"w1","kind":"FlightStatus","events":["e1"],"reason":"EMITTED"}],"#
        + #""charged":[{"ledger":"instance","owner":"w1","left":39},{"ledger":"device","owner":"d1","left":2}],"#
        + #""apns":{"token":"aa2","headers":{"apns-id":"110731fe-18ba-8bdf-b50f-7a0ea03825ce","#
        + #""apns-push-type":"widgets","apns-topic":"com.example.glance.push-type.widgets"},"#
        + #""payload":{"aps":{"content-changed":true}}},"at":"2013-07-01T15:00:00Z","expires":"2013-07-01T15:15:00Z","#
        + policy)
  }

  @Test("names that are equivalent but not equal stay apart in the plan, the audit and the check of the ledgers")
  func equivalentNames() throws {
    func counts(_ names: [String]) throws -> [String] {
      let place = try Workplace()
      try place.put(tinyPolicy, "policy.yaml")
      try place.put(names.map { phone("d-\($0)", "flight/\($0)") }.joined(), "devices.jsonl")
      let events = names.enumerated().map { delay("e-\($1)", 10, at: "15:0\($0):00", "flight/\($1)") }
      try place.put(events.joined(), "events.jsonl")
      let plan = try place.rouse(
        list: Self.inputs + [
          "--decisions", "decisions.jsonl", "--commands", "commands.jsonl", "--audit", "audit.sqlite", "--format",
          "json",
        ])
      #expect(plan.status == 0 && plan.err.isEmpty, "\(plan.err)")
      let verify = try place.rouse("verify", "--decisions", "decisions.jsonl", "--commands", "commands.jsonl")
      #expect(verify.status == 0)
      let devices = try place.rouse("audit", "top", "--by", "device", "--store", "audit.sqlite")
      let why = try names.map { try place.rouse("audit", "why", "d-\($0)", "--store", "audit.sqlite").lines[0] }
      #expect(why.map { Identifier($0) } == names.map { "device d-\($0), event e-\($0)" })
      return [verify.out, "\(devices.lines.count)", "\(try place.lines("commands.jsonl").count)"]
    }
    let equivalent = ["caf\u{e9}", "cafe\u{301}"]
    #expect(equivalent[0] == equivalent[1], "the premise: as texts of Swift they are equal")
    #expect(try counts(equivalent) == counts(["one", "two"]))
  }

  /// Returns `event device reason time` for each line.
  private func story(_ lines: [String]) throws -> [String] {
    try lines.map { line in
      let decision = try Decision(json: Array(line.utf8))
      return "\(decision.event) \(decision.device) \(decision.reason.rawValue) \(decision.at)"
    }
  }

  @Test("signals and events are merged by time, and timers fire in between")
  func merged() throws {
    let outcome = try tiny().rouse(list: Self.inputs + ["--signals", "signals.jsonl", "--decisions", "-"])
    #expect(
      try story(outcome.lines) == [
        "e1 d1 EMITTED 2013-07-01T15:00:00Z", "e2 d1 MIN_INTERVAL 2013-07-01T15:02:00Z",
        "e3 d2 EMITTED 2013-07-01T15:03:00Z", "e2 d1 EMITTED_AFTER_DEFER 2013-07-01T15:05:00Z",
        "e4 d1 APP_FOREGROUND 2013-07-01T15:20:00Z", "e5 d2 EMITTED 2013-07-01T15:21:00Z",
      ])
    #expect(outcome.err.contains("signals       1"))
  }

  @Test("pending changes are drained at the end, unless --no-drain is given")
  func drain() throws {
    let place = try tiny()
    try place.put(delay("e1", 10, at: "15:00:00") + delay("e2", 20, at: "15:02:00"), "events.jsonl")
    let drained = try place.rouse(list: Self.inputs + ["--decisions", "-"])
    #expect(try story(drained.lines).last == "e2 d1 EMITTED_AFTER_DEFER 2013-07-01T15:05:00Z")
    let left = try place.rouse(list: Self.inputs + ["--decisions", "-", "--no-drain"])
    #expect(try story(left.lines).last == "e2 d1 MIN_INTERVAL 2013-07-01T15:02:00Z")
    #expect(left.err.contains("still waiting  1"))
  }

  @Test("events out of order are planned at log time, and counted")
  func outOfOrder() throws {
    let place = try tiny()
    try place.put(delay("e1", 10, at: "15:10:00") + delay("e2", 10, at: "15:00:00", "flight/UA2"), "events.jsonl")
    let outcome = try place.rouse(list: Self.inputs + ["--decisions", "-", "--no-drain"])
    #expect(
      try story(outcome.lines) == [
        "e1 d1 EMITTED 2013-07-01T15:10:00Z", "e2 d2 EMITTED 2013-07-01T15:10:00Z",
      ])
    #expect(outcome.err.contains("out of order  1, planned at log time"))
  }

  @Test("the same input gives the same bytes, with any hashing, plain or compressed, from a file or a pipe")
  func deterministic() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    var events = ""
    for minute in 0..<60 {
      for flight in 0..<8 {
        events += delay(
          "e\(minute)-\(flight)", (minute * 7 + flight * 13) % 90, at: "15:\(minute < 10 ? "0" : "")\(minute):00",
          "flight/UA\(flight)")
      }
    }
    try place.put(events, "events.jsonl")
    let fleet = try place.rouse(
      "fleet", "--events", "events.jsonl", "--devices", "200", "--seed", "7", "--out", "devices.jsonl", "--kinds",
      "FlightStatus=flight/")
    #expect(fleet.status == 0)
    let outputs = ["--decisions", "a.jsonl", "--commands", "b.jsonl.gz"]
    #expect(try place.rouse(list: Self.inputs + outputs).status == 0)
    let first = (try place.bytes("a.jsonl"), try place.bytes("b.jsonl.gz"))
    #expect(first.0.count > 100_000)
    #expect(try place.rouse(list: Self.inputs + outputs).status == 0)
    #expect(first == (try place.bytes("a.jsonl"), try place.bytes("b.jsonl.gz")))
    let piped = try place.rouse(
      list: Self.inputs.dropLast() + ["-"] + outputs, input: events,
      environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
    #expect(piped.status == 0)
    #expect(first == (try place.bytes("a.jsonl"), try place.bytes("b.jsonl.gz")))
  }

  @Test(
    "the summary is JSON on standard output when asked for, and on standard error when data goes to standard output")
  func jsonSummary() throws {
    let place = try tiny()
    let outcome = try place.rouse(list: Self.inputs + ["--format", "json"])
    let summary = try JSONValue(parsing: outcome.out)
    #expect(outcome.err == "")
    #expect(summary["events"] == .number(5))
    #expect(summary["devices"] == .number(2))
    #expect(summary["commandsBySurface"]?["widget"] == .number(5))
    #expect(summary["charged"]?["instance"] == .number(5))
    #expect(summary["outcomes"]?[0]?["reason"] == .string("EMITTED"))
    let piped = try place.rouse(list: Self.inputs + ["--format", "json", "--decisions", "-"])
    #expect(try JSONValue(parsing: piped.err)["decisions"] == .number(Double(piped.lines.count)))
  }

  @Test("payloads are counted by band, and a refused one is printed with its largest members")
  func payloads() throws {
    let place = try Workplace()
    try place.put(matchPolicy, "policy.yaml")
    try place.put(lockScreen("d1") + lockScreen("d2"), "devices.jsonl")
    let sizes = [16, 350, 533, 616, 833, 1000]
    let events = sizes.enumerated().map { matchEvent("e\($0)", "match.goal", at: "15:0\($0):00", bytes: $1) }
    try place.put(events.joined(), "events.jsonl")
    let text = try place.rouse(list: Self.inputs)
    #expect(text.status == 0)
    #expect(text.err.contains("payloads      safe 4, watch 2, risky 2, allowed 2, refused 4\n"))
    let refused = "refused kind Match, event e4: payload of 5096 bytes, at most 4096 are allowed; largest: note 5000"
    #expect(text.err.contains("\(refused); 4 of this kind\n"))
    let summary = try JSONValue(parsing: try place.rouse(list: Self.inputs + ["--format", "json"]).out)
    #expect(summary["payloads"]?["risky"] == .number(2))
    #expect(summary["payloads"]?["refused"] == .number(4))
    #expect(summary["refusedPayloads"]?[0]?["largest"]?["note"] == .number(5000))
  }

  @Test("a reader that goes away ends the program quietly")
  func brokenPipe() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    let pipe = Pipe()
    let process = Process()
    process.executableURL = Workplace.program
    process.currentDirectoryURL = place.folder
    process.arguments = ["policy", "explain", "policy.yaml"]
    process.standardOutput = pipe
    let words = Pipe()
    process.standardError = words
    // The reader is gone before the program writes its first byte.
    try pipe.fileHandleForReading.close()
    try process.run()
    try pipe.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(try words.fileHandleForReading.readToEnd() ?? Data() == Data())
  }
}
