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
          - { on: a.one, relevance: { base: 0.5 } }
          - { on: a.two, relevance: { base: 0.5 }, maxAge: 5m }
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

  @Test("what changed is named with the old and the new value")
  func changed() throws {
    let new = Self.old.replacing("20m", with: "30m").replacing(
      "quietHours: { from: \"23:00\", to: \"07:00\" }\n", with: ""
    )
    .replacing("maxAge: 5m", with: "maxAge: 10m").replacing(
      "- { on: a.one", with: "- { on: a.zero, relevance: { base: 1 } }\n      - { on: a.one")
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

  @Test("a change is one JSON line")
  func json() throws {
    let difference = try Self.difference(
      Self.old, Self.old.replacing("base: 0.5 }, maxAge", with: "base: 0.75 }, maxAge"))
    #expect(difference.jsonLines == "{\"path\":\"kinds.A.rules[a.two].relevance.base\",\"old\":0.5,\"new\":0.75}\n")
  }
}
