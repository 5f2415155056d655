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
        rules: [{ on: a, relevance: { base: 0.5, add: [{ changed: data.a, from: data.b, weight: 0.5 }] } }]
      B: { halfLife: 1h, rules: [{ on: b, relevance: { base: 1 } }] }
    """

  private static func explanation(kind: String? = nil) throws -> PolicyExplanation {
    PolicyExplanation(try PolicyDocument(yaml: yaml, file: "p.yaml"), kind: kind)
  }

  @Test("each value has its origin: the document, another value of it, the profile, or built in")
  func origins() throws {
    let lines = try Self.explanation().lines
    func origin(_ path: String) -> PolicyExplanation.Origin? { lines.first { $0.path == path }?.origin }
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
    #expect(origin("kinds.A.price.base") == .builtIn)
  }

  @Test("one kind can be asked for, as text and as JSON lines")
  func oneKind() throws {
    let explanation = try Self.explanation(kind: "B")
    #expect(explanation.lines.allSatisfy { $0.path.hasPrefix("kinds.B.") })
    let text = explanation.text.split(separator: "\n")
    #expect(text.contains { $0.hasPrefix("kinds.B.halfLife = 1h ") && $0.hasSuffix("# p.yaml:8") })
    let json = explanation.jsonLines.split(separator: "\n")
    #expect(json.count == explanation.lines.count)
    #expect(
      json.contains(
        "{\"path\":\"kinds.B.halfLife\",\"value\":\"1h\",\"origin\":\"document\",\"file\":\"p.yaml\",\"line\":8}"))
    #expect(json.contains("{\"path\":\"kinds.B.enabled\",\"value\":true,\"origin\":\"builtIn\"}"))
    #expect(try Self.explanation(kind: "C").lines == [])
  }
}
