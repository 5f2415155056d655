import Domain
import Testing

@testable import Policies

@Suite struct ActivityPolicyTests {
  private static func example() throws -> Policy {
    let bytes = try Repository.bytes("schemas/examples/policy/valid/live-activities.yaml")
    return try PolicyDocument(bytes: bytes, file: "live-activities.yaml").policy
  }

  private static func activity(_ lines: String, surface: String = "liveActivity") throws -> ActivityPolicy {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: \(surface)
          activity:
            contentState: { a: 1 }
            \(lines)
          halfLife: 5m
          rules: [{ event: a, relevance: { base: 1 } }]
      """
    return try #require(try PolicyDocument(yaml: yaml, file: "p.yaml").policy.kinds[0].activity)
  }

  private static func contentState(_ value: String) throws -> TemplateValue? {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: broadcast
          activity:
            contentState:
              a: \(value)
          halfLife: 5m
          rules: [{ event: a, relevance: { base: 1 } }]
      """
    return try PolicyDocument(yaml: yaml, file: "p.yaml").policy.kinds[0].activity?.contentState.first?.value
  }

  private static func template(_ parts: InterestTemplate.Part...) -> InterestTemplate { InterestTemplate(parts: parts) }

  @Test("every key of a Live Activity reaches the policy")
  func everything() throws {
    let kind = try #require(try Self.example().kind(named: "FlightActivity"))
    #expect(kind.surface == .liveActivity)
    let expected = ActivityPolicy(
      attributesType: "FlightAttributes",
      attributes: [
        TemplateMember(name: "flight", value: .field(path: "data.flight", fallback: .null), isRequired: true),
        TemplateMember(name: "origin", value: .field(path: "data.origin", fallback: .null)),
      ],
      contentState: [
        TemplateMember(name: "status", value: .field(path: "data.status", fallback: .null), isRequired: true),
        TemplateMember(name: "gate", value: .field(path: "data.gate", fallback: .null)),
        TemplateMember(name: "delayMinutes", value: .field(path: "data.delayMinutes", fallback: .number(0))),
        TemplateMember(name: "departsAt", value: .date(path: "data.scheduledDeparture"), isRequired: true),
        TemplateMember(name: "note", value: .text(Self.template(.text("Gate "), .field("data.gate")))),
        TemplateMember(
          name: "route",
          value: .object([
            TemplateMember(name: "from", value: .field(path: "data.origin", fallback: .null)),
            TemplateMember(name: "to", value: .field(path: "data.destination", fallback: .null)),
          ])),
        TemplateMember(name: "version", value: .constant(.number(1))),
      ],
      alert: AlertTemplate(
        title: .text(Self.template(.text("Flight "), .field("data.flight"))),
        body: .localized(key: "FLIGHT_STATUS", arguments: [Self.template(.field("data.status"))]), aboveRelevance: 0.8,
        wait: .minutes(2)),
      staleAfter: .minutes(15), quietEnd: .hours(2), restartAfterDismissal: .hours(3), restartWithoutToken: true,
      dismissal: .after(.minutes(30)))
    #expect(kind.activity == expected)
    #expect(kind.rules.map(\.action) == [.start, .start, .end, .end, .update])
  }

  @Test("a channel's kind and a control's kind reach the policy, and so do the limits")
  func others() throws {
    let policy = try Self.example()
    let match = try #require(policy.kind(named: "Match"))
    #expect(match.surface == .broadcast && match.activity?.channelStoresNewest == true)
    #expect(match.activity?.dates == .unix && match.activity?.dismissal == .immediate)
    #expect(match.activity?.quietEnd == .minutes(45) && match.activity?.staleAfter == nil)
    #expect(match.activity?.channel == Self.template(.field("data.channel")))
    #expect(match.rules.map(\.action) == [.start, .update, .end, .update])
    let door = try #require(policy.kind(named: "LoungeDoor"))
    #expect(door.surface == .control && door.activity == nil)
    #expect(door.budget == InstanceBudget(perDay: 60, minInterval: .minutes(1)))
    #expect(policy.profile.controlPushes.limit == 10 && policy.profile.controlPushes.burst == 2)
    #expect(policy.profile.activityPushes.limit == 8 && policy.profile.activityPushes.burst == 3)
    #expect(policy.profile.activityPushes.provenance.source == "limits.activityPushes of the policy")
    #expect(policy.profile.frequentPushesFactor == 2 && policy.profile.activityStarts.window == .hours(12))
  }

  @Test("keys that an activity leaves out are built in")
  func defaults() throws {
    let expected = ActivityPolicy(contentState: [TemplateMember(name: "a", value: .constant(.number(1)))])
    #expect(try Self.activity("") == expected)
    #expect(try Self.activity("dismissal: default", surface: "broadcast") == expected)
    let alert = try Self.activity("alert: { title: Goal, body: \"{subject}\" }").alert
    #expect(
      alert
        == AlertTemplate(
          title: .text(Self.template(.text("Goal"))), body: .text(Self.template(.field("subject"))), aboveRelevance: 2)
    )
  }

  @Test(
    "the spelling of a template value determines its type",
    arguments: [
      ("\"{data.x}\"", .field(path: "data.x", fallback: .null)),
      ("\" {data.x}\"", .text(template(.text(" "), .field("data.x")))),
      ("\"{data.x}{data.y}\"", .text(template(.field("data.x"), .field("data.y")))),
      ("\"{subject}\"", .text(template(.field("subject")))),
      ("Gate 12", .constant(.string("Gate 12"))), ("12", .constant(.number(12))),
      ("\"12\"", .constant(.string("12"))), ("\"\"", .constant(.string(""))), ("true", .constant(.bool(true))),
      ("null", .constant(.null)), ("{ field: data.x }", .field(path: "data.x", fallback: .null)),
      ("{ field: data.x, default: \"{y}\" }", .field(path: "data.x", fallback: .string("{y}"))),
      ("{ date: data.x }", .date(path: "data.x")), ("{ object: {} }", .object([])),
      (
        "{ object: { b: { object: { c: 1 } } } }",
        .object([
          TemplateMember(name: "b", value: .object([TemplateMember(name: "c", value: .constant(.number(1)))]))
        ])
      ),
    ] as [(String, TemplateValue)])
  func values(_ yaml: String, _ expected: TemplateValue) throws {
    #expect(try Self.contentState(yaml) == expected)
  }

  @Test("objects nest eight deep, and no deeper")
  func depth() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "{ object: { a: ", count: count) + "1" + String(repeating: " } }", count: count)
    }
    #expect(try Self.contentState(nested(8)) != nil)
    #expect(throws: PolicyError.self) { try Self.contentState(nested(9)) }
  }

  @Test("an object has at most 64 members")
  func members() {
    let object = "{ object: { \((0..<65).map { "m\($0): 1" }.joined(separator: ", ")) } }"
    #expect { try Self.contentState(object) } throws: {
      ($0 as? PolicyError)?.problems.map(\.message) == ["65 entries; at most 64 are allowed"]
    }
  }

  /// Returns an object of constant texts that have this many bytes together.
  private static func constants(_ bytes: Int) -> String {
    let texts = stride(from: 0, to: bytes, by: 1000).map { start in
      "m\(start / 1000): \(String(repeating: "x", count: min(1000, bytes - start)))"
    }
    return "{ \(texts.joined(separator: ", ")) }"
  }

  @Test(
    "constant text that alone makes a payload large is warned of",
    arguments: [
      (1900, ""),
      (
        1990,
        "an update has at least 2093 bytes by constant text alone, at most 4096 are allowed: its band is watch or worse"
      ),
      (
        3000,
        "an update has at least 3111 bytes by constant text alone, at most 4096 are allowed: its band is risky or worse"
      ),
      (
        5000, "an update has at least 5127 bytes by constant text alone, at most 4096 are allowed: every one is refused"
      ),
    ])
  func constantText(_ bytes: Int, _ warning: String) throws {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: liveActivity
          activity: { contentState: \(Self.constants(bytes)) }
          halfLife: 5m
          rules: [{ event: b, action: end, relevance: { base: 0.5 } }, { event: a, relevance: { base: 1 } }]
      """
    let warnings = try PolicyDocument(yaml: yaml, file: "p.yaml").warnings
    #expect(warnings.map(\.message) == (warning.isEmpty ? [] : [warning]))
    #expect(warnings.map(\.path) == (warning.isEmpty ? [] : ["kinds.A.activity.contentState"]))
  }

  @Test("a start that is larger than its updates by constant text alone is warned of by itself")
  func constantStart() throws {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: liveActivity
          activity:
            contentState: { a: 1 }
            attributesType: T
            attributes: \(Self.constants(4100))
            alert: { title: t, body: b }
          halfLife: 5m
          rules: [{ event: b, action: end, relevance: { base: 0.5 } }, { event: a, action: start, relevance: { base: 1 } }]
      """
    let warnings = try PolicyDocument(yaml: yaml, file: "p.yaml").warnings
    #expect(warnings.map(\.path) == ["kinds.A.activity"])
    #expect(warnings.first?.message.hasSuffix("every one is refused") == true)
  }

  @Test("activities that are started, but do not listen to the subject of their events, are warned of")
  func activityWithoutSubject() throws {
    let yaml = """
      version: 1
      kinds:
        A:
          surface: liveActivity
          activity: { contentState: { a: 1 }, attributesType: T, attributes: {}, alert: { title: t, body: b } }
          halfLife: 5m
          rules:
            - { event: b, action: end, relevance: { base: 0.5 }, interests: ["{subject}", "team/{data.home}"] }
            - { event: a, action: start, relevance: { base: 1 }, interests: ["team/{data.home}"] }
      """
    let warnings = try PolicyDocument(yaml: yaml, file: "p.yaml").warnings
    #expect(warnings.map(\.path) == ["kinds.A.rules[1].interests"])
    let tied = yaml.replacing("[\"team", with: "[\"{subject}\", \"team")
    #expect(try PolicyDocument(yaml: tied, file: "p.yaml").warnings.isEmpty)
  }
}
