import Domain
import Policies
import Testing

@testable import Planning

@Suite("The fields that templates know")
struct KnownContentTests {
  private static let paths = [
    "data.legs.0.gate", "data.legs.1.gate", "data.score", "data.score.home", "data.status", "source", "subject",
  ].map { PatchedField($0) }

  private static func at(_ second: Int64) -> Timestamp { Timestamp(microseconds: second * 1_000_000) }

  /// Returns what is known after events about `match/1`, each with its fields and the second at which it happened.
  private static func known(_ events: [(Int64, [String: FieldValue])]) -> [String: FieldValue] {
    var known = KnownContent()
    for (second, fields) in events {
      let sorted = fields.map { EventField(path: Identifier($0.key), value: $0.value) }.sorted { $0.path < $1.path }
      let event = DomainEvent(
        id: "e", source: "/test", type: "t", subject: "match/1", time: at(second), fields: sorted)
      known.take(event, paths, at: at(second))
    }
    var values = Dictionary(uniqueKeysWithValues: known.fields.map { ($0.path.text, $0.value) })
    #expect(values.removeValue(forKey: "subject") == .string("match/1"))
    #expect(values.removeValue(forKey: "source") == .string("/test"))
    return values
  }

  @Test("an event changes the fields that it carries, and of equal times the later one holds")
  func fields() {
    #expect(
      Self.known([(1, ["data.status": .string("a"), "data.other": .bool(true)]), (1, ["data.status": .string("b")])])
        == ["data.status": .string("b")])
    #expect(
      Self.known([(1, ["data.status": .string("a")]), (2, ["data.score": .number(1)])])
        == ["data.status": .string("a"), "data.score": .number(1), "data.score.home": .null])
  }

  @Test("an older event fills in what no newer one has said, and changes nothing else")
  func older() {
    #expect(
      Self.known([(9, ["data.status": .null]), (5, ["data.status": .string("a"), "data.legs.0.gate": .string("B7")])])
        == ["data.status": .null, "data.legs.0.gate": .string("B7"), "data.legs.1.gate": .null])
  }

  @Test(
    "a null or a scalar clears what is below it, an object takes the place of a scalar, an array of the whole array")
  func merged() {
    let home: (Int64, [String: FieldValue]) = (1, ["data.score.home": .number(2)])
    #expect(Self.known([home]) == ["data.score": .null, "data.score.home": .number(2)])
    #expect(Self.known([home, (2, ["data.score": .null])]) == ["data.score": .null, "data.score.home": .null])
    #expect(
      Self.known([home, (2, ["data.score": .string("2:0")])])
        == ["data.score": .string("2:0"), "data.score.home": .null])
    #expect(
      Self.known([(1, ["data.score": .string("2:0")]), home])
        == ["data.score": .null, "data.score.home": .number(2)])
    let legs: (Int64, [String: FieldValue]) = (
      1, ["data.legs.0.gate": .string("A1"), "data.legs.1.gate": .string("A2")]
    )
    #expect(
      Self.known([legs, (2, ["data.legs.0.gate": .string("C3")])])
        == ["data.legs.0.gate": .string("C3"), "data.legs.1.gate": .null])
    #expect(Self.known([legs, (2, ["data.legs.count": .number(1)])]).filter { $0.value == .null }.isEmpty)
  }

  @Test("a number that is not exact says nothing")
  func inexact() {
    #expect(
      Self.known([(1, ["data.status": .number(1)]), (2, ["data.status": .inexact(1e30)])])
        == ["data.status": .number(1)])
  }

  @Test("a text that has no room is kept as null, whatever was known before")
  func bounded() {
    var known = KnownContent()
    func take(_ text: String) {
      let field = EventField(path: "data.status", value: .string(text))
      known.take(
        DomainEvent(id: "e", source: "/test", type: "t", subject: "s", time: Self.at(1), fields: [field]), Self.paths,
        at: Self.at(1))
    }
    let value = { (known: KnownContent) in known.fields.first { $0.path == "data.status" }?.value }
    let most = String(repeating: "x", count: KnownContent.textBytesMax)
    take("short")
    take(most + "x")
    #expect(value(known) == .string(most + "x") && value(known.bounded) == .null)
    take(most)
    #expect(value(known.bounded) == .string(most))
  }

  @Test("all values are read back from a note", arguments: [0, PlannerHarness.noon])
  func note(base: Int64) throws {
    var content = KnownContent()
    content.fields = [
      FieldValue.null, .bool(true), .bool(false), .number(-1.5), FieldValue(magnitude: .max, isNegative: false),
      FieldValue(magnitude: 1 << 63, isNegative: true), .string(""), .string("ü"),
    ].enumerated().map { place, value in
      KnownContent.KnownField(path: Identifier("data.\(place)"), value: value, time: Self.at(Int64(place)))
    }
    var writer = BinaryWriter()
    content.write(since: base, to: &writer)
    var reader = BinaryReader(writer.bytes)
    #expect(try KnownContent(since: base, from: &reader) == content)
    #expect(reader.remaining == 0)
  }
}
