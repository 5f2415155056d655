/// A document as a tree of values, for small documents where convenience matters more than speed.
public indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// In document order. A repeated key stands once, with its first value.
  case object([(key: String, value: JSONValue)])

  /// Reads a whole document. Bounds: 16 MiB, 64 levels.
  public init(parsing text: String) throws(JSONError) {
    self = try JSONReader().read(Array(text.utf8)) { (node: JSONNode) throws(JSONError) in JSONValue(node) }
  }

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

  /// The member of an object; nil where there is none.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The element of an array; nil where there is none.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// Objects are equal whatever the order of their members.
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let members)):
      a.count == members.count && a.allSatisfy { b[$0.key] == $0.value }
    default: false
    }
  }
}

extension JSONWriter {
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
