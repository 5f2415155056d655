import Domain
import Testing

@testable import Policies

@Suite struct InterestTemplateTests {
  private static let event = DomainEvent(
    id: "1", source: "/replay", type: "flight.cancelled", subject: "flight/UA1545/2013-07-01",
    time: Timestamp(milliseconds: 0),
    fields: [
      EventField(path: "data.closed", value: .bool(true)), EventField(path: "data.gate", value: .number(12)),
      EventField(path: "data.nothing", value: .null), EventField(path: "data.origin", value: .string("EWR")),
      EventField(path: "data.temp", value: .number(75.5)),
    ])

  @Test(
    "a template makes the key of an event",
    arguments: [
      ("{subject}", "flight/UA1545/2013-07-01"), ("airport/{data.origin}", "airport/EWR"),
      ("{type}@{source}", "flight.cancelled@/replay"),
      ("gate/{data.gate}", "gate/12"), ("{data.temp}", "75.5"), ("{data.closed}", "true"), ("all", "all"),
      ("{data.origin}{data.gate}", "EWR12"),
    ])
  func keys(_ text: String, _ key: Identifier) throws {
    #expect(try InterestTemplateParser.parse(text).key(for: Self.event) == key)
  }

  @Test("a missing or null field makes no key", arguments: ["x/{data.destination}", "x/{data.nothing}"])
  func missing(_ text: String) throws {
    #expect(try InterestTemplateParser.parse(text).key(for: Self.event) == nil)
  }

  @Test(
    "a bad template is refused where it is wrong",
    arguments: [
      ("", 0), ("{subject", 0), ("a{", 1), ("a}", 1), ("{a{b}}", 2), ("x{}", 2), ("x{subjekt}", 2), ("{data}", 1),
      ("{data.}", 1),
      ("{data..a}", 1), ("{data.a b}", 1),
    ])
  func refused(_ text: String, _ offset: Int) {
    #expect { try InterestTemplateParser.parse(text) } throws: {
      ($0 as? InterestTemplateParser.Refusal)?.offset == offset
    }
  }
}
