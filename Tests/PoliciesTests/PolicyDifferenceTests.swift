import Domain
import Testing

@testable import Policies

@Suite struct PolicyDifferenceTests {
  private static let old = """
    version: 1
    quietHours: { from: "23:00", to: "07:00" }
    kinds:
      A:
        halfLife: 20m
        rules:
          - { event: a.one, relevance: { base: 0.5 } }
          - { event: a.two, relevance: { base: 0.5 }, maxAge: 5m }
    """

  private static func difference(_ old: String, _ new: String) throws -> PolicyDifference {
    PolicyDifference(
      from: try PolicyDocument(yaml: old, file: "old").policy, to: try PolicyDocument(yaml: new, file: "new").policy)
  }

  @Test("comments, spelling and the order of kinds are no change")
  func same() throws {
    let respelled = Self.old.replacing("20m", with: "1200s # as before").replacing("version: 1", with: "version: \"1\"")
    #expect(try Self.difference(Self.old, respelled).isEmpty)
  }

  @Test("a change is listed with the old and the new value")
  func changed() throws {
    let new = Self.old.replacing("20m", with: "30m").replacing(
      "quietHours: { from: \"23:00\", to: \"07:00\" }\n", with: ""
    )
    .replacing("maxAge: 5m", with: "maxAge: 10m").replacing(
      "- { event: a.one", with: "- { event: a.zero, relevance: { base: 1 } }\n      - { event: a.one")
    #expect(
      try Self.difference(Self.old, new).text == """
        quietHours.from: - 23:00
        quietHours.to: - 07:00
        kinds.A.halfLife: 20m → 30m
        kinds.A.rules[a.two].maxAge: 5m → 10m
        kinds.A.rules: a.one, a.two → a.zero, a.one, a.two
        kinds.A.rules[a.zero].interests: + {subject}
        kinds.A.rules[a.zero].relevance.base: + 1

        """)
  }

  @Test("an activity's content is compared member by member, in any order and spelling")
  func activities() throws {
    let old = """
      version: 1
      kinds:
        A:
          surface: liveActivity
          activity:
            contentState: { a: "{data.a}", b: 12, c: { object: { d: "x {data.d}" } } }
            dismissal: default
          halfLife: 20m
          rules: [{ event: a.one, relevance: { base: 0.5 } }]
      """
    let same = old.replacing("\"{data.a}\", b: 12", with: "{ field: data.a, default: null }, b: 12.0")
      .replacing("event: a.one", with: "event: a.one, action: update").replacing(
        "dismissal: default", with: "quietEnd: 120m")
    #expect(try Self.difference(old, same).text == "")
    let new = old.replacing("\"{data.a}\", b: 12", with: "{ field: data.a, default: \"0\" }, b: \"12\"")
      .replacing("x {", with: "y {").replacing("event: a.one", with: "event: a.one, action: end")
      .replacing("dismissal: default", with: "dismissal: { after: 90m }")
      .replacing("version: 1", with: "version: 1\nlimits: { frequentPushesFactor: 4, activityPushes: { burst: 2 } }")
    #expect(
      try Self.difference(old, new).text == """
        limits.activityPushes.burst: 3 → 2
        limits.frequentPushesFactor: 3 → 4
        kinds.A.activity.contentState.a: {data.a} → { field: data.a, default: "0" }
        kinds.A.activity.contentState.b: 12 → "12"
        kinds.A.activity.contentState.c.object.d: x {data.d} → y {data.d}
        kinds.A.activity.dismissal: - default
        kinds.A.rules[a.one].action: update → end
        kinds.A.activity.dismissal.after: + 1h30m

        """)
  }

  @Test("a change is one JSON line")
  func json() throws {
    let difference = try Self.difference(
      Self.old, Self.old.replacing("base: 0.5 }, maxAge", with: "base: 0.75 }, maxAge"))
    #expect(difference.jsonLines == "{\"path\":\"kinds.A.rules[a.two].relevance.base\",\"old\":0.5,\"new\":0.75}\n")
  }
}
