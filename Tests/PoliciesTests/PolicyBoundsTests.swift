import Testing

@testable import Policies

@Suite struct PolicyBoundsTests {
  private static func problems(_ yaml: String) -> [PolicyProblem] {
    do {
      _ = try PolicyDocument(yaml: yaml, file: "p.yaml")
      return []
    } catch {
      return error.problems
    }
  }

  @Test("a document of more than 1 MiB is refused unread")
  func size() {
    let problems = Self.problems("# " + String(repeating: "x", count: 1 << 20))
    #expect(problems.map(\.message) == ["the document has 1048578 bytes; at most 1048576 are allowed"])
  }

  @Test("deep nesting is refused, not followed", arguments: ["[", "{a: ", "[a: ", "- ", "? ", "[[{a: ", "a:\n"])
  func nesting(_ opening: String) {
    for count in [40, 900, 1_000_000 / opening.utf8.count] {
      #expect(!Self.problems(String(repeating: opening, count: count)).isEmpty)
    }
    #expect(Self.problems(String(repeating: "- ", count: 40)).map(\.message) == ["nested deeper than 32 levels"])
    #expect(Self.problems(String(repeating: "[", count: 2000)).map(\.message) == ["nested deeper than 32 levels"])
  }

  @Test("more than 100,000 values are refused")
  func values() {
    let problems = Self.problems("[" + String(repeating: "1,", count: 120_000) + "]")
    #expect(problems.map(\.message) == ["more than 100000 values; split the policy"])
  }

  @Test("aliases that would multiply are refused without being followed")
  func aliases() {
    var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in 1...40 {
      yaml += "a\(level): &a\(level) [\((0..<9).map { _ in "*a\(level - 1)" }.joined(separator: ", "))]\n"
    }
    #expect(
      Self.problems(yaml + "? *a40\n: 1\n").map(\.message) == ["YAML anchors cannot be used in a policy: remove &a0"])
  }

  @Test("at most 100 errors are reported, and a document with more is still refused")
  func manyErrors() {
    let rules = String(repeating: "\n      - { event: a b, relevance: { base: 2 } }", count: 200)
    #expect(Self.problems("version: 1\nkinds:\n  A:\n    halfLife: 5m\n    rules:\(rules)").count == 100)
  }

  @Test(
    "the bounds on counts are named",
    arguments: [
      (
        "displays: [\(String(repeating: "{ field: data.a },", count: 33))]",
        "a list of 33 displayed fields; expected at most 32"
      ),
      ("views: []", "a list of 0 weights, one per hour 0 to 23; expected 24"),
    ])
  func counts(_ line: String, _ message: String) {
    let rules = "rules: [{ event: a, relevance: { base: 1 } }]"
    let yaml = "version: 1\nkinds:\n  A:\n    \(line)\n    halfLife: 5m\n    \(rules)"
    #expect(Self.problems(yaml).map(\.message) == [message])
  }
}
