import JSON
import Testing

@Suite("Finding values in a document") struct JSONNodeTests {
  private func read<Value>(_ text: String, _ body: (JSONNode) throws(JSONError) -> Value) throws(JSONError) -> Value {
    try JSONReader().read(Array(text.utf8), body)
  }

  private func failure(_ text: String, _ body: (JSONNode) throws(JSONError) -> Void) -> String? {
    do throws(JSONError) {
      try read(text, body)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private let registration = """
    {"device":"d1","widgets":[{"id":"a"},{"id":"b"},{"id":7,"interests":["x",{"y":null}],"odd key":[1.5]}],"n":-3,"big":3e2}
    """

  @Test("an error names the path, what was expected and what was found")
  func errors() {
    func widget(_ node: JSONNode) throws(JSONError) -> JSONNode {
      var last = node
      for element in try node.member("widgets", "an array").array() { last = element }
      return last
    }
    #expect(
      failure(registration) { (node) throws(JSONError) in
        _ = try widget(node).member("id", "a string").string()
      } == "$.widgets[2].id: expected a string, found a number")
    #expect(
      failure(registration) { (node) throws(JSONError) in
        for interest in try widget(node).member("interests", "an array").array() { _ = try interest.string() }
      } == "$.widgets[2].interests[1]: expected a string, found an object")
    #expect(
      failure(registration) { (node) throws(JSONError) in
        _ = try widget(node).member("kind", "a string")
      } == "$.widgets[2].kind: missing; expected a string")
    #expect(
      failure(registration) { (node) throws(JSONError) in
        for number in try widget(node).member("odd key", "an array").array() { _ = try number.integer() }
      } == "$.widgets[2][\"odd key\"][0]: expected an integer, found 1.5")
    #expect(
      failure("[]") { (node) throws(JSONError) in _ = try node.member("a", "b") }
        == "$: expected an object, found an array")
    #expect(
      failure("{\"environment\":\"prod\"}") { (node) throws(JSONError) in
        throw try node.member("environment", "").wrongValue("production or sandbox")
      } == "$.environment: expected production or sandbox, found \"prod\"")
    #expect(
      failure("{\"a\":null}") { (node) throws(JSONError) in _ = try node.member("a", "").bool() }
        == "$.a: expected a boolean, found null")
  }

  @Test("members are found by key, the first one where a key is repeated")
  func members() throws {
    try read(registration) { (node) throws(JSONError) in
      #expect(node["device"]?.stringIfAny == "d1")
      #expect(node["device" as String]?.equals("d1") == true)
      #expect(node["devic"] == nil)
      #expect(try node.member("n", "").integer() == -3)
      #expect(try node.member("big", "").integer() == 300)
      #expect(node.count == 4)
      #expect(try node.object().map { $0.key.stringIfAny ?? "" } == ["device", "widgets", "n", "big"])
    }
    try read("{\"a\":1,\"b\":null,\"a\":2}") { (node) throws(JSONError) in
      #expect(node["a"]?.numberIfAny == 1)
      #expect(node["b"]?.isNull == true)
      #expect(node.optional("b") == nil)
      #expect(node.optional("c") == nil)
    }
  }

  @Test("every value's path leads back to it")
  func paths() throws {
    try read(registration) { (node) throws(JSONError) in
      #expect(node.path == "$")
      #expect(node["widgets"]?.path == "$.widgets")
      #expect(try node.member("widgets", "").array().map(\.path) == ["$.widgets[0]", "$.widgets[1]", "$.widgets[2]"])
      #expect(node["big"]?.path == "$.big")
    }
  }
}
