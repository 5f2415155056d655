import Domain
import Testing

@testable import Policies

@Suite struct PolicyDocumentTests {
  private static func policy(_ yaml: String) throws -> Policy { try PolicyDocument(yaml: yaml, file: "p.yaml").policy }

  private static let minimal = """
    version: 2026-11-20.1
    kinds:
      A: { halfLife: 20m, rules: [{ event: a, relevance: { base: 0.5 } }] }
    """

  @Test("keys that a kind leaves out come from the profile or are built in")
  func defaults() throws {
    let policy = try Self.policy(Self.minimal)
    #expect(policy.reference.version == "2026-11-20.1")
    #expect(policy.profile.name == "apple-2026")
    #expect(policy.quietHours == nil && policy.apps == [])
    let expected = KindPolicy(
      name: "A", budget: InstanceBudget(perDay: 48, minInterval: .minutes(15)), halfLife: .minutes(20),
      rules: [Rule(event: "a", relevance: RelevanceFormula(base: 0.5))])
    #expect(policy.kinds == [expected])
  }

  @Test("every key of the document reaches the policy")
  func everything() throws {
    let bytes = try Repository.bytes("schemas/examples/policy/valid/everything.yaml")
    let policy = try PolicyDocument(bytes: bytes, file: "everything.yaml").policy
    #expect(policy.profile.instanceReloads.limit == 44 && policy.profile.instanceReloads.minInterval == .minutes(18))
    #expect(policy.profile.devicePushes.limit == 6 && policy.profile.devicePushes.window == .minutes(90))
    #expect(policy.profile.devicePushes.burst == 4 && policy.profile.devicePushes.provenance.confidence == "policy")
    #expect(policy.profile.backgroundPushes.limit == nil && policy.profile.backgroundPushes.window == .hours(1))
    #expect(policy.quietHours == QuietHours(fromMinute: 23 * 60, toMinute: 7 * 60, exceptRelevance: 0.9))
    #expect(policy.apps == [AppBudget(app: "com.example.flights", perDay: 250_000, refundsPerDay: 20_000)])
    let companion = try #require(policy.kind(named: "Companion"))
    #expect(companion.surface == .background && !companion.enabled)
    #expect(companion.budget == InstanceBudget(perDay: 44, minInterval: .minutes(5), window: .rolling))
    let status = try #require(policy.kind(named: "FlightStatus"))
    #expect(status.budget.window == .localDay(anchorMinute: 210))
    #expect(status.budget.reserve == InstanceBudget.Reserve(share: 0.25, aboveRelevance: 0.8))
    #expect(status.imminentReload == .seconds(150))
    #expect(
      status.displays == [
        DisplayField(path: "data.delayMinutes", round: 5, per: .units(30), weight: 0.6, initial: .number(0)),
        DisplayField(path: "data.price", per: .percentOfShown(0.5)),
        DisplayField(
          path: "data.status", weight: 0.3,
          weights: [.init("cancelled", 1), .init("departed", 0.5), .init("2", 0.4), .init("true", 0)]),
      ])
    #expect(status.rules[0].maxAge == .minutes(30) && status.rules[0].interests.count == 3)
    #expect(status.rules[0].relevance == Self.everyTerm)
    #expect(
      status.rules[1].conditions == [
        RuleCondition(
          field: "data.gate", .isOneOf([.string("A1"), .string("B2"), .number(3), .bool(true), .null])),
        RuleCondition(field: "data.gate", .differs(from: "data.previousGate")),
        RuleCondition(field: "data.minutesToDeparture", .isAtLeast(-10)),
        RuleCondition(field: "data.minutesToDeparture", .isBelow(90.5)),
      ])
    #expect(
      status.rules[1].interests == [
        InterestTemplate(parts: [.text("airline/"), .filtered("data.flight", [.prefix(2), .lower])]),
        InterestTemplate(parts: [
          .text("route/"), .filtered("data.route", [.part(1, separator: "-")]), .text("/"),
          .filtered("subject", [.part(-1, separator: "/")]),
        ]),
      ])
    #expect(status.rules[2].conditions == [RuleCondition(field: "data.status", .equals(.string("boarding")))])
    #expect(status.rules[3].event == "*" && status.rules[3].matches(type: "anything"))
  }

  private static let everyTerm = RelevanceFormula(
    base: 0.2,
    add: [
      .changeOf(field: "data.delayMinutes", from: "data.previousDelayMinutes", per: 60, weight: 0.6),
      .magnitudeOf(field: "data.delayMinutes", per: 120, weight: 0.1),
      .equals(field: "data.status", value: .string("cancelled"), weight: 0.5),
      .equals(field: "data.gate", value: .string("12"), weight: -0.1),
      .equals(field: "data.legs.0.closed", value: .bool(true), weight: 0.1),
      .differs(field: "data.status", from: "data.previousStatus", weight: 0.3),
      .changeFromShown(field: "data.delayMinutes", per: 30, weight: 0.2),
      .differsFromShown(field: "data.status", weight: 0.1),
    ])

  @Test("views are brought to a maximum of 1")
  func normalised() throws {
    let bytes = try Repository.bytes("schemas/examples/policy/valid/everything.yaml")
    let kind = try #require(try PolicyDocument(bytes: bytes, file: "").policy.kind(named: "FlightStatus"))
    #expect(kind.views.max() == 1 && kind.views[0] == 0.25)
  }

  @Test("the hash names the bytes with their profile: the same for the same, another for a changed comment")
  func hash() throws {
    let document = try PolicyDocument(yaml: Self.minimal, file: "p.yaml")
    let first = document.policy
    #expect(document.text.hasPrefix(Self.minimal))
    #expect(first.reference.hash.text == String(SHA256.hexDigest(of: Array(document.text.utf8)).prefix(16)))
    #expect(try Self.policy(Self.minimal).reference == first.reference)
    #expect(try Self.policy(Self.minimal + "\n# reviewed").reference.hash != first.reference.hash)
  }

  @Test(
    "line ends, a byte order mark and * in texts and comments do not matter",
    arguments: [
      ("\n", "\r\n"), ("\n", "\r"), ("version", "\u{FEFF}version"), ("version", "# *all* & none\nversion"),
      ("event: a", "event: \"*\""),
    ])
  func spelling(_ old: String, _ new: String) throws {
    #expect(try Self.policy(Self.minimal.replacing(old, with: new)).kinds.count == 1)
  }

  @Test("a message points behind the byte order mark and counts \\r\\n once")
  func positions() {
    let yaml = "\u{FEFF}version: 1\r\nkinds:\r\n  A: { halfLife: 20 }\r\n"
    #expect { try Self.policy(yaml) } throws: { error in
      (error as? PolicyError)?.problems.map(\.description) == [
        "p.yaml:3:3: error: kinds.A: rules is missing; it is required",
        "p.yaml:3:18: error: kinds.A.halfLife: a duration needs a unit: write 20s, 20m or 20h (units: d, h, m, s, ms)",
      ]
    }
  }
}
