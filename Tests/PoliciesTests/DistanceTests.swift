import Domain
import Testing

@testable import Policies

@Suite struct DistanceTests {
  private static func number(_ number: Double) -> DisplayedValue { DisplayedValue(.number(number)) }
  private static func text(_ text: String) -> DisplayedValue { DisplayedValue(.string(text)) }

  @Test("a number is as wrong as its share of per, times the weight, and at most the weight")
  func units() {
    let delay = FieldDistance(DisplayField(path: "data.delay", round: 5, per: .units(30), weight: 0.6))
    #expect(delay(shown: Self.number(0), truth: Self.number(15)) == 0.3)
    #expect(delay(shown: Self.number(15), truth: Self.number(0)) == 0.3)
    #expect(delay(shown: Self.number(-30), truth: Self.number(300)) == 0.6)
    // 12 and 8 are both shown as 10. 13 is shown as 15, and is 1 minute from 12.
    #expect(delay(shown: Self.number(12), truth: Self.number(8)) == 0)
    #expect(delay(shown: Self.number(12), truth: Self.number(13)) == 0.6 * (1.0 / 30))
  }

  @Test("a percentage is of the number that is shown")
  func percentage() {
    let price = FieldDistance(DisplayField(path: "data.price", per: .percentOfShown(0.5)))
    #expect(price(shown: Self.number(200), truth: Self.number(200.5)) == 0.5)
    #expect(price(shown: Self.number(-200), truth: Self.number(-201)) == 1)
    #expect(price(shown: Self.number(0), truth: Self.number(0.001)) == 1)
    #expect(price(shown: Self.number(1e308), truth: Self.number(-1e308)) == 1)
  }

  @Test("without any key a different value is as wrong as can be")
  func defaults() {
    let field = FieldDistance(DisplayField(path: "data.a"))
    #expect(field(shown: Self.number(1), truth: Self.number(1.001)) == 1)
    #expect(field(shown: Self.text("a"), truth: Self.text("b")) == 1)
    #expect(field(shown: Self.text("1"), truth: Self.number(1)) == 1)
    #expect(field(shown: DisplayedValue(.bool(true)), truth: DisplayedValue(.bool(false))) == 1)
    #expect(field(shown: .absent, truth: Self.text("a")) == 1)
    #expect(field(shown: .absent, truth: DisplayedValue(.null)) == 0)
    #expect(field(shown: Self.number(-0.0), truth: Self.number(0)) == 0)
  }

  @Test("named values are as far apart as their weights, and at least the field's weight")
  func weights() {
    let status = FieldDistance(
      DisplayField(
        path: "data.status", weight: 0.3, weights: [.init("cancelled", 1), .init("departed", 0.5), .init("2", 0.9)]))
    #expect(status(shown: Self.text("boarding"), truth: Self.text("cancelled")) == 1)
    #expect(status(shown: Self.text("departed"), truth: Self.text("cancelled")) == 0.5)
    #expect(status(shown: Self.text("boarding"), truth: Self.text("gate closed")) == 0.3)
    #expect(status(shown: .absent, truth: Self.text("cancelled")) == 1)
    #expect(status(shown: .absent, truth: Self.number(2)) == 0.9)
    #expect(status(shown: .absent, truth: Self.text("2")) == 0.9)
    let unsaid = FieldDistance(DisplayField(path: "data.status", weights: [.init("true", 0.7)]))
    #expect(unsaid(shown: Self.text("a"), truth: Self.text("b")) == 0.1)
    #expect(unsaid(shown: DisplayedValue(.bool(false)), truth: DisplayedValue(.bool(true))) == 0.7)
  }

  @Test("the distances of fields are combined as chances that each is right")
  func combined() {
    let fields = [
      FieldDistance(DisplayField(path: "data.a", per: .units(10), weight: 0.8)),
      FieldDistance(DisplayField(path: "data.b", weight: 0.5)),
    ]
    let distance = ScreenDistance.between(
      shown: [Self.number(0), Self.text("x")], truth: [Self.number(5), Self.text("y")], fields)
    #expect(distance == 1 - 0.6 * 0.5)
    var board = ScreenDistance()
    board.add(0.4)
    #expect(ScreenDistance(right: board.right).value == 1 - 0.6)
  }

  @Test("a screen is right exactly when every field looks as it should", arguments: 0..<20 as Range<UInt64>)
  func rightExactlyWhenAlike(seed: UInt64) {
    var random = Generator(state: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1)
    for _ in 0..<200 {
      let count = Int.random(in: 1...4, using: &random)
      let fields = (0..<count).map { Self.field($0, using: &random) }
      let compiled = fields.map { FieldDistance($0) }
      let shown = fields.map { _ in Self.value(using: &random) }
      let truth = shown.map { Bool.random(using: &random) ? $0 : Self.value(using: &random) }
      let distance = ScreenDistance.between(
        shown: shown.map { DisplayedValue($0) }, truth: truth.map { DisplayedValue($0) }, compiled)
      let alike = fields.indices.allSatisfy { Self.looks(shown[$0], fields[$0]) == Self.looks(truth[$0], fields[$0]) }
      #expect((0...1).contains(distance))
      #expect((distance == 0) == alike, "seed \(seed): \(fields) \(shown) \(truth)")
    }
  }

  private static func field(_ index: Int, using random: inout Generator) -> DisplayField {
    var field = DisplayField(path: Identifier("data.f\(index)"))
    if Bool.random(using: &random) { field.round = [0.05, 1, 5].randomElement(using: &random) }
    if Bool.random(using: &random) { field.weight = [0.001, 0.3, 1].randomElement(using: &random) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: field.per = .units([1e-6, 10, 1e12].randomElement(using: &random) ?? 1)
    case 1: field.per = .percentOfShown([0.0001, 5, 10_000].randomElement(using: &random) ?? 1)
    case 2: field.weights = [.init("a", 0), .init("b", 1), .init("3", 0.5)]
    default: break
    }
    return field
  }

  private static func value(using random: inout Generator) -> FieldValue {
    let values: [FieldValue] = [
      .null, .bool(true), .bool(false), .string("a"), .string("b"), .string("c"), .string(""), .string("3"), .number(0),
      .number(-0.0), .number(3), .number(3.000_000_000_1), .number(1e300), .number(-1e300),
      .number(.leastNonzeroMagnitude),
      .number(Double(Int.random(in: -9...9, using: &random))),
    ]
    return values.randomElement(using: &random) ?? .null
  }

  /// Returns the text that the screen prints, by the words of the schema.
  private static func looks(_ value: FieldValue, _ field: DisplayField) -> String {
    guard case .number(let number) = value else { return "\(value)" }
    guard let unit = field.round else { return "\(number == 0 ? 0 : number)" }
    let multiple = (number / unit).rounded(.toNearestOrAwayFromZero)
    return "\(multiple == 0 ? 0 : multiple) steps"
  }

  /// SplitMix64, so that a seed gives the same numbers in every run.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }

  @Test("a policy says how wrong a difference is, and explains it in one line")
  func document() throws {
    let document = try PolicyDocument(
      yaml: """
        version: 1
        kinds:
          A:
            halfLife: 5m
            displays:
              - { field: data.delay, round: 5, per: 30, weight: 0.6 }
              - { field: data.price, per: 0.7% }
              - { field: data.status, weights: { cancelled: 1, departed: 0.5 } }
            rules: [{ event: a, relevance: { base: 1 } }]
        """, file: "p.yaml")
    #expect(
      document.policy.kinds[0].displays == [
        DisplayField(path: "data.delay", round: 5, per: .units(30), weight: 0.6),
        DisplayField(path: "data.price", per: .percentOfShown(0.7)),
        DisplayField(path: "data.status", weights: [.init("cancelled", 1), .init("departed", 0.5)]),
      ])
    let line = PolicyExplanation(document).lines.first { $0.path == "kinds.A.displays" }
    #expect(
      line?.value
        == .string(
          "0.6 × data.delay by 5 per 30, data.price per 0.7%, 0.1 × data.status (cancelled 1, departed 0.5)"))
  }
}
