import Domain
import HTTPTesting
import JSON
import Keys
import Serving
import Testing

@testable import Gateway

@Suite("Requests of the gateway") struct RequestTests {
  @Test(
    "paths of messages become JSON pointers",
    arguments: [
      ("$", ""), ("$.a", "/a"), ("$.widgets[2].id", "/widgets/2/id"), (#"$["odd name"].x"#, "/odd name/x"),
      (#"$["a]b\"c"][0]"#, #"/a]b"c/0"#), ("$.a~b", "/a~0b"), ("time", "/time"), ("key", nil), ("ce_id", nil),
      ("headers", nil),
    ] as [(String, String?)])
  func pointers(path: String, pointer: String?) { #expect(JSONPointer.text(ofPath: path) == pointer) }

  @Test("a mistake in binary mode names the header, one in a batch the index")
  func places() {
    func mistake(_ path: String, index: Int? = nil, isBinary: Bool = false) -> Problem.Mistake {
      Problem.Mistake(DomainError(.missingField, path: path, message: "missing"), index: index, isBinary: isBinary)
    }
    #expect(mistake("ce_type", isBinary: true).header == "ce-type")
    #expect(mistake("ce_type", isBinary: true).pointer == nil)
    #expect(mistake("time", isBinary: true).header == "ce-time")
    #expect(mistake("time", index: 7).pointer == "/7/time")
    #expect(mistake("$.data.x", index: 7).detail == "$.data.x: missing")
    #expect(mistake("key").pointer == nil && mistake("content-type").header == "content-type")
  }

  @Test("the elements of an array are found in its bytes")
  func split() throws {
    let reader = JSONReader()
    for text in [
      "[]", "[ ]", "[1]", "[ 1 , \"a,]\" ,{\"b\":[1,{\"c\":\"}\\\"],\"}]} , [[],[\"\\\\\"]]\n]", "[\"[\",null,true]",
    ] {
      let bytes = Array(text.utf8)
      let whole = try JSONValue(parsing: text)
      let places = JSONArraySplitter.places(in: bytes, count: whole.elements.count)
      let parts = try places.map { place in
        try reader.read(Array(bytes[place])) { (node: JSONNode) throws(JSONError) in JSONValue(node) }
      }
      #expect(parts == whole.elements, "\(text)")
    }
  }

  @Test(
    "header values lose their encoding, and nothing else",
    arguments: [
      ("plain", "plain"), ("a%20b", "a b"), ("%C3%A9", "é"), ("100%", "100%"), ("%zz", "%zz"), ("%2", "%2"),
      ("\"a b\"", "a b"), (#""a\"b""#, #"a"b"#), ("\"", "\""), ("%2525", "%25"),
    ])
  func headers(value: String, text: String) {
    #expect(String(decoding: EventBinding.decoded(value), as: UTF8.self) == text)
  }
}
