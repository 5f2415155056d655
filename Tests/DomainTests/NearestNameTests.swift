import Testing

@testable import Domain

@Suite struct NearestNameTests {
  private static let names = ["perDay", "minInterval", "window", "reserve"]

  @Test(
    "a typing mistake finds the name that was meant",
    arguments: [
      ("perDai", "perDay"), ("perday", "perDay"), ("preDay", "perDay"), ("per_day", "perDay"),
      ("minIntervall", "minInterval"),
      ("windwo", "window"),
    ])
  func near(_ name: String, _ meant: String) {
    #expect(NearestName.of(name, among: Self.names) == meant)
  }

  @Test(
    "no suggestion is made for a word that is far from every name",
    arguments: ["", "colour", "x", String(repeating: "perDay", count: 50)])
  func far(_ name: String) {
    #expect(NearestName.of(name, among: Self.names) == nil)
  }

  @Test(
    "the distance counts insertions, deletions, substitutions and swaps",
    arguments: [
      ("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 1), ("ca", "abc", 3),
    ])
  func distance(_ a: String, _ b: String, _ edits: Int) {
    #expect(NearestName.edits(from: a, to: b) == edits)
  }
}
