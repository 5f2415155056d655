import Domain
import Testing

@Suite("a record of decisions")
struct DecisionBlockTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(
    "lines are what stands between line feeds, and nothing is left out",
    arguments: [
      ("a", ["a"]), ("a\nbc", ["a", "bc"]), ("a\n", ["a", ""]), ("\n", ["", ""]), ("", [""]),
      ("a\n\nb", ["a", "", "b"]),
      ("a\r\nb", ["a\r", "b"]),
    ])
  func lines(text: String, lines: [String]) {
    let block = DecisionBlock(Self.bytes(text), count: Self.bytes("\(lines.count)"))
    #expect(block.documents == lines.map { Self.bytes($0) })
    #expect(block.lines.map { Array(block.bytes[$0]) } == block.documents)
    #expect(block.contradiction(lines: lines.count) == nil)
    #expect(Array(block.documents.joined(separator: Self.bytes("\n"))) == Self.bytes(text))
  }

  @Test("a null value has one empty line, as an empty one")
  func null() { #expect(DecisionBlock(nil, count: nil).documents == [[]]) }

  @Test("a header that does not state the number of lines is told in words")
  func header() {
    func told(_ count: String?, _ lines: Int) -> String? {
      DecisionBlock(nil, count: count.map { Self.bytes($0) }).contradiction(lines: lines)
    }
    #expect(told("12", 12) == nil)
    #expect(told(nil, 1) == "the record has no header rouse-decisions")
    #expect(told("2", 1) == "the header rouse-decisions says 2, and the record has 1 line")
    for other in ["", "02", "+2", "2 ", "\u{1b}", "9999999999999999999999999"] {
      let text = told(other, 2)
      #expect(text?.hasSuffix(", and the record has 2 lines") == true && text?.contains("\u{1b}") == false)
      #expect((text?.utf8.count ?? 0) < 100)
    }
  }
}
