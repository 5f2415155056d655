import Domain
import Testing

@Suite("Printable text")
struct PrintableTextTests {
  @Test("literals are layout, and values are escaped")
  func interpolation() {
    let id = "a\nb\u{1b}[31m"
    #expect("device \(id)\n".description == "device a\nb\u{1b}[31m\n", "a String does not escape")
    let text: PrintableText = "device \(id)\n"
    #expect(text.description == "device a\\u{a}b\\u{1b}[31m\n")
    let nested: PrintableText = "\(text)\(1) \(["x\r"].joined())"
    #expect(nested.description == "device a\\u{a}b\\u{1b}[31m\n1 x\\u{d}")
    #expect(["\(id)" as PrintableText, "\t"].joined(separator: "\n").description == "a\\u{a}b\\u{1b}[31m\n\t")
  }

  @Test("every control, and every character that reorders or hides text, is escaped")
  func characters() {
    let blocks: [ClosedRange<UInt32>] = [0...0x2fff, 0xfe00...0xffff, 0x1_bc00...0x1_d1ff, 0xe_0000...0xe_01ff]
    for value in blocks.joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isHidden: Bool
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: isHidden = true
      case .format: isHidden = scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl
      default: isHidden = value == 0x2065 || 0xe_0000...0xe_007f ~= value
      }
      let expected = isHidden ? "\\u{\(String(value, radix: 16))}" : String(Character(scalar))
      #expect(PrintableText(escaping: String(Character(scalar))).description == expected)
    }
  }

  @Test("a line feed after a carriage return, which Swift reads as one character, is escaped too")
  func carriageReturn() {
    #expect(PrintableText(escaping: "a\r\nb").description == "a\\u{d}\\u{a}b")
    #expect(PrintableText(lines: "a\r\nb\n").description == "a\\u{d}\nb\n")
  }

  @Test("other text stays as it is, and escaping twice changes nothing more")
  func unchanged() {
    for text in ["", #"C:\n "quoted" \u{a}"#, "é e\u{301} 漢字 😀 ∞ → …", "flight/UA1"] {
      #expect(PrintableText(escaping: text).description == text)
    }
    let once = PrintableText(escaping: "\u{1b}\u{202e}").description
    #expect(PrintableText(escaping: once).description == once)
  }
}
