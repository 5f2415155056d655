import JSON
import Testing

@Suite("Numbers as documents write them")
struct JSONNumberTests {
  private static let literals: [(text: String, number: JSONNumber)] = [
    ("9007199254740993", .integer(9_007_199_254_740_993)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
    ("18446744073709551616", .largeInteger(18_446_744_073_709_551_616)),
    ("-9223372036854775809", .largeInteger(-9_223_372_036_854_775_808)), ("1e21", .decimal(1e21)),
    ("1000000000000000000000", .largeInteger(1e21)), ("1000000000000000000000.0", .decimal(1e21)),
    ("1000000000000000000000e1", .decimal(1e22)), ("-0", .integer(0)), ("1.5", .decimal(1.5)), ("3.0", .decimal(3)),
  ]

  @Test("an integer is told from a number with a point or an exponent, and from one of more than 64 bits")
  func kinds() throws {
    // Each literal stands among all others, in objects, arrays and beside strings that look like numbers.
    let text =
      #"{"18446744073709551616":["e1","-","1e2","\"12345678901234567890123"],"n":["#
      + Self.literals.map { #""12345678901234567890123",{"v":\#($0.text)}"# }.joined(separator: " , ") + "]}"
    let found = try JSONReader().read(Array(text.utf8)) { (root: JSONNode) throws(JSONError) in
      root["n"]?.elements.compactMap { $0["v"]?.literalIfAny } ?? []
    }
    #expect(found == Self.literals.map(\.number))
  }

  @Test("a number that is read from a document alone is told apart, too", arguments: literals.indices)
  func alone(place: Int) throws {
    let (text, number) = Self.literals[place]
    let found = try JSONReader().read(Array(text.utf8)) { (root: JSONNode) throws(JSONError) in root.literalIfAny }
    #expect(found == number)
  }

  @Test("integers of 64 bits are copied with all their digits")
  func copies() throws {
    let text = "[9007199254740993,-9007199254740993,18446744073709551615,-9223372036854775808,9007199254740992]"
    let copy = try JSONReader().read(Array(text.utf8)) { (root: JSONNode) throws(JSONError) in
      var writer = JSONWriter()
      writer.value(root)
      return writer.text
    }
    #expect(copy == text)
  }
}
