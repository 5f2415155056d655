import Domain
import JSON
import Testing

@Suite("Writing JSON") struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return writer.text
  }

  @Test("commas stand between values and nowhere else")
  func structure() {
    let text = written { w in
      w.beginObject()
      w.key("a")
      w.beginArray()
      w.integer(1)
      w.beginArray()
      w.endArray()
      w.beginObject()
      w.endObject()
      w.null()
      w.bool(true)
      w.endArray()
      w.key("b" as String)
      w.string("x")
      w.key("c")
      w.raw("{\"r\":1}" as String)
      w.key("d")
      w.bool(false)
      w.endObject()
    }
    #expect(text == "{\"a\":[1,[],{},null,true],\"b\":\"x\",\"c\":{\"r\":1},\"d\":false}")
  }

  @Test(
    "numbers are short and read back as the same",
    arguments: [
      (0, "0"), (-0.0, "0"), (1, "1"), (-17, "-17"), (0.1, "0.1"), (1e21, "1e+21"), (1.5, "1.5"),
      (9007199254740991, "9007199254740991"),
      (.infinity, "null"), (.nan, "null"), (.leastNonzeroMagnitude, "5e-324"),
      (-1.7976931348623157e308, "-1.7976931348623157e+308"),
    ] as [(Double, String)])
  func numbers(value: Double, text: String) { #expect(written { $0.number(value) } == text) }

  @Test(
    "integers have all their digits",
    arguments: [0, 9, 10, -1, -10, 99, 100, 999_999_999_999, Int64.max, Int64.min])
  func integers(value: Int64) {
    #expect(written { $0.integer(value) } == "\(value)")
    #expect(
      written {
        $0.beginArray()
        $0.integer(value)
        $0.integer(value)
        $0.endArray()
      } == "[\(value),\(value)]")
  }

  @Test("a piece may use all the reserved bytes, and equals the output of the single calls")
  func pieces() {
    let letters = Array("abcd".utf8)
    let awkward = Array("a\"b\\c\u{1}\u{1F}\n\t\u{8}\u{C}\rd€".utf8)
    var piece = JSONWriter()
    piece.piece(ofAtMost: OutputSpan<UInt8>.quotedMax(awkward.count) + OutputSpan<UInt8>.decimalMax + 10) { room in
      room.append("[")
      room.append(quoted: awkward.span)
      room.append(",")
      room.append(decimal: 18_446_744_073_709_551_615)
      room.append(",\"")
      room.append(letters.span)
      room.append("\"]")
    }
    var single = JSONWriter()
    single.beginArray()
    single.string(String(decoding: awkward, as: UTF8.self))
    single.raw("18446744073709551615")
    single.string("abcd" as String)
    single.endArray()
    #expect(piece.text == single.text)
    // A value after it gets a comma.
    piece.integer(1)
    #expect(piece.text == single.text + ",1")
  }

  @Test("a document is appended to other bytes")
  func documents() {
    var bytes = Array("before".utf8)
    var writer = JSONWriter()
    writer.exchange(&bytes)
    #expect(bytes.isEmpty)
    for key in ["k1", "k2"] {
      writer.beginDocument(after: key.utf8.span)
      writer.beginArray()
      writer.integer(1)
      writer.endArray()
    }
    writer.exchange(&bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "beforek1[1]k2[1]")
  }

  @Test(
    "rounded numbers have at most six decimals",
    arguments: [
      (0, "0"), (0.1234567, "0.123457"), (0.5, "0.5"), (-0.25, "-0.25"), (12, "12"), (1e-9, "0"),
      (0.000001, "0.000001"),
      (0.9999999, "1"), (-3.1000004, "-3.1"), (2e9, "2000000000"), (.infinity, "null"), (.nan, "null"),
      (1234.000_050, "1234.00005"), (999_999_999.999_999_9, "1000000000"), (-999_999_999.123_456, "-999999999.123456"),
    ] as [(Double, String)])
  func rounded(value: Double, text: String) { #expect(written { $0.rounded(value) } == text) }

  @Test("each byte is escaped or not, wherever it stands", arguments: 0..<20)
  func escapes(place: Int) throws {
    for scalar in (0..<0x180).compactMap(Unicode.Scalar.init) {
      let text = String(repeating: "a", count: place) + String(scalar) + "bcdefghijklm"
      let json = written { $0.string(text) }
      let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      #expect(json.contains("\\") == mustEscape)
      #expect(try JSONValue(parsing: json) == .string(text))
    }
  }

  @Test(
    "integers are written whole",
    arguments: [(Int64.min, "-9223372036854775808"), (.max, "9223372036854775807"), (0, "0"), (-9, "-9"), (10, "10")])
  func integers(value: Int64, text: String) { #expect(written { $0.integer(value) } == text) }

  @Test("strings are escaped where JSON wants it")
  func escapes() {
    #expect(
      written { $0.string("a\"b\\c\n\r\t\u{8}\u{C}\u{0}\u{1F}é😀/" as String) } == #""a\"b\\c\n\r\t\b\f\u0000\u001fé😀/""#
    )
  }

  @Test("every value reads back as it was written")
  func roundTrip() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    for _ in 0..<2000 {
      let value = randomValue(depth: 4, &random)
      let text = written { $0.value(value) }
      #expect(try JSONValue(parsing: text) == value, "seed \(seed): \(text)")
      let again = try JSONReader().read(Array(text.utf8)) { (node: JSONNode) throws(JSONError) in
        written { $0.value(node) }
      }
      #expect(again == text, "seed \(seed)")
    }
  }

  private func randomValue(depth: Int, _ random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .number(Double(Int.random(in: -1_000_000...1_000_000, using: &random)))
    case 3:
      let number = Double(bitPattern: random.next())
      return .number(number.isFinite ? number : 0.5)
    case 4: return .string(randomText(&random))
    case 5:
      return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in randomValue(depth: depth - 1, &random) })
    default:
      return .object(
        (0..<Int.random(in: 0..<5, using: &random)).map { i in
          ("\(i)" + randomText(&random), randomValue(depth: depth - 1, &random))
        })
    }
  }

  private func randomText(_ random: inout SeededRandom) -> String {
    let scalars = (0..<Int.random(in: 0..<20, using: &random)).compactMap { _ in
      Unicode.Scalar(UInt32.random(in: 0..<(Bool.random(using: &random) ? 128 : 0x11000), using: &random))
    }
    return String(String.UnicodeScalarView(scalars))
  }
}

@Suite("Indented JSON") struct JSONIndentingTests {
  @Test("each member and each element stands on a line of its own, and texts stay as they are")
  func lines() {
    var writer = JSONWriter()
    writer.object { json in
      json.member("a", 1)
      json.list("b", ["x,{", "\"]:\\"])
      json.object("c") { _ in }
      json.list("d", [String]())
      json.objects("e", [1.5, .infinity]) { value, json in json.member("f", rounded: value) }
    }
    #expect(
      writer.indentedText == #"""
        {
          "a": 1,
          "b": [
            "x,{",
            "\"]:\\"
          ],
          "c": {},
          "d": [],
          "e": [
            {
              "f": 1.5
            },
            {
              "f": null
            }
          ]
        }
        """#)
  }

  @Test("an indented document has the same values", arguments: 0..<20 as Range<UInt64>)
  func values(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var writer = JSONWriter()
    writer.object { json in
      for key in ["one", "two"] as [StaticString] {
        json.list(key, (0..<random.below(4)).map { _ in String(repeating: "\\\"{[,:", count: random.below(3)) })
        json.member("number", random.below(1000))
      }
    }
    #expect(try JSONValue(parsing: writer.indentedText) == JSONValue(parsing: writer.text))
  }
}
