import JSON
import Testing

@testable import Domain

/// A coder that collects the names of the members that a record lists.
private struct MemberNames: JSONFieldCoder {
  var all: [String] = []
  var required: [String] = []
  /// The members that are objects, or lists of objects.
  var objects: [String: MemberNames] = [:]

  static func of<Value: JSONFields>(_ type: Value.Type) -> MemberNames {
    var (names, value) = (MemberNames(), Value.blank)
    value.members(&names)
    return names
  }

  private mutating func note(_ key: StaticString, isOptional: Bool = false) {
    all.append("\(key)")
    if !isOptional { required.append("\(key)") }
  }

  mutating func text(
    _ key: StaticString, _ value: inout String, bytesMax: Int, expected: StaticString
  ) { note(key) }
  mutating func text(_ key: StaticString, _ value: inout String?) { note(key, isOptional: true) }
  mutating func texts(_ key: StaticString, _ value: inout [Identifier], max: Int) { note(key) }
  mutating func token(_ key: StaticString, _ value: inout String) { note(key) }
  mutating func token(_ key: StaticString, _ value: inout String?) { note(key, isOptional: true) }
  mutating func version(_ key: StaticString, _ value: inout OSVersion) { note(key) }
  mutating func target(_ value: inout PushTarget) {
    note("token", isOptional: true)
    note("channel", isOptional: true)
  }
  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) where Value.RawValue == String { note(key) }
  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value?
  ) where Value.RawValue == String { note(key, isOptional: true) }
  mutating func flag(_ key: StaticString, _ value: inout Bool) { note(key) }
  mutating func flag(_ key: StaticString, _ value: inout Bool, default usual: Bool) { note(key, isOptional: true) }
  mutating func number(_ key: StaticString, _ value: inout Double) { note(key) }
  mutating func count(_ key: StaticString, _ value: inout Int) { note(key) }
  mutating func count(_ key: StaticString, _ value: inout Int?) { note(key, isOptional: true) }
  mutating func instant(_ key: StaticString, _ value: inout Timestamp) { note(key) }
  mutating func instant(_ key: StaticString, _ value: inout Timestamp?) { note(key, isOptional: true) }
  mutating func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) {
    note(key)
    objects["\(key)"] = .of(Value.self)
  }
  mutating func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) {
    note(key)
    objects["\(key)"] = .of(Value.self)
  }
  mutating func optionalObject<Value: JSONFields & Equatable>(_ key: StaticString, _ value: inout Value) {
    note(key, isOptional: true)
    objects["\(key)"] = .of(Value.self)
  }
  mutating func optionalObjects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value], max: Int) {
    note(key, isOptional: true)
    objects["\(key)"] = .of(Value.self)
  }
  mutating func request(_ key: StaticString, _ value: inout Command.APNs) { note(key) }
}

@Suite("Records list their members once") struct FieldListTests {
  @Test("the schema of decisions has the members that are written and read")
  func decisions() throws { try check(.of(Decision.self), Repository.schema("decision"), "decision") }

  @Test("the schema of commands has the members that are written and read")
  func commands() throws { try check(.of(Command.self), Repository.schema("command"), "command") }

  @Test("the schema of registrations has the members that are written and read")
  func registrations() throws { try check(.of(Registration.self), Repository.schema("registration"), "registration") }

  private func check(_ names: MemberNames, _ schema: JSONValue, _ path: String) throws {
    #expect(schema["properties"]?.names.sorted() == names.all.sorted(), "properties of \(path)")
    #expect((schema["required"]?.texts ?? []).sorted() == names.required.sorted(), "required of \(path)")
    for (name, members) in names.objects {
      let property = try #require(schema.at("properties", name), "\(path).\(name)")
      // A member that may be null has alternatives; the first one is its own form.
      let member = property["anyOf"]?[0] ?? property
      let definition = member["$ref"] == nil ? member["items"] ?? member : try #require(try policy(member))
      try check(members, definition, "\(path).\(name)")
    }
  }

  /// The definition `policy`, which both schemas share.
  private func policy(_ member: JSONValue) throws -> JSONValue? {
    #expect(member["$ref"] == .string("#/$defs/policy"))
    return try Repository.schema("decision").at("$defs", "policy")
  }

  @Test("a decision with every member has the members of the list, in its order")
  func order() throws {
    let decision = Decision(
      decision: "d", event: "e", events: ["e"], device: "d", instance: "i", kind: "K", surface: .widget,
      verdict: .defer, reason: .belowPrice, final: false, at: Timestamp(microseconds: 0), relevance: 0.5, wrong: 1,
      looks: 1, value: 1,
      price: 2, tokensLeft: .init(instance: 1, device: 2, app: 3), until: Timestamp(microseconds: 0), command: "c",
      objective: .met, policy: PolicyReference(version: "1", hash: "ab"), traceparent: "t")
    let json = try JSONValue(parsing: String(decoding: decision.json(), as: UTF8.self))
    let names = MemberNames.of(Decision.self)
    #expect(json.names == names.all)
    #expect(json["tokensLeft"]?.names == names.objects["tokensLeft"]?.all)
  }
}
