import Foundation
import JSON
import Testing

@Suite("rouse audit")
struct AuditTests {
  /// A folder with the audit store and the files of one plan of two devices.
  private func planned() throws -> Workplace {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    try place.put(phone("d1") + phone("d2", "flight/UA2"), "devices.jsonl")
    try place.put(
      delay("e1", 10, at: "15:00:00") + delay("e2", 20, at: "15:02:00") + delay("e3", 11, at: "15:03:00", "flight/UA2"),
      "events.jsonl")
    let outcome = try place.rouse(
      "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--decisions",
      "decisions.jsonl", "--commands", "commands.jsonl", "--audit", "audit.sqlite")
    #expect(outcome.status == 0)
    return place
  }

  private let store = ["--store", "audit.sqlite"]

  @Test("an export has the bytes of the plan's own files, but for push tokens, which are hashed")
  func export() throws {
    let place = try planned()
    let outcome = try place.rouse(list: ["audit", "export"] + store)
    #expect(outcome.status == 0)
    #expect(outcome.err == "7 rows\n")
    let commands = try place.lines("commands.jsonl").map {
      $0.replacing(/"token":"aa2[0-9a-f]*"/, with: #""token":"T""#)
    }
    let lines = outcome.lines.map { $0.replacing(/"token":"hash:[0-9a-f]{32}"/, with: #""token":"T""#) }
    #expect(commands.contains { $0.contains(#""token":"T""#) })
    #expect(try lines.sorted() == (place.lines("decisions.jsonl") + commands).sorted())
    let none = try place.rouse(list: ["audit", "export", "--from", "2020-01-01T00:00:00Z"] + store)
    #expect(none.status == 0)
    #expect(none.out == "")
    #expect(none.err == "nothing in that time\n")
  }

  @Test("the books of an export can be checked; a policy that nobody named is named, and a torn line is found")
  func exportVerified() throws {
    let place = try planned()
    #expect(try place.rouse(list: ["audit", "export", "--out", "export.jsonl.gz"] + store).status == 0)
    let verify = ["verify", "--export", "export.jsonl.gz"]
    let named = try place.rouse(list: verify + ["--policy", "policy.yaml"])
    #expect(named.status == 0)
    #expect(named.out.contains("no violation") && !named.out.contains("name the policy"), "\(named.out)")
    let unnamed = try place.rouse(list: verify)
    #expect(unnamed.status == 0)
    #expect(unnamed.out.contains("charges to rates were not recomputed; name the policy"), "\(unnamed.out)")
    var lines = try place.rouse(list: ["audit", "export"] + store).lines
    lines[0].removeLast()
    try place.put(lines.joined(separator: "\n"), "torn.jsonl")
    let torn = try place.rouse("verify", "--export", "torn.jsonl")
    #expect(torn.status == 1)
    #expect(torn.out.contains("torn.jsonl:1"), "\(torn.out)")
    let both = try place.rouse(list: verify + ["--decisions", "d", "--commands", "c"])
    #expect(both.status == 2)
  }

  @Test("a store, an export, and outputs of a plan with tokens belong to the user alone; decisions follow the umask")
  func permissions() throws {
    let place = try planned()
    #expect(try place.rouse(list: ["audit", "export", "--out", "export.jsonl"] + store).status == 0)
    func permissions(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: place.folder.appendingPathComponent(name).path)[
        .posixPermissions] as? Int
    }
    #expect(try permissions("audit.sqlite") == 0o600)
    #expect(try permissions("export.jsonl") == 0o600)
    try place.put("", "usual")
    #expect(try permissions("commands.jsonl") == 0o600)
    #expect(try permissions("decisions.jsonl") == permissions("usual"))
  }

  @Test("why explains the last event, or a given one")
  func why() throws {
    let place = try planned()
    let outcome = try place.rouse(list: ["audit", "why", "d1"] + store)
    #expect(outcome.status == 0)
    #expect(outcome.lines.first == "device d1, event e2")
    #expect(outcome.out.contains("2013-07-01T15:02:00Z  defer MIN_INTERVAL"))
    #expect(outcome.out.contains("2013-07-01T15:05:00Z  emit EMITTED_AFTER_DEFER"))
    let json = try place.rouse(list: ["audit", "why", "d1", "--event", "e1", "--format", "json"] + store)
    #expect(try JSONValue(parsing: json.out)["event"] == .string("e1"))
  }

  @Test("each question has an answer")
  func answers() throws {
    let place = try planned()
    #expect(try place.rouse(list: ["audit", "summary"] + store).out.contains("decisions  4 (3 of them final)"))
    #expect(try place.rouse(list: ["audit", "device", "d1"] + store).lines.first == "device d1: 5 entries")
    #expect(try place.rouse(list: ["audit", "event", "e3"] + store).out.contains("1 decision on 1 device"))
    #expect(try place.rouse(list: ["audit", "top", "--by", "device"] + store).lines.last == "4 decisions in all")
    let statement = try place.rouse(list: ["audit", "statement", "d1", "--utc-offset=-04:00"] + store)
    #expect(statement.out.contains("charges by day (UTC-4): 2013-07-01 2"))
  }

  @Test(
    "when nothing is known, words on standard error say so and the exit code is 0",
    arguments: [
      (["device", "nobody"], "device nobody is not known"), (["event", "e9"], "event e9 is not known"),
      (["why", "nobody"], "device nobody is not known"), (["statement", "nobody"], "device nobody is not known"),
      (["why", "d1", "--event", "e3"], "no instance in question was interested"),
      (["device", "d1", "--to", "2013-01-01T00:00:00Z"], "nothing in that time"),
      (["zombies"], "no start in that time"),
      (["top", "--to", "2013-01-01T00:00:00Z"], "no decision in that time"),
    ])
  func nothingFound(_ question: [String], _ words: String) throws {
    let place = try planned()
    let outcome = try place.rouse(list: ["audit"] + question + store)
    #expect(outcome.status == 0)
    #expect(outcome.err.contains(words), "\(outcome.err)")
    let json = try place.rouse(list: ["audit"] + question + ["--format", "json"] + store)
    #expect(json.status == 0)
    _ = try JSONValue(parsing: json.out)
  }

  @Test("zombies are listed with device, subject, kind, start time and the push that started them")
  func zombies() throws {
    let place = try Workplace()
    try place.put(matchPolicy, "policy.yaml")
    try place.put(lockScreen("d1") + lockScreen("d2"), "devices.jsonl")
    try place.put(
      matchEvent("g0", "match.goal", at: "14:50:00", "match/1")
        + matchEvent("k2", "match.kickoff", at: "15:00:00", "match/2")
        + matchEvent("g1", "match.goal", at: "15:10:00", "match/1")
        + matchEvent("k3", "match.kickoff", at: "15:50:00", "match/3")
        + matchEvent("g2", "match.goal", at: "16:00:00", "match/1"), "events.jsonl")
    let rejected =
      #"{"specversion":"1.0","id":"s1","source":"/sender","type":"rouse.signal.token.rejected","subject":"d2","#
      + #""time":"2013-07-01T15:20:00Z","data":{"token":"cc2"}}"# + "\n"
    try place.put(rejected, "signals.jsonl")
    let inputs = [
      "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--signals",
      "signals.jsonl",
    ]
    let plan = try place.rouse(list: inputs + ["--audit", "audit.sqlite", "--no-drain"])
    #expect(plan.status == 0)
    #expect(plan.err.contains("zombies       3 activities that pushes do not end\n"))
    #expect(
      plan.err.contains(
        "zombie Match about match/1 on d2, started 2013-07-01T14:00:00Z: APNs refused its token for good\n"))
    #expect(
      plan.err.contains(
        "zombie Match about match/2 on d1, started 2013-07-01T15:00:00Z: started by push, and the device"))
    let summary = try JSONValue(parsing: try place.rouse(list: inputs + ["--no-drain", "--format", "json"]).out)
    #expect(summary["zombies"] == .number(3))
    #expect(summary["firstZombies"]?[0]?["subject"] == .string("match/2"))
    #expect(summary["firstZombies"]?[0]?["cause"] == .string("neverRegistered"))
    let drained = try JSONValue(parsing: try place.rouse(list: inputs + ["--format", "json"]).out)
    #expect(drained["zombies"] == .number(5), "match/3 too, half an hour later")
    let text = try place.rouse(list: ["audit", "zombies"] + store)
    #expect(text.status == 0)
    #expect(
      text.out == """
        since                 kind   subject  device  start    decisions since  cause
        2013-07-01T15:00:00Z  Match  match/2  d1      c-0-3-0                3  never registered
        2013-07-01T15:00:00Z  Match  match/2  d2      c-0-3-2                3  never registered
        2 zombies of 4 starts: started by push, and no push can update or end it; 2 too new to tell

        """)
    let json = try JSONValue(parsing: try place.rouse(list: ["audit", "zombies", "--format", "json"] + store).out)
    #expect(json["zombies"]?[1]?["device"] == .string("d2"))
    #expect(json["tooNew"] == .number(2))
  }

  @Test("the errors for a missing store and for a file that is no store say what to do")
  func noStore() throws {
    let place = try planned()
    let missing = try place.rouse("audit", "summary", "--store", "other.sqlite")
    #expect(missing.status == 1)
    #expect(missing.err.hasPrefix("rouse: no audit store at other.sqlite; fill one with `rouse plan"))
    #expect(!place.has("other.sqlite"))
    let wrong = try place.rouse("audit", "summary", "--store", "devices.jsonl")
    #expect(wrong.status == 1)
    #expect(wrong.err.contains("not a database"))
  }

  @Test("questions do not change the file, and a plan does not write into a store that is there")
  func unchanged() throws {
    let place = try planned()
    let before = try place.bytes("audit.sqlite")
    for question in [["summary"], ["device", "d1"], ["why", "d1"], ["top"], ["export"]] {
      #expect(try place.rouse(list: ["audit"] + question + store).status == 0)
    }
    let again = try place.rouse(
      "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--audit",
      "audit.sqlite")
    #expect(again.status == 1)
    #expect(again.err.contains("there is a file at audit.sqlite already"))
    #expect(try place.bytes("audit.sqlite") == before)
  }
}
