import Foundation
package import JSON
import Synchronization
import Yams

/// Validates values against the part of JSON Schema that `schemas/openapi.yaml` uses. An unknown keyword is an error, so that nothing of
/// the document is passed over.
package struct SchemaCheck {
  /// The document that references point into.
  package let document: JSONValue

  /// Reads `schemas/openapi.yaml`.
  package static func openAPI() throws -> SchemaCheck {
    let text = try String(contentsOf: schemas.appending(path: "openapi.yaml"), encoding: .utf8)
    guard let root = try Yams.compose(yaml: text) else { throw CocoaError(.fileReadCorruptFile) }
    return SchemaCheck(document: JSONValue(yaml: root))
  }

  /// The folder of the schemas.
  private static var schemas: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "schemas")
  }

  /// Follows references.
  package func resolved(_ value: JSONValue) -> JSONValue {
    guard case .string(let reference)? = value["$ref"], reference.hasPrefix("#/") else { return value }
    let target = reference.dropFirst(2).split(separator: "/").reduce(document as JSONValue?) { $0?[String($1)] }
    return target.map { resolved($0) } ?? .null
  }

  /// Returns what is wrong with a value; empty if it is valid.
  package func errors(of value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
    if let reference = schema["$ref"]?.text, !reference.hasPrefix("#/") {
      guard
        let file = try? JSONValue(parsing: String(contentsOf: Self.schemas.appending(path: reference), encoding: .utf8))
      else { return ["\(path): cannot read schemas/\(reference)"] }
      return SchemaCheck(document: file).errors(of: value, file, at: path)
    }
    guard case .object(let keywords) = resolved(schema) else { return ["\(path): no schema"] }
    return keywords.flatMap { keyword, rule in errors(of: value, keyword, rule, keywords: resolved(schema), at: path) }
  }

  private func errors(
    of value: JSONValue, _ keyword: String, _ rule: JSONValue, keywords: JSONValue, at path: String
  ) -> [String] {
    func check(_ isValid: Bool) -> [String] { isValid ? [] : ["\(path): \(value) violates \(keyword) \(rule)"] }
    switch keyword {
    case "description", "title", "examples", "format", "default", "$schema", "$id", "$defs": return []
    case "type": return check(rule.text.map { Self.isOf($0, value) } ?? false)
    case "enum": return check(rule.elements.contains(value))
    case "const": return check(value == rule)
    case "oneOf": return check(rule.elements.count { errors(of: value, $0, at: path).isEmpty } == 1)
    case "anyOf": return check(rule.elements.contains { errors(of: value, $0, at: path).isEmpty })
    case "minLength": return check((value.text?.unicodeScalars.count).map { Double($0) >= rule.count } ?? true)
    case "minimum": return check(value.isNumber ? value.count >= rule.count : true)
    case "maximum": return check(value.isNumber ? value.count <= rule.count : true)
    case "maxLength": return check((value.text?.unicodeScalars.count).map { Double($0) <= rule.count } ?? true)
    case "minItems": return check(Double(value.elements.count) >= rule.count)
    case "maxItems": return check(Double(value.elements.count) <= rule.count)
    case "pattern":
      return check(value.text.map { $0.range(of: rule.text ?? "", options: .regularExpression) != nil } ?? true)
    case "required":
      return rule.elements.compactMap { name in
        value[name.text ?? ""] == nil ? "\(path): \(name) is missing" : nil
      }
    case "properties":
      return rule.members.flatMap { name, schema in
        value[name].map { errors(of: $0, schema, at: "\(path).\(name)") } ?? []
      }
    case "additionalProperties":
      if rule == .bool(true) { return [] }
      if case .object = rule {
        return value.members.filter { keywords["properties"]?[$0.key] == nil }.flatMap {
          errors(of: $0.value, rule, at: "\(path).\($0.key)")
        }
      }
      return value.members.filter { keywords["properties"]?[$0.key] == nil }.map {
        "\(path).\($0.key): is not declared"
      }
    case "items":
      return value.elements.enumerated().flatMap { errors(of: $1, rule, at: "\(path)[\($0)]") }
    default: return ["\(path): the test does not know the keyword \(keyword)"]
    }
  }

  private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("number", .number), ("boolean", .bool): true
    case ("integer", .number(let number)): number.rounded() == number
    default: false
    }
  }
}

extension JSONValue {
  /// Copies a YAML node.
  init(yaml node: Node) {
    switch node {
    case .mapping(let mapping): self = .object(mapping.map { ($0.key.string ?? "", JSONValue(yaml: $0.value)) })
    case .sequence(let sequence): self = .array(sequence.map { JSONValue(yaml: $0) })
    case .scalar(let scalar):
      if scalar.style == .plain, let bool = node.bool {
        self = .bool(bool)
      } else if scalar.style == .plain, let number = node.float {
        self = .number(number)
      } else {
        self = .string(scalar.string)
      }
    case .alias: self = .null
    }
  }

  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  package var members: [(key: String, value: JSONValue)] { if case .object(let members) = self { members } else { [] } }
  package var isNumber: Bool { if case .number = self { true } else { false } }
  /// The number; 0 if this is none.
  package var count: Double { if case .number(let number) = self { number } else { 0 } }
}

/// The operations of `schemas/openapi.yaml` with a tag, and the answers of them that a test has seen.
package final class ContractNotes: Sendable {
  package let check: SchemaCheck
  private let tag: String
  private let seen = Mutex<Set<String>>([])

  package init(tag: String) throws {
    check = try SchemaCheck.openAPI()
    self.tag = tag
  }

  /// The operations and statuses that the test has seen, such as `getSummary 200`.
  package var all: Set<String> { seen.withLock { $0 } }

  /// The operations of the document that have the tag.
  package var operations: [(path: String, method: String, operation: JSONValue)] {
    (check.document["paths"]?.members ?? []).flatMap { path, item in
      item.members.filter { $0.value["tags"]?.elements.contains(.string(tag)) == true }.map { (path, $0.key, $0.value) }
    }
  }

  /// Every operation and status of the document.
  package var declared: Set<String> {
    var all: Set<String> = []
    for (_, _, operation) in operations {
      guard let name = operation["operationId"]?.text else { continue }
      for (status, _) in operation["responses"]?.members ?? [] { all.insert("\(name) \(status)") }
    }
    return all
  }

  /// Returns the content types of the answer of an operation.
  package func forms(_ operation: String) -> [String] {
    let found = operations.first { $0.operation["operationId"]?.text == operation }
    return found?.operation["responses"]?["200"]?["content"]?.members.map(\.key) ?? []
  }

  /// Notes an answer.
  ///
  /// - Returns: The faults of the answer; empty if it is as the document says.
  package func take(_ operation: String, _ answer: TestClient.Answer, _ expected: Int) throws -> [String] {
    guard answer.status == expected else { return ["\(operation): \(answer.status) \(answer.text)"] }
    let found = operations.first { $0.operation["operationId"]?.text == operation }
    guard let declared = found?.operation["responses"]?["\(expected)"] else {
      return ["\(operation) \(expected): is not in the document"]
    }
    var wrong: [String] = []
    let response = check.resolved(declared)
    if let contents = response["content"]?.members {
      let type = answer.headers["content-type"]?.split(separator: ";").first.map(String.init) ?? "none"
      if let content = contents.first(where: { $0.key == type })?.value {
        if type.hasSuffix("json"), type != "application/x-ndjson" {
          let body = try JSONValue(parsing: answer.text)
          let schema = content["schema"] ?? .null
          // A schema in a file of its own is left to the test.
          if schema["$ref"]?.text?.hasPrefix("#") != false { wrong += check.errors(of: body, schema) }
          if expected >= 400, body["status"] != .number(Double(expected)) { wrong.append("the status of the body") }
        }
      } else {
        wrong.append("the content type is \(type)")
      }
    }
    for (name, reference) in response["headers"]?.members ?? [] {
      let header = check.resolved(reference)
      if let value = answer.headers[name.lowercased()] {
        wrong += check.errors(of: .string(value), header["schema"] ?? .null)
      } else if header["required"] == .bool(true) {
        wrong.append("the header \(name) is missing")
      }
    }
    seen.withLock { _ = $0.insert("\(operation) \(expected)") }
    return wrong.map { "\(operation) \(expected): \($0)" }
  }
}
