import CSimdjson

/// One value of a document that a ``JSONReader`` holds. It is an index into the document, cheap to copy, and valid only inside
/// the closure that ``JSONReader/read(_:_:)`` was given.
///
/// If an object has a key twice, look-ups by key find the first one. Members with the suffix `IfAny` return `nil` for a value of
/// another type; the throwing ones make an error with the path of the value.
@safe public struct JSONNode {
  // Both pointers belong to the reader's parser. Indices come from the document's own containers, so they are in bounds.
  let nodes: UnsafePointer<rouse_json_node>
  let strings: UnsafePointer<UInt8>
  let index: Int

  private var raw: rouse_json_node { unsafe nodes[index] }

  /// The type of the value.
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

  /// Whether the value is `null`.
  public var isNull: Bool { raw.kind == UInt32(rouse_json_null) }

  /// The index of the first node that comes after this value and everything in it.
  var next: Int {
    let raw = raw
    return raw.kind >= UInt32(rouse_json_array) ? Int(truncatingIfNeeded: raw.bits) : index + 1
  }

  func at(_ index: Int) -> JSONNode { unsafe JSONNode(nodes: nodes, strings: strings, index: index) }

  // MARK: Scalars

  /// Returns the text of a string.
  /// - Throws: ``JSONError/Kind/wrongType`` if this is no string.
  public func string() throws(JSONError) -> String {
    guard let text = stringIfAny else { throw wrongType("a string") }
    return text
  }

  /// The text; `nil` if this is no string.
  public var stringIfAny: String? {
    unsafe textBytes.map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Lends the UTF-8 bytes of a string; none if this is no string.
  /// - Parameter body: Receives the bytes, which are valid for the call.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withUTF8<Value, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let bytes = unsafe textBytes ?? UnsafeBufferPointer(start: nil, count: 0)
    return try body(unsafe bytes.span)
  }

  /// Appends the UTF-8 bytes of a string; nothing if this is no string.
  public func appendUTF8(to bytes: inout [UInt8]) {
    if let text = unsafe textBytes { unsafe bytes.append(contentsOf: text) }
  }

  /// The number of UTF-8 bytes of a string; 0 if this is no string.
  public var utf8Count: Int { raw.kind == UInt32(rouse_json_string) ? Int(raw.count) : 0 }

  /// Whether this is a string with the bytes of `text`.
  public func equals(_ text: StaticString) -> Bool {
    guard let bytes = unsafe textBytes else { return false }
    return text.withUTF8Buffer { unsafe same($0, bytes) }
  }

  /// Returns any number, as the nearest double.
  /// - Throws: ``JSONError/Kind/wrongType`` if this is no number.
  public func number() throws(JSONError) -> Double {
    guard let value = numberIfAny else { throw wrongType("a number") }
    return value
  }

  /// The number as the nearest double; `nil` if this is no number.
  public var numberIfAny: Double? {
    let raw = raw
    switch Int(raw.kind) {
    case Int(rouse_json_double): return Double(bitPattern: raw.bits)
    case Int(rouse_json_int64): return Double(Int64(bitPattern: raw.bits))
    case Int(rouse_json_uint64): return Double(raw.bits)
    default: return nil
    }
  }

  /// Returns a number without a fraction that fits in 64 bits; `3.0` and `3e2` are such numbers.
  /// - Throws: ``JSONError/Kind/wrongValue`` for other numbers, ``JSONError/Kind/wrongType`` if this is no number.
  public func integer() throws(JSONError) -> Int64 {
    if let value = integerIfAny { return value }
    throw kind == .number ? wrongValue("an integer") : wrongType("an integer")
  }

  /// The number; `nil` if this is no number, has a fraction or does not fit in 64 bits.
  public var integerIfAny: Int64? {
    let raw = raw
    switch Int(raw.kind) {
    case Int(rouse_json_int64): return Int64(bitPattern: raw.bits)
    case Int(rouse_json_double): return Int64(exactly: Double(bitPattern: raw.bits))
    default: return nil
    }
  }

  /// The number as the document writes it; `nil` if this is no number.
  public var literalIfAny: JSONNumber? {
    let raw = raw
    switch Int(raw.kind) {
    case Int(rouse_json_int64): return .integer(Int64(bitPattern: raw.bits))
    case Int(rouse_json_uint64): return .unsigned(raw.bits)
    case Int(rouse_json_double):
      let value = Double(bitPattern: raw.bits)
      return raw.count == 0 ? .decimal(value) : .largeInteger(value)
    default: return nil
    }
  }

  /// Returns a boolean.
  /// - Throws: ``JSONError/Kind/wrongType`` if this is no boolean.
  public func bool() throws(JSONError) -> Bool {
    guard let value = boolIfAny else { throw wrongType("a boolean") }
    return value
  }

  /// The boolean; `nil` if this is none.
  public var boolIfAny: Bool? {
    switch Int(raw.kind) {
    case Int(rouse_json_true): true
    case Int(rouse_json_false): false
    default: nil
    }
  }

  // MARK: Containers

  /// The number of elements or members; 0 for a scalar.
  public var count: Int { raw.kind >= UInt32(rouse_json_array) ? Int(raw.count) : 0 }

  /// Returns the elements of an array.
  /// - Throws: ``JSONError/Kind/wrongType`` if this is no array.
  public func array() throws(JSONError) -> Elements {
    guard kind == .array else { throw wrongType("an array") }
    return elements
  }

  /// Returns the members of an object in document order. A repeated key comes each time that it occurs.
  /// - Throws: ``JSONError/Kind/wrongType`` if this is no object.
  public func object() throws(JSONError) -> Members {
    guard kind == .object else { throw wrongType("an object") }
    return members
  }

  /// The elements of an array; none if this is no array.
  public var elements: Elements { Elements(node: at(index + 1), count: kind == .array ? count : 0) }

  /// The members of an object; none if this is no object.
  public var members: Members { Members(node: at(index + 1), count: kind == .object ? count : 0) }

  /// The first member with this key; `nil` if there is none, or if this is no object.
  public subscript(key: StaticString) -> JSONNode? {
    key.withUTF8Buffer { unsafe lookup($0) }
  }

  /// The first member with this key; `nil` if there is none, or if this is no object.
  public subscript(key: String) -> JSONNode? {
    var key = key
    return key.withUTF8 { unsafe lookup($0) }
  }

  /// Returns the member with a key, which must exist.
  /// - Parameters:
  ///   - key: The member's key.
  ///   - expected: The expected value with its article, for the error.
  /// - Throws: ``JSONError/Kind/missing``, or ``JSONError/Kind/wrongType`` if this is no object.
  public func member(_ key: StaticString, _ expected: @autoclosure () -> String) throws(JSONError) -> JSONNode {
    if let node = self[key] { return node }
    guard kind == .object else { throw wrongType("an object") }
    throw missing("\(key)", expected: expected())
  }

  /// Returns the member with a key; `nil` if it is absent or `null`.
  /// - Parameter key: The member's key.
  public func optional(_ key: StaticString) -> JSONNode? {
    guard let node = self[key], !node.isNull else { return nil }
    return node
  }

  /// The first key that an object has a second time; `nil` if there is none, or if this is no object.
  public var repeatedKey: String? {
    if count > Self.comparedKeysMax {
      var seen: Set<String> = []
      for (key, _) in members {
        let name = key.stringIfAny ?? ""
        if !seen.insert(name).inserted { return name }
      }
      return nil
    }
    var (earlier, earlierCount) = (InlineArray<16, Int>(repeating: 0), 0)
    for (key, _) in members {
      for place in 0..<earlierCount {
        let other = at(earlier[place])
        if other.raw.count == key.raw.count, let a = unsafe other.textBytes, let b = unsafe key.textBytes,
          unsafe same(a, b)
        {
          return key.stringIfAny
        }
      }
      earlier[earlierCount] = key.index
      earlierCount += 1
    }
    return nil
  }

  /// The number of members up to which keys are compared with each other. It affects only the speed.
  private static let comparedKeysMax = 16

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
  /// The elements of an array, in order. Valid as long as the node.
  @safe public struct Elements: Sequence, IteratorProtocol {
    var node: JSONNode
    /// The number of elements still to come.
    public private(set) var count: Int

    init(node: JSONNode, count: Int) {
      self.node = node
      self.count = count
    }

    /// The number of elements still to come.
    public var underestimatedCount: Int { count }

    /// Returns the next element; `nil` behind the last one.
    public mutating func next() -> JSONNode? {
      guard count > 0 else { return nil }
      count -= 1
      let element = node
      if count > 0 { node = node.at(node.next) }
      return element
    }
  }

  /// The members of an object, in document order. Valid as long as the node.
  @safe public struct Members: Sequence, IteratorProtocol {
    var node: JSONNode
    /// The number of members still to come.
    public private(set) var count: Int

    init(node: JSONNode, count: Int) {
      self.node = node
      self.count = count
    }

    /// The number of members still to come.
    public var underestimatedCount: Int { count }

    /// Returns the next member; `nil` behind the last one. The key is a string node.
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
