import Domain
import JSON
import Testing

/// Texts that Unicode calls canonically equivalent, and that Swift's `String` therefore calls equal.
@Suite("Identifiers are equal when their bytes are") struct IdentifierTests {
  private static let composed: Identifier = "caf\u{e9}"
  private static let decomposed: Identifier = "cafe\u{301}"

  @Test("canonically equivalent texts are different identifiers, in ==, <, sets and dictionaries")
  func equivalent() {
    let pairs: [(Identifier, Identifier)] = [
      (Self.composed, Self.decomposed), ("\u{212b}", "\u{c5}"), ("K", "\u{212a}"), ("\u{ac00}", "\u{1100}\u{1161}"),
      ("a\u{323}\u{307}", "a\u{307}\u{323}"), (";", "\u{37e}"),
    ]
    for (a, b) in pairs {
      // The premise: as texts they are equal.
      #expect(a.text == b.text)
      #expect(a != b && (a < b) != (b < a))
      #expect(Set([a, b]).count == 2)
      #expect([a: 1, b: 2][a] == 1 && [a: 1, b: 2][b] == 2)
    }
  }

  @Test("equality, order and prefixes follow the bytes of random texts", arguments: 1...20 as ClosedRange<UInt64>)
  func bytes(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let pieces = ["e", "\u{e9}", "e\u{301}", "\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}", "/", "\0", "\u{1f3c8}", "z"]
    func text() -> Identifier {
      Identifier((0..<random.below(4)).map { _ in pieces[random.below(pieces.count)] }.joined())
    }
    for _ in 0..<500 {
      let (a, b) = (text(), text())
      let (left, right) = (Array(a.utf8), Array(b.utf8))
      #expect((a == b) == (left == right), "seed \(seed): \(left) \(right)")
      #expect((a < b) == left.lexicographicallyPrecedes(right), "seed \(seed): \(left) \(right)")
      #expect(a.hasPrefix(b) == left.starts(with: right), "seed \(seed): \(left) \(right)")
      #expect(a != b || a.hashValue == b.hashValue, "seed \(seed): \(left) \(right)")
      #expect(Identifier(decoding: left) == a, "seed \(seed): \(left)")
    }
  }

  @Test("a text of any length differs from one with another byte at any place", arguments: 0...40)
  func anyByte(count: Int) {
    let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    #expect(Identifier(decoding: bytes) == Identifier(decoding: bytes))
    #expect(Identifier(decoding: bytes) != Identifier(decoding: bytes + [0x61]))
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 1
      #expect(Identifier(decoding: other) != Identifier(decoding: bytes))
    }
  }

  @Test("a device may have two widgets whose ids are equivalent, and reads them back")
  func widgets() throws {
    var registration = Registration(
      device: Self.composed, app: "a", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26),
      timeZone: "UTC",
      widgets: [Self.composed, Self.decomposed].map { Registration.Widget(id: $0, kind: $0, interests: [$0]) },
      updatedAt: Timestamp(microseconds: 0))
    let read = try RegistrationDecoder().decode(registration.json(), key: Array(Self.composed.utf8))
    #expect(read == registration && read.plannedInstanceIDs.count == 2)
    registration.device = Self.decomposed
    #expect(read != registration)
    let error = #expect(throws: DomainError.self) {
      try RegistrationDecoder().decode(registration.json(), key: Array(Self.composed.utf8))
    }
    #expect(error?.code == .keyMismatch)
  }

  @Test("fields of an event are found by the bytes of their path, and their texts are compared by bytes")
  func fields() throws {
    let json =
      #"{"specversion":"1.0","id":"1","source":"s","type":"t","subject":"s","time":"2026-01-01T00:00:00Z","#
      + "\"data\":{\"\(Self.decomposed)\":\"\(Self.decomposed)\",\"\(Self.composed)\":\"\(Self.composed)\"}}"
    let event = try CloudEventDecoder().decode(structured(Array(json.utf8)))
    #expect(event.fields.count == 2)
    #expect(event.value(at: "data.\(Self.composed)") == .string(Self.composed.text))
    #expect(event.value(at: "data.\(Self.composed)") != .string(Self.decomposed.text))
    #expect(event.value(at: "data.\(Self.decomposed)") == .string(Self.decomposed.text))
  }

  @Test("a signal whose key and subject are only equivalent is refused")
  func signal() {
    let json =
      #"{"specversion":"1.0","id":"1","source":"s","type":"rouse.signal.app.foregrounded","#
      + #""time":"2026-01-01T00:00:00Z","subject":"\#(Self.composed)"}"#
    let error = #expect(throws: DomainError.self) {
      try SignalDecoder().decode(structured(Array(json.utf8), key: Array(Self.decomposed.utf8)))
    }
    #expect(error?.code == .keyMismatch)
  }
}
