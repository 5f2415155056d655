import Domain
import Testing

@testable import Policies

@Suite struct RelevanceFormulaTests {
  private static let event = DomainEvent(
    id: "1", source: "s", type: "t", subject: "x", time: Timestamp(milliseconds: 0),
    fields: [
      EventField(path: "data.delay", value: .number(40)),
      EventField(path: "data.huge", value: .number(.greatestFiniteMagnitude)),
      EventField(path: "data.previous", value: .number(10)), EventField(path: "data.status", value: .string("late")),
    ])

  @Test(
    "a term adds its share",
    arguments: [
      (.changeOf(field: "data.delay", from: "data.previous", per: 60, weight: 0.6), 0.3),
      (.changeOf(field: "data.previous", from: "data.delay", per: 60, weight: 0.6), 0.3),
      (.changeOf(field: "data.delay", from: "data.previous", per: 10, weight: 0.6), 0.6),
      (.changeOf(field: "data.delay", from: "data.none", per: 80, weight: 0.6), 0.3),
      (.changeOf(field: "data.none", from: "data.delay", per: 60, weight: 0.6), 0),
      (.changeOf(field: "data.status", from: "data.delay", per: 60, weight: 0.6), 0),
      (.magnitudeOf(field: "data.delay", per: 80, weight: 0.5), 0.25),
      (.magnitudeOf(field: "data.none", per: 80, weight: 0.5), 0),
      (.equals(field: "data.status", value: .string("late"), weight: 0.4), 0.4),
      (.equals(field: "data.status", value: .string("on time"), weight: 0.4), 0),
      (.differs(field: "data.status", from: "data.previousStatus", weight: 0.4), 0.4),
      (.differs(field: "data.none", from: "data.neither", weight: 0.4), 0),
      (.equals(field: "data.status", value: .string("late"), weight: -0.4), 0),
    ] as [(RelevanceFormula.Term, Double)])
  func terms(_ term: RelevanceFormula.Term, _ expected: Double) {
    #expect(abs(RelevanceFormula(base: 0, add: [term]).evaluate(Self.event) - expected) < 1e-12)
  }

  @Test("the sum stays within 0 and 1 for any numbers")
  func clamped() {
    let up = RelevanceFormula.Term.magnitudeOf(field: "data.huge", per: 1e-6, weight: 1)
    let change = RelevanceFormula.Term.changeOf(field: "data.huge", from: "data.delay", per: 1e-6, weight: -1)
    #expect(RelevanceFormula(base: 0.9, add: [up]).evaluate(Self.event) == 1)
    #expect(RelevanceFormula(base: 0.1, add: [change]).evaluate(Self.event) == 0)
    #expect(RelevanceFormula(base: .nan).evaluate(Self.event) == 0)
  }
}
