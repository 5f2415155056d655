import Foundation
import JSON
import Testing

@Suite("rouse policy")
struct PolicyTests {
  @Test("a valid policy is reported with version and hash")
  func valid() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    let outcome = try place.rouse("policy", "check", "policy.yaml")
    #expect(outcome.status == 0)
    #expect(outcome.lines.last?.hasPrefix("policy.yaml: valid; version tiny.1, hash ") == true)
    let json = try JSONValue(parsing: try place.rouse("policy", "check", "policy.yaml", "--format", "json").out)
    #expect(json["valid"] == .bool(true))
    #expect(json["version"] == .string("tiny.1"))
  }

  @Test("every mistake is printed with its line and column, and the exit code is 1")
  func mistakes() throws {
    let place = try Workplace()
    let text = tinyPolicy.replacing("perDay: 40", with: "perDay: 4000").replacing(
      "halfLife: 20m", with: "halfLife: 20x")
    try place.put(text, "policy.yaml")
    let outcome = try place.rouse("policy", "check", "policy.yaml")
    #expect(outcome.status == 1)
    #expect(outcome.lines.count { $0.hasPrefix("policy.yaml:6:23: error: kinds.FlightStatus.budget.perDay") } == 1)
    #expect(outcome.lines.count { $0.hasPrefix("policy.yaml:7:15: error: kinds.FlightStatus.halfLife") } == 1)
    #expect(outcome.err == "rouse: 2 mistakes in policy.yaml\n")
    let json = try place.rouse("policy", "check", "policy.yaml", "--format", "json")
    #expect(json.status == 1)
    #expect(try JSONValue(parsing: json.out)["problems"]?[1]?["line"] == .number(7))
  }

  @Test("a policy can come from standard input")
  func standardInput() throws {
    let outcome = try Workplace().rouse("policy", "check", "-", input: "version: 7\n")
    #expect(outcome.status == 1)
    #expect(outcome.out.contains("standard input:1:"))
  }

  @Test("a policy can come from a pipe, and from a path of standard input")
  func pipes() throws {
    let place = try Workplace()
    let fromPath = try place.rouse("policy", "check", "/dev/stdin", input: "version: 7\n")
    #expect(fromPath.status == 1)
    #expect(fromPath.out.contains("/dev/stdin:1:"))
    let pipe = place.folder.appendingPathComponent("pipe").path
    // POSIX: the path is lent for the call.
    let code = unsafe mkfifo(pipe, 0o600)
    try #require(code == 0)
    let writer = Thread {
      // Opening waits for the program to read.
      do { try Data("version: 7\n".utf8).write(to: URL(fileURLWithPath: pipe)) } catch { Issue.record(error) }
    }
    writer.start()
    let fromPipe = try place.rouse("policy", "check", "pipe")
    #expect(fromPipe.status == 1)
    #expect(fromPipe.out.contains("pipe:1:"))
  }

  @Test("kinds whose names differ in their bytes alone are different kinds")
  func normalForms() throws {
    let place = try Workplace()
    let kind = try #require(tinyPolicy.range(of: "  FlightStatus:").map { tinyPolicy[$0.lowerBound...] })
    let composed = kind.replacing("FlightStatus", with: "Caf\u{e9}")
    let decomposed = kind.replacing("FlightStatus", with: "Cafe\u{301}")
    let head = tinyPolicy[..<kind.startIndex]
    try place.put(head + composed + "\n" + decomposed, "policy.yaml")
    let outcome = try place.rouse("policy", "explain", "policy.yaml", "--format", "json")
    #expect(outcome.status == 0, "\(outcome.err)\(outcome.out)")
    #expect(outcome.out.unicodeScalars.contains("\u{e9}") && outcome.out.unicodeScalars.contains("\u{301}"))
    try place.put(head + composed + "\n" + composed, "policy.yaml")
    let twice = try place.rouse("policy", "check", "policy.yaml")
    #expect(twice.status == 1)
    #expect(twice.out.contains("given more than once in the same mapping: \"Caf\u{e9}\""))
  }

  @Test("explain prints the source of each value, for one kind if asked")
  func explain() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    let outcome = try place.rouse("policy", "explain", "policy.yaml", "--kind", "FlightStatus")
    #expect(outcome.status == 0)
    #expect(outcome.lines.allSatisfy { $0.hasPrefix("kinds.FlightStatus.") })
    #expect(outcome.lines.contains { $0.contains("halfLife = 20m") && $0.hasSuffix("# policy.yaml:7") })
    let unknown = try place.rouse("policy", "explain", "policy.yaml", "--kind", "Score")
    #expect(unknown.status == 1)
    #expect(unknown.err == "rouse: policy.yaml: no kind Score; the kinds are FlightStatus\n")
  }

  @Test("check and explain warn when constant text alone makes a payload too large")
  func constantText() throws {
    let place = try Workplace()
    let text = String(repeating: "x", count: 1000)
    let constants = (0..<5).map { "m\($0): \(text)" }.joined(separator: ", ")
    try place.put(matchPolicy.replacing("{ note: ", with: "{ \(constants), note: "), "policy.yaml")
    let warning =
      "policy.yaml:6:7: warning: kinds.Match.activity.contentState: an update has at least 5137 bytes by constant text "
      + "alone, at most 4096 are allowed: every one is refused"
    let check = try place.rouse("policy", "check", "policy.yaml")
    #expect(check.status == 0)
    #expect(check.lines.first == warning)
    #expect(try place.rouse("policy", "explain", "policy.yaml", "--kind", "Match").err == warning + "\n")
  }

  @Test("diff prints effective changes only")
  func diff() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "old.yaml")
    try place.put("# a comment\n" + tinyPolicy.replacing("20m", with: "1200s"), "same.yaml")
    try place.put(tinyPolicy.replacing("20m", with: "45m"), "new.yaml")
    let same = try place.rouse("policy", "diff", "old.yaml", "same.yaml")
    #expect(same.status == 0)
    #expect(!same.out.contains("halfLife"))
    let changed = try place.rouse("policy", "diff", "old.yaml", "new.yaml")
    #expect(changed.status == 0)
    #expect(changed.lines.contains("kinds.FlightStatus.halfLife: 20m → 45m"))
  }

  @Test("profiles come with source and confidence")
  func profiles() throws {
    let outcome = try Workplace().rouse("policy", "profiles", "--format", "json")
    let first = try JSONValue(parsing: outcome.out)[0]
    #expect(first?["name"] == .string("apple-2026"))
    #expect(first?["devicePushes"]?["confidence"] == .string("low"))
    #expect(first?["activityStarts"]?["confidence"] == .string("medium"))
    #expect(first?["payload"]?["limit"] == .number(4096))
    #expect(first?["payloadBands"]?["risky"] == .number(3584))
    #expect(first?["payloadBands"]?["confidence"] == .string("inference"))
    #expect(try Workplace().rouse("policy", "profiles").lines.first == "apple-2026 (the default)")
  }

  @Test("a printed profile can be changed, named by a policy, and explained")
  func ownProfile() throws {
    let place = try Workplace()
    try place.put(tinyPolicy, "plain.yaml")
    let shown = try place.rouse("policy", "profiles", "show", "apple-2026")
    #expect(shown.status == 0 && shown.out.contains("\nname: apple-2026\n"))
    try FileManager.default.createDirectory(
      at: place.folder.appendingPathComponent("policies"), withIntermediateDirectories: true)
    try place.put(
      shown.out.replacing("name: apple-2026", with: "name: ours").replacing("limit: 5\n", with: "limit: 7\n"),
      "policies/ours.yaml")
    try place.put(tinyPolicy.replacing("profile: apple-2026", with: "profile: ./ours.yaml"), "policies/policy.yaml")
    let check = try place.rouse("policy", "check", "policies/policy.yaml", "--format", "json")
    #expect(check.status == 0, "\(check.out)\(check.err)")
    #expect(try JSONValue(parsing: check.out)["profile"] == .string("ours"))
    let explain = try place.rouse("policy", "explain", "policies/policy.yaml")
    #expect(explain.lines.contains { $0.hasPrefix("limits.devicePushes.limit = 7 ") && $0.contains("# profile ours,") })
    // The option --profile has the same effect on a policy that names no profile.
    let option = try place.rouse("policy", "explain", "plain.yaml", "--profile", "policies/ours.yaml")
    #expect(option.lines.contains { $0.hasPrefix("limits.devicePushes.limit = 7 ") })
    // The hash covers the policy and the profile.
    let before = try JSONValue(parsing: check.out)["hash"]
    let profile = String(decoding: try place.bytes("policies/ours.yaml"), as: UTF8.self)
    try place.put(profile.replacing("limit: 7\n", with: "limit: 6\n"), "policies/ours.yaml")
    let after = try place.rouse("policy", "check", "policies/policy.yaml", "--format", "json")
    #expect(try JSONValue(parsing: after.out)["hash"] != before)
  }

  @Test("a profile that is missing, wrong or has a built-in name is refused with file, line and column")
  func wrongProfile() throws {
    let place = try Workplace()
    try place.put(tinyPolicy.replacing("profile: apple-2026", with: "profile: ./ours.yaml"), "policy.yaml")
    let missing = try place.rouse("policy", "check", "policy.yaml")
    #expect(missing.status == 1)
    #expect(
      missing.lines == [
        "policy.yaml:2:10: error: profile: there is no file ./ours.yaml; `rouse policy profiles show` prints one to begin with"
      ])
    let shown = try place.rouse("policy", "profiles", "show", "apple-conservative").out
    try place.put(shown.replacing("limit: 40\n", with: "limit: 41\n"), "ours.yaml")
    let taken = try place.rouse("policy", "check", "policy.yaml")
    #expect(taken.status == 1)
    #expect(taken.lines.first?.hasPrefix("./ours.yaml:4:1: error: name: apple-conservative comes with Rouse") == true)
    try place.put(
      shown.replacing("limit: 40\n", with: "limit: many\n").replacing("name: apple", with: "name: our"), "ours.yaml")
    let wrong = try place.rouse("policy", "check", "policy.yaml", "--format", "json")
    #expect(wrong.status == 1 && wrong.err == "rouse: 1 mistake in ./ours.yaml\n")
    #expect(try JSONValue(parsing: wrong.out)["problems"]?[0]?["file"] == .string("./ours.yaml"))
    let unknown = try place.rouse("policy", "profiles", "show", "apple-2025")
    #expect(unknown.status == 2)
    #expect(unknown.err.contains("no profile apple-2025; did you mean apple-2026?"))
  }
}
