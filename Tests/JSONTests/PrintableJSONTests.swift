import Domain
import JSON
import Testing

@Suite("Printable JSON")
struct PrintableJSONTests {
  /// Whether a character commands a terminal, reorders text or is invisible, by the properties that Unicode gives it.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    let isTag = 0xe_0000...0xe_007f ~= scalar.value
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    case .format: return scalar.properties.isBidiControl || scalar.properties.isDefaultIgnorableCodePoint
    default: return isTag || scalar.value == 0x2065
    }
  }

  /// The blocks with such characters, and their neighbours.
  private static let blocks: [ClosedRange<UInt32>] = [
    0...0x2fff, 0xfe00...0xffff, 0x1_bc00...0x1_bcff, 0x1_d000...0x1_d1ff, 0xd_ff00...0xe_01ff,
  ]

  @Test("every control, and every character that reorders or hides text, becomes an escape that means the same")
  func characters() throws {
    var found = 0
    for scalar in Self.blocks.joined().compactMap(Unicode.Scalar.init) {
      #expect(scalar.isUnprintable == Self.isHidden(scalar), "U+\(String(scalar.value, radix: 16))")
      guard scalar.value >= 0x20, scalar != "\"", scalar != "\\" else { continue }
      let json = Array("{\"é\":\"a\(scalar)b\"}".utf8)
      let escaped = PrintableJSON.escape(json)
      guard scalar.isUnprintable else {
        #expect(escaped == json)
        continue
      }
      found += 1
      #expect(escaped.allSatisfy { $0 < 0x7f || "é".utf8.contains($0) })
      let value = try JSONValue(parsing: String(decoding: escaped, as: UTF8.self))
      #expect(value == .object([("é", .string("a\(scalar)b"))]))
    }
    #expect(found > 180)
  }

  @Test("bytes that are no UTF-8 stay as they are")
  func damaged() {
    let damaged: [[UInt8]] = [
      [0xc2], [0xe2, 0x80], [0xe2, 0x28, 0x8b], [0xf3, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80],
      [0xff, 0xc2, 0x41], [0xed, 0xa0, 0x80], [0xe0, 0x82, 0x80],
    ]
    for bytes in damaged { #expect(PrintableJSON.escape(bytes) == bytes) }
  }
}
