/// A document as a tree of values. Use it for small documents, where convenience matters more than speed.
public indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// The members in document order. A repeated key occurs once, with its first value.
  case object([(key: String, value: JSONValue)])

  /// Reads a whole document of at most 16 MiB and 64 levels of nesting.
  /// - Parameter text: The document.
  /// - Throws: A ``JSONError`` with the byte of the first mistake.
  public init(parsing text: String) throws(JSONError) {
    self = try JSONReader().read(Array(text.utf8)) { (node: JSONNode) throws(JSONError) in JSONValue(node) }
  }

  /// Copies a node with everything in it.
  public init(_ node: JSONNode) {
    switch node.kind {
    case .null: self = .null
    case .bool: self = .bool(node.boolIfAny ?? false)
    case .number: self = .number(node.numberIfAny ?? 0)
    case .string: self = .string(node.stringIfAny ?? "")
    case .array: self = .array(node.elements.map { JSONValue($0) })
    case .object:
      var members: [(key: String, value: JSONValue)] = []
      var seen: Set<String> = []
      for (key, value) in node.members {
        let name = key.stringIfAny ?? ""
        if seen.insert(name).inserted { members.append((name, JSONValue(value))) }
      }
      self = .object(members)
    }
  }

  /// The member of an object; `nil` if there is none, or if this is no object.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The element of an array, from 0; `nil` if there is none, or if this is no array.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// Compares two trees. The order of an object's members does not matter.
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let members)):
      a.count == members.count && a.allSatisfy { b[$0.key] == $0.value }
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }
}

extension JSONWriter {
  /// Writes a tree of values.
  public mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let value): number(value)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for (name, member) in members {
        key(name)
        self.value(member)
      }
      endObject()
    }
  }
}
