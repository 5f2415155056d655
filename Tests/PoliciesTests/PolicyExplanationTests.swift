import Domain
import Testing

@testable import Policies

@Suite struct PolicyExplanationTests {
  private static let yaml = """
    version: 1
    limits: { instanceReloads: { limit: 44 } }
    kinds:
      A:
        budget: { timeSensitive: true }
        halfLife: 20m
        rules: [{ event: a, relevance: { base: 0.5, add: [{ changed: data.a, from: data.b, weight: 0.5 }] } }]
      B: { halfLife: 1h, rules: [{ event: b, relevance: { base: 1 } }] }
    """

  private static func explanation(kind: Identifier? = nil) throws -> PolicyExplanation {
    PolicyExplanation(try PolicyDocument(yaml: yaml, file: "p.yaml"), kind: kind)
  }

  @Test("each value has its origin: the document, another value of it, the profile, or built in")
  func origins() throws {
    let lines = try Self.explanation().lines
    func origin(_ path: String) -> PolicyExplanation.ValueSource? { lines.first { $0.path == path }?.origin }
    let profile = PolicyProfiles.standard
    #expect(origin("version") == .document(file: "p.yaml", line: 1))
    #expect(origin("profile") == .builtIn)
    #expect(origin("limits.instanceReloads.limit") == .document(file: "p.yaml", line: 2))
    #expect(
      origin("limits.devicePushes.burst") == .profile(name: "apple-2026", provenance: profile.devicePushes.provenance))
    #expect(origin("kinds.A.budget.perDay") == .follows(from: "limits.instanceReloads.limit", file: "p.yaml", line: 2))
    #expect(origin("kinds.A.budget.minInterval") == .follows(from: "timeSensitive", file: "p.yaml", line: 5))
    #expect(
      origin("kinds.B.budget.minInterval")
        == .profile(name: "apple-2026", provenance: profile.instanceReloads.provenance))
    #expect(origin("kinds.A.halfLife") == .document(file: "p.yaml", line: 6))
    #expect(origin("kinds.A.rules[0].relevance.add[0]") == .document(file: "p.yaml", line: 7))
    #expect(origin("kinds.A.viewsWeight") == .builtIn)
  }

  @Test("one kind can be asked for, as text and as JSON lines")
  func oneKind() throws {
    let explanation = try Self.explanation(kind: "B")
    #expect(explanation.lines.allSatisfy { $0.path.hasPrefix("kinds.B.") })
    let text = explanation.text.description.split(separator: "\n")
    #expect(text.contains { $0.hasPrefix("kinds.B.halfLife = 1h ") && $0.hasSuffix("# p.yaml:8") })
    let json = explanation.jsonLines.split(separator: "\n")
    #expect(json.count == explanation.lines.count)
    #expect(
      json.contains(
        "{\"path\":\"kinds.B.halfLife\",\"value\":\"1h\",\"origin\":\"document\",\"file\":\"p.yaml\",\"line\":8}"))
    #expect(json.contains("{\"path\":\"kinds.B.enabled\",\"value\":true,\"origin\":\"builtIn\"}"))
    #expect(try Self.explanation(kind: "C").lines == [])
  }

  @Test("an activity's content has a line for each member, and no budget")
  func activities() throws {
    let bytes = try Repository.bytes("schemas/examples/policy/valid/live-activities.yaml")
    let document = try PolicyDocument(bytes: bytes, file: "p.yaml")
    let lines = PolicyExplanation(document).lines
    func line(_ path: String) -> PolicyExplanation.Line? { lines.first { $0.path == path } }
    let state = "kinds.FlightActivity.activity.contentState"
    #expect(line("\(state).status")?.value == .string("{ field: data.status, required: true }"))
    #expect(line("\(state).gate")?.value == .string("{data.gate}"))
    #expect(line("\(state).gate")?.origin == .document(file: "p.yaml", line: 16))
    #expect(line("\(state).delayMinutes")?.value == .string("{ field: data.delayMinutes, default: 0 }"))
    #expect(line("\(state).delayMinutes")?.origin == .document(file: "p.yaml", line: 17))
    #expect(line("\(state).departsAt")?.value == .string("{ date: data.scheduledDeparture, required: true }"))
    #expect(line("\(state).route.object.to")?.origin == .document(file: "p.yaml", line: 20))
    #expect(line("kinds.FlightActivity.activity.alert.body.locKey")?.value == .string("FLIGHT_STATUS"))
    #expect(line("kinds.FlightActivity.activity.alert.body.locArgs[0]")?.value == .string("{data.status}"))
    #expect(line("\(state).version")?.value == .number(1))
    #expect(line("kinds.FlightActivity.rules[0].action")?.value == .string("start"))
    #expect(line("kinds.FlightActivity.activity.dismissal.after")?.value == .string("30m"))
    #expect(line("kinds.FlightActivity.activity.channelStoresNewest") == nil)
    #expect(line("kinds.Match.activity.channelStoresNewest")?.value == .bool(true))
    #expect(line("kinds.Match.activity.relevanceScore")?.origin == .builtIn)
    #expect(line("kinds.LoungeDoor.budget.perDay")?.value == .number(60))
    #expect(line("kinds.LoungeDoor.imminentReload") == nil && line("kinds.LoungeDoor.rules[0].action") == nil)
    #expect(!lines.contains { $0.path.hasPrefix("kinds.Match.budget") })
    #expect(line("limits.frequentPushesFactor")?.origin == .document(file: "p.yaml", line: 6))
    let profile = PolicyProfiles.standard
    #expect(
      line("limits.activityPushes.burst")?.origin
        == .profile(name: "apple-2026", provenance: profile.activityPushes.provenance))
  }

  @Test(
    "a constant text has quotation marks where it would be refused or read as something else without them",
    arguments: [
      ("plain", false), ("12", true), ("true", true), ("True", true), ("NULL", true), ("~", true), ("0x1F", true),
    ])
  func constantTexts(text: String, isQuoted: Bool) throws {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: liveActivity
          activity: { contentState: { a: "\(text)" } }
          halfLife: 5m
          rules: [{ event: b, action: end, relevance: { base: 0.5 } }]
      """
    let lines = PolicyExplanation(try PolicyDocument(yaml: yaml, file: "p.yaml")).lines
    let written = lines.first { $0.path == "kinds.A.activity.contentState.a" }?.value
    #expect(written == .string(isQuoted ? "\"\(text)\"" : text))
  }

  @Test("the factor of frequent pushes has the source of the limit that it multiplies")
  func factor() throws {
    let lines = try Self.explanation().lines
    #expect(
      lines.first { $0.path == "limits.frequentPushesFactor" }?.origin
        == .profile(name: "apple-2026", provenance: PolicyProfiles.standard.activityPushes.provenance))
  }
}
