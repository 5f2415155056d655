import JSON
import Testing

@Suite("rouse policy")
struct PolicyTests {
  @Test("a valid policy is called so, with version and hash")
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

  @Test("every mistake is printed with its place, and the exit code is 1")
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

  @Test("a policy comes from standard input too")
  func standardInput() throws {
    let outcome = try Workplace().rouse("policy", "check", "-", input: "version: 7\n")
    #expect(outcome.status == 1)
    #expect(outcome.out.contains("standard input:1:"))
  }

  @Test("explain names where each value comes from, for one kind if asked")
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

  @Test("check and explain warn of a payload that is large by constant text alone")
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
}
