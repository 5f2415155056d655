import Domain
import JSON
import Testing

@Suite("Reading JSON") struct JSONReaderTests {
  private func parse(_ text: String) throws(JSONError) -> JSONValue { try JSONValue(parsing: text) }

  private func parse(_ bytes: [UInt8], with reader: JSONReader = JSONReader()) throws(JSONError) -> JSONValue {
    try reader.read(bytes) { (node: JSONNode) throws(JSONError) in JSONValue(node) }
  }

  private func failure(_ bytes: [UInt8], with reader: JSONReader = JSONReader()) -> JSONError? {
    do throws(JSONError) {
      _ = try parse(bytes, with: reader)
      return nil
    } catch {
      return error
    }
  }

  private func failure(_ text: String) -> JSONError? { failure(Array(text.utf8)) }

  @Test(
    "the values of a valid document are read",
    arguments: [
      ("null", JSONValue.null), ("true", .bool(true)), (" false ", .bool(false)), ("0", .number(0)),
      ("-1.5e3", .number(-1500)), ("\"\"", .string("")), ("[]", .array([])), ("{}", .object([])),
      (
        "[1,[2,[3]],{\"a\":[4]}]",
        .array([.number(1), .array([.number(2), .array([.number(3)])]), .object([("a", .array([.number(4)]))])])
      ),
      ("{\"a\":1,\"a\":2}", .object([("a", .number(1))])),
      ("\"\\u00e9\\ud83d\\ude00\\n\\/\"", .string("é😀\n/")),
      ("\"\\u0000\"", .string("\0")),
      ("18446744073709551615", .number(18446744073709551616)),
      (
        "[123456789012345678901234567890, -99999999999999999999, \"12345678901234567890123 \\\" 1234567890123456789012\"]",
        .array([
          .number(123456789012345677877719597056), .number(-1e20),
          .string("12345678901234567890123 \" 1234567890123456789012"),
        ])
      ),
      (
        "[1.12345678901234567890123, 1e-12345678901234567890]",
        .array([.number(1.12345678901234567890123), .number(0)])
      ),
    ] as [(String, JSONValue)])
  func valid(text: String, value: JSONValue) throws { #expect(try parse(text) == value) }

  @Test(
    "an invalid document is refused where it goes wrong",
    arguments: [
      ("", "byte 0: ends too early; expected a value"),
      ("  ", "byte 2: ends too early; expected a value"),
      ("{", "byte 1: ends too early; expected a key in double quotes or \"}\""),
      ("[1,]", "byte 3: expected a value, found \"]\""),
      ("[1 2]", "byte 3: expected \",\" or \"]\", found \"2\""),
      ("{\"a\" 1}", "byte 5: expected \":\", found \"1\""),
      ("{\"a\":1,}", "byte 7: expected a key in double quotes, found \"}\""),
      ("{a:1}", "byte 1: expected a key in double quotes or \"}\", found \"a\""),
      ("{\"a\":1]", "byte 6: expected \",\" or \"}\", found \"]\""),
      ("1 2", "byte 2: expected the end of the document, found \"2\""),
      ("{} x", "byte 3: expected the end of the document, found \"x\""),
      ("tru", "byte 3: ends too early; expected true"),
      ("nul!", "byte 3: expected null, found \"!\""),
      ("01", "byte 0: expected a number without leading zeros"),
      ("-", "byte 1: ends too early; expected a digit"),
      ("1.", "byte 2: ends too early; expected a digit"),
      ("1e999", "byte 0: expected a number of at most ±1.8e308"),
      ("\"abc", "byte 4: ends too early; expected a closing double quote"),
      ("\"a\nb\"", "byte 2: expected an escape instead of a control character, found byte 0x0A"),
      ("\"\\x\"", "byte 2: expected an escape that JSON knows, found \"x\""),
      ("\"\\u12\"", "byte 5: expected four hexadecimal digits, found \"\"\""),
      ("\"\\ud800\"", "byte 1: expected a surrogate pair, found half of one"),
      ("\"\\udc00\"", "byte 1: expected a surrogate pair, found half of one"),
      ("NaN", "byte 0: expected a value, found \"N\""),
      ("\u{FEFF}{}", "byte 0: expected a value, found byte 0xEF"),
    ])
  func invalid(text: String, message: String) { #expect(failure(text)?.description == message) }

  @Test(
    "bytes that are not UTF-8 are refused with their place",
    arguments: [
      ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
      ([0x22, 0x61, 0xC0, 0xAF, 0x22], 2),
    ] as [([UInt8], Int)])
  func invalidUTF8(bytes: [UInt8], offset: Int) {
    #expect(failure(bytes)?.kind == .invalidUTF8)
    #expect(failure(bytes)?.offset == offset)
  }

  @Test("nesting is bounded exactly", arguments: [1, 2, 32, 1000])
  func nesting(levels: Int) throws {
    let reader = JSONReader(nestingMax: levels)
    func document(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(throws: Never.self) { try reader.read(document(levels)) { (_: JSONNode) throws(JSONError) in } }
    #expect(failure(document(levels + 1), with: reader)?.kind == .tooDeep)
    #expect(failure(Array(repeating: UInt8(ascii: "["), count: 500_000), with: reader)?.kind == .tooDeep)
  }

  @Test("a document of more bytes than the bound is refused, the next one is read")
  func tooLarge() throws {
    let reader = JSONReader(bytesMax: 100)
    #expect(
      failure(Array(repeating: UInt8(ascii: " "), count: 101), with: reader)?.description
        == "$: expected at most 100 bytes, found 101")
    #expect(try parse(Array("[1]".utf8), with: reader) == .array([.number(1)]))
  }

  @Test("a document of 2 MB is read by a reader that had small ones before")
  func large() throws {
    let reader = JSONReader()
    _ = try parse(Array("{}".utf8), with: reader)
    let text =
      "[" + Array(repeating: "{\"key\":\"0123456789\",\"n\":[1,2.5,null]}", count: 52_000).joined(separator: ",") + "]"
    #expect(text.utf8.count > 1_900_000)
    let counts = try reader.read(Array(text.utf8)) { (node: JSONNode) throws(JSONError) in
      var last = 0.0
      for element in try node.array() {
        for number in try element.member("n", "an array").array() where !number.isNull { last = try number.number() }
      }
      return (node.count, last)
    }
    #expect(counts == (52_000, 2.5))
    #expect(try parse(Array("7".utf8), with: reader) == .number(7))
  }

  @Test("the densest documents fit the node buffer", arguments: ["[[]", "[0", "[\"\"", "[{\"\":0}"])
  func dense(first: String) throws {
    let item = String(first.dropFirst())
    for count in [1, 100, 1365, 1366, 2047, 2048, 4095, 4096, 10_000] {
      let text = "[" + Array(repeating: item, count: count).joined(separator: ",") + "]"
      let found = try JSONReader().read(Array(text.utf8)) { (node: JSONNode) throws(JSONError) in node.count }
      #expect(found == count)
    }
  }

  @Test("a document cut at any byte is refused as one that ends too early")
  func truncated() {
    let document = Array("{\"a\":[1,-2.5e3,true,false,null,\"é\\u00e9\\n\"],\"b\":{\"c\":{}}}".utf8)
    let reader = JSONReader()
    #expect(failure(document, with: reader) == nil)
    for length in 0..<document.count {
      let kind = failure(Array(document[..<length]), with: reader)?.kind
      #expect(kind == .truncated || kind == .invalidUTF8, "cut at \(length)")
    }
  }

  @Test("random bytes never crash, and are refused with a place")
  func randomBytes() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    let reader = JSONReader()
    let alphabet = Array("{}[]\",:0123456789.eE+-\\u tfnalrse\u{E9}".utf8) + [0, 0xFF, 0x1F]
    let document = Array("{\"a\":[1,-2.5e3,true,false,null,\"é\\u00e9\\n\"],\"b\":{\"c\":{}}}".utf8)
    for round in 0..<20_000 {
      var bytes: [UInt8] = []
      switch round % 3 {
      case 0:
        bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      case 1:
        bytes = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
          alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
        }
      default:
        bytes = document
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] =
            alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
        }
      }
      guard let error = failure(bytes, with: reader) else { continue }
      #expect(error.offset != nil && error.found != "something else", "seed \(seed), \(bytes): \(error)")
    }
  }
}
