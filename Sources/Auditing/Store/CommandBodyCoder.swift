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
  /// Encodes or decodes one of a few names that occur in many commands, as the number of a word.
  mutating func word(_ value: inout Identifier) throws
}

extension CommandBodyCoder {
  /// Encodes or decodes a number that fits in an `Int`.
  mutating func number(_ value: inout Int) throws {
    var wide = Int64(value)
    try number(&wide)
    value = Int(wide)
  }

  /// Encodes or decodes a name that the body holds itself.
  mutating func text(_ value: inout Identifier) throws {
    var text = value.text
    try string(&text)
    value = Identifier(text)
  }

  /// Encodes or decodes a name that may be absent: 0 for nil, or 1 and the name.
  mutating func text(_ value: inout Identifier?) throws {
    var isPresent = value == nil ? 0 : 1
    try number(&isPresent)
    var text = value ?? ""
    if isPresent != 0 { try self.text(&text) }
    value = isPresent != 0 ? text : nil
  }

  /// Encodes or decodes a name, which mostly begins with another one: 1 and what follows the other name, or 0 and
  /// the whole name.
  mutating func text(_ value: inout Identifier, behind other: Identifier) throws {
    var isBehind = value.hasPrefix(other) ? 1 : 0
    try number(&isBehind)
    var rest = isBehind == 0 ? value : Identifier(decoding: value.utf8.dropFirst(other.utf8.count))
    try text(&rest)
    if Self.reads { value = isBehind == 0 ? rest : Identifier(decoding: Array(other.utf8) + Array(rest.utf8)) }
  }

  /// Encodes or decodes a policy as the numbers of two words.
  mutating func policy(_ value: inout PolicyReference) throws {
    try word(&value.version)
    try word(&value.hash)
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
  let words: WordWriter

  mutating func number(_ value: inout Int64) { out.zigzag(value) }
  mutating func string(_ value: inout String) { out.string(value) }
  mutating func count(_ value: inout Int) { out.count(value) }
  mutating func code<Value: NumberedCode>(_ value: inout Value) { out.zigzag(value.code) }
  mutating func word(_ value: inout Identifier) throws { out.zigzag(try words.number(value)) }
}

/// Reads the fields of a body. Throws `BinaryError` for damaged bytes and `StoredValueError` for numbers without a row.
struct CommandBodyReader: CommandBodyCoder {
  static var reads: Bool { true }
  var from: BinaryReader
  let words: WordReader

  mutating func number(_ value: inout Int64) throws { value = try from.zigzag() }
  mutating func string(_ value: inout String) throws { value = try from.string() }
  mutating func count(_ value: inout Int) throws { value = try from.count() }
  mutating func code<Value: NumberedCode>(_ value: inout Value) throws { value = try Value(code: from.zigzag()) }
  mutating func word(_ value: inout Identifier) throws { value = try words.word(from.zigzag()) }
}
