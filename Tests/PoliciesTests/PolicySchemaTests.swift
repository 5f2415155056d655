import Domain
import Foundation
import JSON
import Testing

@testable import Policies

/// `schemas/policy.schema.json` and `schemas/profile.schema.json` say of every key what `PolicyKeys` says.
///
/// With `ROUSE_TEST_WRITE_SCHEMAS=1` in the environment the test rewrites the two schemas instead: descriptions, bounds,
/// choices, defaults and required keys. A key that is new there gets a schema by its form; forms that the test does not know
/// are finished by hand.
@Suite struct PolicySchemaTests {
  private static let writes = ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_SCHEMAS"] != nil

  /// A mapping of a document, and the path of its schema.
  private struct Section {
    var path: [String]
    var keys: [PolicyKeyDescription]

    init<Owner>(_ path: [String], _ mapping: PolicyMapping<Owner>) {
      self.path = path
      keys = mapping.keys.map(\.description)
    }
  }

  private static let policy = [
    Section([], PolicyKeys.policy), Section(["properties", "limits"], PolicyKeys.limits),
    Section(["properties", "limits", "properties", "instanceReloads"], PolicyKeys.reloads),
    Section(["properties", "quietHours"], PolicyKeys.quietHours),
    Section(["properties", "apps", "additionalProperties"], PolicyKeys.app),
    Section(["$defs", "rate"], PolicyKeys.rate), Section(["$defs", "kind"], PolicyKeys.kind),
    Section(["$defs", "kind", "properties", "displays", "items"], PolicyKeys.display),
    Section(["$defs", "kind", "properties", "objective"], PolicyKeys.objective),
    Section(["$defs", "activity"], PolicyKeys.activity),
    Section(["$defs", "activity", "properties", "alert"], PolicyKeys.alert),
    Section(["$defs", "budget"], PolicyKeys.budget),
    Section(["$defs", "budget", "properties", "reserve"], PolicyKeys.reserve),
    Section(["$defs", "rule"], PolicyKeys.rule),
    Section(["$defs", "rule", "properties", "relevance"], PolicyKeys.relevance),
  ]

  private static let profile = [
    Section([], PolicyKeys.profile), Section(["properties", "instanceReloads"], PolicyKeys.profileReloads),
    Section(["properties", "timelineReloads"], PolicyKeys.timelineReloads),
    Section(["$defs", "rate"], PolicyKeys.profileRate), Section(["properties", "payload"], PolicyKeys.payload),
    Section(["properties", "payloadBands"], PolicyKeys.payloadBands),
  ]

  @Test("the schema of policies has the keys that are read, with their meanings, bounds and defaults")
  func policies() throws { try check("policy", Self.policy) }

  @Test("the schema of profiles has the keys that are read, with their meanings and bounds")
  func profiles() throws { try check("profile", Self.profile) }

  private func check(_ name: String, _ sections: [Section]) throws {
    let path = "schemas/\(name).schema.json"
    let schema = try JSONValue(parsing: try Repository.text(path))
    var expected = schema
    for section in sections { expected = described(expected, section, in: schema, at: section.path[...]) }
    if Self.writes {
      try Data((SchemaText.of(expected) + "\n").utf8).write(to: Repository.url(path))
    } else {
      for section in sections {
        let (found, wanted) = (schema.at(section.path), expected.at(section.path))
        #expect(
          found == wanted && found?["properties"]?.names == wanted?["properties"]?.names,
          "\(path) /\(section.path.joined(separator: "/")); rewrite it with ROUSE_TEST_WRITE_SCHEMAS=1")
      }
    }
  }

  /// A schema with one section as the keys describe it.
  private func described(
    _ value: JSONValue, _ section: Section, in schema: JSONValue, at path: ArraySlice<String>
  ) -> JSONValue {
    guard let first = path.first else { return described(value, section.keys, in: schema) }
    return value.setting(first, to: described(value[first] ?? .object([]), section, in: schema, at: path.dropFirst()))
  }

  private func described(_ mapping: JSONValue, _ keys: [PolicyKeyDescription], in schema: JSONValue) -> JSONValue {
    let properties = keys.map { key in
      (key: key.name, value: described(mapping["properties"]?[key.name] ?? .object([]), key, in: schema))
    }
    let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
    let changed = mapping.setting("properties", to: .object(properties))
    return required.isEmpty ? changed : changed.setting("required", to: .array(required))
  }

  private func described(_ value: JSONValue, _ key: PolicyKeyDescription, in schema: JSONValue) -> JSONValue {
    var changed = value.setting("description", to: .string(key.meaning), first: true)
    // Texts that a definition already has are not repeated.
    let definition = changed["$ref"].flatMap { schema.resolved($0) }
    for (name, wanted) in members(of: key.form) where definition?[name] != wanted {
      changed = changed.setting(name, to: wanted)
    }
    if let standard = key.standard { changed = changed.setting("default", to: JSONValue(scalar: standard)) }
    return changed
  }

  private func members(of form: PolicyForm) -> [(String, JSONValue)] {
    switch form {
    case .duration: [("$ref", .string("#/$defs/duration"))]
    case .number(let range):
      [("type", .string("number")), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
    case .integer(let range):
      [
        ("type", .string("integer")), ("minimum", .number(Double(range.lowerBound))),
        ("maximum", .number(Double(range.upperBound))),
      ]
    case .flag: [("type", .string("boolean"))]
    case .choice(let names): [("enum", .array(names.map(JSONValue.string)))]
    case .clock: [("$ref", .string("#/$defs/clock"))]
    case .hours: [("$ref", .string("#/$defs/hours"))]
    case .list(let count):
      [("type", .string("array"))]
        + (count.lowerBound > 0 ? [("minItems", .number(Double(count.lowerBound)))] : [])
        + [("maxItems", .number(Double(count.upperBound)))]
    case .mapping, .other: []
    }
  }

  @Test("the examples use every key")
  func examples() throws {
    var used: Set<String> = []
    for name in ["everything", "live-activities", "with-profile"] {
      let bytes = try Repository.bytes("schemas/examples/policy/valid/\(name).yaml")
      for path in try PolicyDocument(bytes: bytes, file: name).positions.paths {
        used.formUnion(path.split { ".[]".contains($0) }.map(String.init))
      }
    }
    for key in Self.policy.flatMap(\.keys) { #expect(used.contains(key.name), "\(key.name)") }
  }
}

/// JSON text that is easy to read: a value that fits on a line is written on one.
private enum SchemaText {
  private static let columnsMax = 128

  static func of(_ value: JSONValue, indent: Int = 0, before: Int = 0) -> String {
    let line = inline(value)
    if indent + before + line.count <= columnsMax, indent > 0 { return line }
    let margin = String(repeating: " ", count: indent + 2)
    let end = "\n" + String(repeating: " ", count: indent)
    switch value {
    case .array(let elements):
      return "[" + elements.map { "\n" + margin + of($0, indent: indent + 2) }.joined(separator: ",") + end + "]"
    case .object(let members):
      return "{"
        + members.map { name, value in
          let key = inline(.string(name)) + ": "
          return "\n" + margin + key + of(value, indent: indent + 2, before: key.count + 1)
        }.joined(separator: ",") + end + "}"
    case .null, .bool, .number, .string: return line
    }
  }

  private static func inline(_ value: JSONValue) -> String {
    switch value {
    case .array(let elements): return "[" + elements.map(inline).joined(separator: ", ") + "]"
    case .object(let members) where members.isEmpty: return "{}"
    case .object(let members):
      return "{ " + members.map { inline(.string($0)) + ": " + inline($1) }.joined(separator: ", ") + " }"
    case .number(let number) where number > 0 && number < 0.001:
      // Without an exponent, which few people read at a glance.
      return "0."
        + String("\(1_000_000 + Int((number * 1e6).rounded()))".dropFirst().reversed().drop { $0 == "0" }.reversed())
    case .null, .bool, .number, .string:
      var json = JSONWriter()
      json.value(value)
      return json.text
    }
  }
}

extension JSONValue {
  /// A scalar or a list as written in a policy.
  fileprivate init(scalar text: String) {
    if let value = try? JSONValue(parsing: text) { self = value } else { self = .string(text) }
  }

  fileprivate var names: [String] {
    guard case .object(let members) = self else { return [] }
    return members.map(\.key)
  }

  fileprivate func at(_ path: [String]) -> JSONValue? { path.reduce(self as JSONValue?) { $0?[$1] } }

  /// The definition that a reference such as `#/$defs/duration` names.
  fileprivate func resolved(_ reference: JSONValue) -> JSONValue? {
    guard case .string(let text) = reference else { return nil }
    return at(text.split(separator: "/").dropFirst().map(String.init))
  }

  /// The same object with one member changed or added.
  fileprivate func setting(_ name: String, to value: JSONValue, first: Bool = false) -> JSONValue {
    guard case .object(var members) = self else { return self }
    if let place = members.firstIndex(where: { $0.key == name }) {
      members[place].value = value
    } else if first {
      members.insert((name, value), at: 0)
    } else {
      members.append((name, value))
    }
    return .object(members)
  }
}
