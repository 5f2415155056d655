import Foundation
import Testing

@Suite("Files named for two purposes")
struct DistinctFilesTests {
  /// Makes the inputs of a plan in a folder.
  private func inputs() throws -> Workplace {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    try place.put(phone("d1"), "devices.jsonl")
    try place.put(delay("e1", 10, at: "15:00:00"), "events.jsonl")
    return place
  }

  private static let plan = [
    "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl",
  ]

  @Test("an output that is an input or another output is wrong use, and nothing is written")
  func oneFile() throws {
    let place = try inputs()
    let events = try place.bytes("events.jsonl")
    try FileManager.default.createSymbolicLink(
      at: place.folder.appendingPathComponent("link.jsonl"),
      withDestinationURL: place.folder.appendingPathComponent("events.jsonl"))
    try FileManager.default.linkItem(
      at: place.folder.appendingPathComponent("events.jsonl"), to: place.folder.appendingPathComponent("hard.jsonl"))
    for (outputs, problem) in [
      (
        ["--decisions", "out.jsonl", "--commands", "./out.jsonl"],
        "--commands (./out.jsonl) and --decisions (out.jsonl) are the same file"
      ),
      (
        ["--dead-letters", "a.sqlite", "--audit", "a.sqlite"],
        "--audit (a.sqlite) and --dead-letters (a.sqlite) are the same file"
      ),
      (
        ["--audit", "a.sqlite", "--commands", "a.sqlite-wal"],
        "the file beside --audit (a.sqlite-wal) and --commands (a.sqlite-wal) are the same file"
      ),
      (
        ["--audit", "a.sqlite", "--decisions", "a.sqlite.key"],
        "the file beside --audit (a.sqlite.key) and --decisions (a.sqlite.key) are the same file"
      ),
      (["--decisions", "events.jsonl"], "--decisions (events.jsonl) and --events (events.jsonl) are the same file"),
      (["--decisions", "link.jsonl"], "--decisions (link.jsonl) and --events (events.jsonl) are the same file"),
      (["--commands", "hard.jsonl"], "--commands (hard.jsonl) and --events (events.jsonl) are the same file"),
      (["--dead-letters", "policy.yaml"], "--dead-letters (policy.yaml) and --policy (policy.yaml) are the same file"),
    ] {
      let outcome = try place.rouse(list: Self.plan + outputs)
      #expect(outcome.status == 2, "\(outputs)")
      #expect(outcome.err.contains(problem), "\(outcome.err)")
    }
    #expect(try place.bytes("events.jsonl") == events)
    #expect(!place.has("out.jsonl"))
    let discarded = try place.rouse(list: Self.plan + ["--decisions", "/dev/null", "--commands", "/dev/null"])
    #expect(discarded.status == 0)
  }

  @Test("fleet and simulate do not replace their input files")
  func otherCommands() throws {
    let place = try inputs()
    let events = try place.bytes("events.jsonl")
    let fleet = try place.rouse("fleet", "--events", "events.jsonl", "--devices", "2", "--out", "events.jsonl")
    #expect(fleet.status == 2)
    #expect(fleet.err.contains("--out (events.jsonl) and --events (events.jsonl) are the same file"))
    let simulated = try place.rouse(
      "simulate", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--report",
      "policy.yaml")
    #expect(simulated.status == 2)
    #expect(simulated.err.contains("--report (policy.yaml) and --policy (policy.yaml) are the same file"))
    #expect(try place.bytes("events.jsonl") == events)
  }

  @Test("an export does not replace the store that it reads")
  func export() throws {
    let place = try inputs()
    #expect(try place.rouse(list: Self.plan + ["--audit", "audit.sqlite"]).status == 0)
    let store = try place.bytes("audit.sqlite")
    try FileManager.default.createSymbolicLink(
      at: place.folder.appendingPathComponent("link.sqlite"),
      withDestinationURL: place.folder.appendingPathComponent("audit.sqlite"))
    for out in ["audit.sqlite", "link.sqlite"] {
      let outcome = try place.rouse("audit", "export", "--store", "audit.sqlite", "--out", out)
      #expect(outcome.status == 2)
      #expect(outcome.err.contains("--out (\(out)) and --store (audit.sqlite) are the same file"), "\(outcome.err)")
    }
    #expect(try place.bytes("audit.sqlite") == store)
  }
}
