import Domain

/// One direction of the codec of command bodies. `CommandBody` lists the fields once.
///
/// Every method takes the value of a field, which a writer only looks at and a reader replaces.
protocol CommandBodyCoder {
  /// Whether the coder is a reader, which replaces the fields.
  static var reads: Bool { get }

  /// Encodes or decodes a signed number.
  mutating func number(_ value: inout Int64) throws
  /// Encodes or decodes a text that the body holds itself, not as a number of a table.
  mutating func string(_ value: inout String) throws
  /// Encodes or decodes a number of elements, each of which takes at least one byte.
  mutating func count(_ value: inout Int) throws
  /// Encodes or decodes an enum value of the domain, such as a surface, as its number.
  mutating func code<Value: NumberedCode>(_ value: inout Value) throws
  /// Encodes or decodes a name as its number in the table `text`.
  mutating func text(_ value: inout Identifier) throws
  /// Encodes or decodes a name that may be absent: its number, or 0 for nil.
  mutating func text(_ value: inout Identifier?) throws
  /// Encodes or decodes the id of an event as its number in the table `event`.
  mutating func event(_ value: inout Identifier) throws
  /// Encodes or decodes a policy as its number in the table `policy`.
  mutating func policy(_ value: inout PolicyReference) throws
  /// Encodes or decodes an instance and its kind as one number of the table `instance`.
  mutating func instance(_ instance: inout Identifier, kind: inout Identifier, surface: Surface) throws
}

extension CommandBodyCoder {
  /// Encodes or decodes a number that fits in an `Int`.
  mutating func number(_ value: inout Int) throws {
    var wide = Int64(value)
    try number(&wide)
    value = Int(wide)
  }

  /// Encodes or decodes a list: the number of its elements, then each of them.
  /// - Parameters:
  ///   - blank: an empty element that a reader fills in.
  ///   - fields: encodes or decodes the fields of one element.
  mutating func list<Element>(
    _ elements: inout [Element], blank: Element, _ fields: (inout Element, inout Self) throws -> Void
  ) throws {
    var count = elements.count
    try self.count(&count)
    if Self.reads { elements = Array(repeating: blank, count: count) }
    for index in 0..<count {
      var element = elements[index]
      try fields(&element, &self)
      if Self.reads { elements[index] = element }
    }
  }
}

/// Appends the fields to a body.
struct CommandBodyWriter: CommandBodyCoder {
  static var reads: Bool { false }
  var out = BinaryWriter()
  let names: NameWriter

  mutating func number(_ value: inout Int64) { out.zigzag(value) }
  mutating func string(_ value: inout String) { out.string(value) }
  mutating func count(_ value: inout Int) { out.count(value) }
  mutating func code<Value: NumberedCode>(_ value: inout Value) { out.zigzag(value.code) }
  mutating func text(_ value: inout Identifier) throws { out.zigzag(try names.text(value)) }
  mutating func text(_ value: inout Identifier?) throws { out.zigzag(try value.map { try names.text($0) } ?? 0) }
  mutating func event(_ value: inout Identifier) throws { out.zigzag(try names.event(value)) }
  mutating func policy(_ value: inout PolicyReference) throws { out.zigzag(try names.policy(value)) }
  mutating func instance(_ instance: inout Identifier, kind: inout Identifier, surface: Surface) throws {
    out.zigzag(try names.instance(instance, kind: try names.kind(kind), surface: surface))
  }
}

/// Reads the fields of a body. Throws `BinaryError` for damaged bytes and `StoredValueError` for numbers without a row.
struct CommandBodyReader: CommandBodyCoder {
  static var reads: Bool { true }
  var from: BinaryReader
  let names: NameReader

  mutating func number(_ value: inout Int64) throws { value = try from.zigzag() }
  mutating func string(_ value: inout String) throws { value = try from.string() }
  mutating func count(_ value: inout Int) throws { value = try from.count() }
  mutating func code<Value: NumberedCode>(_ value: inout Value) throws { value = try Value(code: from.zigzag()) }
  mutating func text(_ value: inout Identifier) throws { value = try names.text(from.zigzag()) }
  mutating func text(_ value: inout Identifier?) throws {
    let number = try from.zigzag()
    value = number == 0 ? nil : try names.text(number)
  }
  mutating func event(_ value: inout Identifier) throws { value = try names.event(from.zigzag()) }
  mutating func policy(_ value: inout PolicyReference) throws { value = try names.policy(from.zigzag()) }
  mutating func instance(_ instance: inout Identifier, kind: inout Identifier, surface: Surface) throws {
    let found = try names.instance(from.zigzag())
    (instance, kind) = (found.id, found.kind)
  }
}
