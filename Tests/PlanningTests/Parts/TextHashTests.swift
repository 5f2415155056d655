import Domain
import Testing

@testable import Planning

@Suite("The hash of texts")
struct TextHashTests {
  private static func hash(_ texts: [String]) -> UInt64 {
    var hash = TextHash()
    for text in texts { hash.add(utf8: text.utf8.span) }
    return hash.value
  }

  @Test("it is the same on every machine and in every version, because rouse.state holds it")
  func fixed() {
    #expect(Self.hash([]) == 0x90f8749fc00eac80)
    #expect(Self.hash(["UA1"]) == 0x23e86840af998666)
    #expect(Self.hash(["flight/UA1", "flight.delay.changed"]) == 0xc39aac0025482dac)
  }

  @Test("no two of many texts that are much alike have the same hash, nor do other divisions of one text")
  func distinct() {
    var random = SeededRandom(seed: 7)
    var texts: Set<[String]> = [[], [""], ["", ""], ["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"]]
    for length in 0..<40 { texts.insert([String(repeating: "\0", count: length)]) }
    for number in 0..<50_000 { texts.insert(["flight/UA\(number)", "flight.delay.changed"]) }
    for _ in 0..<10_000 {
      let text = String(decoding: (0..<random.below(30)).map { _ in UInt8(97 + random.below(2)) }, as: UTF8.self)
      texts.insert([text, String(text.reversed())])
    }
    #expect(Set(texts.map(Self.hash)).count == texts.count)
    // The lower half leads to a place in a table.
    let halves = Set(texts.map { UInt32(truncatingIfNeeded: Self.hash($0)) })
    #expect(texts.count - halves.count < 8, "\(texts.count - halves.count) equal halves")
  }
}
