import Domain
import Testing

@testable import Policies

@Suite("Conditions of rules and parts of interest keys")
struct RuleConditionTests {
  private static func event(_ fields: [(Identifier, FieldValue)], type: Identifier = "t") -> DomainEvent {
    DomainEvent(
      id: "1", source: "/s", type: type, subject: "flight/UA15", time: Timestamp(microseconds: 0),
      fields: fields.map { EventField(path: $0.0, value: $0.1) }.sorted { $0.path < $1.path })
  }

  private static let tests: [(RuleCondition.Test, FieldValue?, Bool)] = [
    (.equals(.string("a")), .string("a"), true), (.equals(.string("a")), .string("A"), false),
    (.equals(.number(3)), .string("3"), false), (.equals(.null), nil, true), (.equals(.null), .null, true),
    (.isOneOf([.string("a"), .number(2)]), .number(2), true), (.isOneOf([.string("a")]), nil, false),
    (.isAtLeast(15), .number(15), true), (.isAtLeast(15), .number(14.9), false), (.isAtLeast(-1), nil, false),
    (.isAtLeast(0), .string("7"), false), (.isAtLeast(0), .number(.nan), false),
    (.isBelow(15), .number(14), true), (.isBelow(15), .number(15), false), (.isBelow(1), .null, false),
    (.differs(from: "data.before"), .number(4), true), (.differs(from: "data.before"), .number(5), false),
    (.differs(from: "data.none"), nil, false), (.differs(from: "data.none"), .number(0), true),
  ]

  @Test("a test is total: a missing field counts as null, and only numbers are compared", arguments: tests.indices)
  func holds(place: Int) {
    let (test, value, expected) = Self.tests[place]
    var fields: [(Identifier, FieldValue)] = [("data.before", .number(5))]
    if let value { fields.append(("data.value", value)) }
    #expect(RuleCondition(field: "data.value", test).holds(for: Self.event(fields)) == expected)
  }

  @Test("the first rule whose conditions all hold is used, and without any the event has no rule")
  func choice() throws {
    let kind = try PolicyDocument(
      yaml: """
        version: "1"
        kinds:
          Board:
            surface: widget
            halfLife: 20m
            rules:
              - event: flight.*
                when: [ { field: data.delay, atLeast: 30 }, { field: data.status, in: [waiting, boarding] } ]
                relevance: { base: 0.9 }
              - event: flight.changed
                when: { field: data.delay, atLeast: 10, below: 60 }
                relevance: { base: 0.5 }
              - event: other
                relevance: { base: 0.1 }
        """, file: "policy"
    ).policy.kinds[0]
    func base(_ delay: Double, _ status: String, _ type: Identifier = "flight.changed") -> Double? {
      kind.rule(for: Self.event([("data.delay", .number(delay)), ("data.status", .string(status))], type: type))?
        .relevance?.base
    }
    #expect(base(45, "boarding") == 0.9)
    #expect(base(45, "landed") == 0.5)
    #expect(base(75, "landed") == nil)
    #expect(base(5, "waiting") == nil)
    #expect(base(45, "landed", "flight.departed") == nil)
    #expect(base(0, "", "other") == 0.1)
    #expect(kind.rules(forType: "flight.changed").count == 2)
    #expect(kind.rules(forType: "nothing").isEmpty)
  }

  private static let keys: [(String, String?)] = [
    ("{data.flight|prefix:2}", "UA"), ("{data.flight|prefix:99}", "UA1545"), ("{data.flight|prefix:2|lower}", "ua"),
    ("airline/{data.flight|prefix:2}@{data.origin|lower}", "airline/UA@ewr"), ("{subject|split:/:2}", "UA15"),
    ("{subject|split:/:-1}", "UA15"), ("{subject|split:/:-2}", "flight"), ("{subject|split:/:3}", nil),
    ("{data.route|split:::2}", "b"), ("{data.route|split:->:1}", "a:b:"), ("{data.empty|lower}", nil),
    ("{data.missing|lower}", nil), ("{data.number|prefix:1}", "4"), ("{data.umlaut|lower|prefix:1}", "ä"),
  ]

  @Test(
    "filters make a key from a part of a field, and a part that does not exist makes no key", arguments: keys.indices)
  func filters(place: Int) throws {
    let (text, expected) = Self.keys[place]
    let template = try InterestTemplateParser.parse(text)
    let event = Self.event([
      ("data.flight", .string("UA1545")), ("data.origin", .string("EWR")), ("data.route", .string("a:b:->c")),
      ("data.empty", .string("")), ("data.number", .number(42)), ("data.umlaut", .string("ÄB")),
    ])
    #expect(template.key(for: event)?.text == expected)
    #expect(PolicyText.of(template) == text)
  }
}
