import CSimdjson

/// The type of a JSON value.
public enum JSONKind: Sendable { case null, bool, number, string, array, object }

extension JSONKind: CustomStringConvertible {
  /// With its article, as error messages name it.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// One value of a document that a `JSONReader` holds: an index, cheap to copy and to pass. Valid only inside the
/// closure that `JSONReader.read` was given.
///
/// Where an object has a key twice, the first one counts.
@safe public struct JSONNode {
  // Both belong to the reader's parser; indices come from the document's own containers, so they stay inside.
  let nodes: UnsafePointer<rouse_json_node>
  let strings: UnsafePointer<UInt8>
  let index: Int

  private var raw: rouse_json_node { unsafe nodes[index] }

  public var kind: JSONKind {
    switch Int(raw.kind) {
    case Int(rouse_json_false), Int(rouse_json_true): .bool
    case Int(rouse_json_int64), Int(rouse_json_uint64), Int(rouse_json_double): .number
    case Int(rouse_json_string): .string
    case Int(rouse_json_array): .array
    case Int(rouse_json_object): .object
    default: .null
    }
  }

  public var isNull: Bool { raw.kind == UInt32(rouse_json_null) }

  /// Index of the node after this value and everything in it.
  var next: Int {
    let raw = raw
    return raw.kind >= UInt32(rouse_json_array) ? Int(truncatingIfNeeded: raw.bits) : index + 1
  }

  func at(_ index: Int) -> JSONNode { unsafe JSONNode(nodes: nodes, strings: strings, index: index) }

  // MARK: Scalars

  /// The text of a string.
  public func string() throws(JSONError) -> String {
    guard let text = stringIfAny else { throw wrongType("a string") }
    return text
  }

  /// The text, or nil where this is no string.
  public var stringIfAny: String? {
    unsafe textBytes.map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The UTF-8 bytes of a string; empty where this is no string.
  public func withUTF8<Value, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let bytes = unsafe textBytes ?? UnsafeBufferPointer(start: nil, count: 0)
    return try body(unsafe bytes.span)
  }

  /// Appends the UTF-8 bytes of a string; nothing where this is no string.
  public func appendUTF8(to bytes: inout [UInt8]) {
    if let text = unsafe textBytes { unsafe bytes.append(contentsOf: text) }
  }

  /// Bytes of a string as UTF-8; 0 where this is no string.
  public var utf8Count: Int { raw.kind == UInt32(rouse_json_string) ? Int(raw.count) : 0 }

  /// Whether this is the string `text`.
  public func equals(_ text: StaticString) -> Bool {
    guard let bytes = unsafe textBytes else { return false }
    return text.withUTF8Buffer { unsafe same($0, bytes) }
  }

  /// Any number, as the nearest double.
  public func number() throws(JSONError) -> Double {
    guard let value = numberIfAny else { throw wrongType("a number") }
    return value
  }

  /// The number, or nil where this is none.
  public var numberIfAny: Double? {
    let raw = raw
    switch Int(raw.kind) {
    case Int(rouse_json_double): return Double(bitPattern: raw.bits)
    case Int(rouse_json_int64): return Double(Int64(bitPattern: raw.bits))
    case Int(rouse_json_uint64): return Double(raw.bits)
    default: return nil
    }
  }

  /// A number without a fraction that fits in 64 bits; `3.0` and `3e2` count.
  public func integer() throws(JSONError) -> Int64 {
    if let value = integerIfAny { return value }
    throw kind == .number ? wrongValue("an integer") : wrongType("an integer")
  }

  /// The number, or nil where this is none that fits in 64 bits without a fraction.
  public var integerIfAny: Int64? {
    let raw = raw
    switch Int(raw.kind) {
    case Int(rouse_json_int64): return Int64(bitPattern: raw.bits)
    case Int(rouse_json_double): return Int64(exactly: Double(bitPattern: raw.bits))
    default: return nil
    }
  }

  /// Whether the document gives the number as a 64-bit integer, without point and exponent.
  var isWrittenAsInteger: Bool { raw.kind == UInt32(rouse_json_int64) }

  public func bool() throws(JSONError) -> Bool {
    guard let value = boolIfAny else { throw wrongType("a boolean") }
    return value
  }

  /// The boolean, or nil where this is none.
  public var boolIfAny: Bool? {
    switch Int(raw.kind) {
    case Int(rouse_json_true): true
    case Int(rouse_json_false): false
    default: nil
    }
  }

  // MARK: Containers

  /// Elements or members; 0 for a scalar.
  public var count: Int { raw.kind >= UInt32(rouse_json_array) ? Int(raw.count) : 0 }

  /// The elements of an array.
  public func array() throws(JSONError) -> Elements {
    guard kind == .array else { throw wrongType("an array") }
    return elements
  }

  /// The members of an object in document order, a repeated key each time that it occurs.
  public func object() throws(JSONError) -> Members {
    guard kind == .object else { throw wrongType("an object") }
    return members
  }

  /// The elements of an array; none where this is no array.
  public var elements: Elements { Elements(node: at(index + 1), count: kind == .array ? count : 0) }

  /// The members of an object; none where this is no object.
  public var members: Members { Members(node: at(index + 1), count: kind == .object ? count : 0) }

  /// The first member with this key; nil where there is none, or where this is no object.
  public subscript(key: StaticString) -> JSONNode? {
    key.withUTF8Buffer { unsafe lookup($0) }
  }

  /// The first member with this key; nil where there is none, or where this is no object.
  public subscript(key: String) -> JSONNode? {
    var key = key
    return key.withUTF8 { unsafe lookup($0) }
  }

  /// The member with this key, which must be there. `expected` is what the error says should be there.
  public func member(_ key: StaticString, _ expected: @autoclosure () -> String) throws(JSONError) -> JSONNode {
    if let node = self[key] { return node }
    guard kind == .object else { throw wrongType("an object") }
    throw missing("\(key)", expected: expected())
  }

  /// The member with this key; nil where it is absent or null.
  public func optional(_ key: StaticString) -> JSONNode? {
    guard let node = self[key], !node.isNull else { return nil }
    return node
  }

  private func lookup(_ key: UnsafeBufferPointer<UInt8>) -> JSONNode? {
    let raw = raw
    guard raw.kind == UInt32(rouse_json_object) else { return nil }
    var at = index + 1
    for _ in 0..<raw.count {
      let name = unsafe nodes[at]
      let text = unsafe strings + Int(truncatingIfNeeded: name.bits)
      if Int(name.count) == key.count, unsafe same(key, UnsafeBufferPointer(start: text, count: key.count)) {
        return self.at(at + 1)
      }
      at = self.at(at + 1).next
    }
    return nil
  }

  private var textBytes: UnsafeBufferPointer<UInt8>? {
    let raw = raw
    guard raw.kind == UInt32(rouse_json_string) else { return nil }
    return unsafe UnsafeBufferPointer(start: strings + Int(truncatingIfNeeded: raw.bits), count: Int(raw.count))
  }

  private func same(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    for i in 0..<a.count where unsafe a[i] != b[i] { return false }
    return true
  }
}

extension JSONNode {
  /// The elements of an array, in order.
  @safe public struct Elements: Sequence, IteratorProtocol {
    var node: JSONNode
    /// Those still to come.
    public private(set) var count: Int

    init(node: JSONNode, count: Int) {
      self.node = node
      self.count = count
    }

    public var underestimatedCount: Int { count }

    public mutating func next() -> JSONNode? {
      guard count > 0 else { return nil }
      count -= 1
      let element = node
      if count > 0 { node = node.at(node.next) }
      return element
    }
  }

  /// The members of an object, in order.
  @safe public struct Members: Sequence, IteratorProtocol {
    var node: JSONNode
    /// Those still to come.
    public private(set) var count: Int

    init(node: JSONNode, count: Int) {
      self.node = node
      self.count = count
    }

    public var underestimatedCount: Int { count }

    /// The key is a string node.
    public mutating func next() -> (key: JSONNode, value: JSONNode)? {
      guard count > 0 else { return nil }
      count -= 1
      let key = node
      let value = node.at(node.index + 1)
      if count > 0 { node = node.at(value.next) }
      return (key, value)
    }
  }
}
