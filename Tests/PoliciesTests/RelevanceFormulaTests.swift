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

  /// The fields of a screen that shows a delay of 20, steps of 30 minutes, no gate, and the status "on time".
  private static let displays = [
    FieldDistance(DisplayField(path: "data.delay")), FieldDistance(DisplayField(path: "data.previous", round: 30)),
    FieldDistance(DisplayField(path: "data.gate")), FieldDistance(DisplayField(path: "data.status")),
    FieldDistance(DisplayField(path: "data.huge")),
  ]
  private static let shown: [DisplayedValue] = [
    DisplayedValue(.number(20)), DisplayedValue(.number(0)), .absent, DisplayedValue(.string("on time")),
    DisplayedValue(.number(-.greatestFiniteMagnitude)),
  ]

  @Test(
    "a term against what is shown adds its share",
    arguments: [
      (.changeFromShown(field: "data.delay", per: 40, weight: 0.6), 0.3),
      (.changeFromShown(field: "data.delay", per: 10, weight: 0.6), 0.6),
      (.changeFromShown(field: "data.previous", per: 10, weight: 0.6), 0),
      (.changeFromShown(field: "data.status", per: 10, weight: 0.6), 0.6),
      (.changeFromShown(field: "data.gate", per: 10, weight: 0.6), 0),
      (.changeFromShown(field: "data.huge", per: 1e-6, weight: 0.6), 0.6),
      (.differsFromShown(field: "data.status", weight: 0.4), 0.4),
      (.differsFromShown(field: "data.previous", weight: 0.4), 0),
      (.differsFromShown(field: "data.gate", weight: 0.4), 0),
      (.differsFromShown(field: "data.elsewhere", weight: 0.4), 0),
    ] as [(RelevanceFormula.Term, Double)])
  func shownTerms(_ term: RelevanceFormula.Term, _ expected: Double) {
    let formula = RelevanceFormula(base: 0, add: [term])
    #expect(abs(formula.evaluate(Self.event, shown: Self.shown, Self.displays) - expected) < 1e-12)
    #expect(formula.comparesWithShown && formula.evaluate(Self.event) == 0)
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
