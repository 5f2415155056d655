package import JSON

/// One direction of the JSON codec of public records.
///
/// A record lists its members once, in `JSONFields.members(_:)`. `JSONWriter` then writes them and `JSONMembers` reads them, in
/// the same order and form. Tests use a third coder, which collects the names, to compare the list with the schema.
package protocol JSONFieldCoder {
  /// The error of reading; `Never` for a writer.
  associatedtype Failure: Error

  /// A text of 1 to `bytesMax` bytes.
  mutating func text(_ key: StaticString, _ value: inout String, bytesMax: Int) throws(Failure)
  /// A text that may be absent.
  mutating func text(_ key: StaticString, _ value: inout String?) throws(Failure)
  /// A list of identifiers.
  mutating func texts(_ key: StaticString, _ value: inout [Identifier]) throws(Failure)
  /// One of the words of an enumeration.
  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) throws(Failure) where Value.RawValue == String
  /// `true` or `false`.
  mutating func flag(_ key: StaticString, _ value: inout Bool) throws(Failure)
  /// A number, written with at most six decimals.
  mutating func number(_ key: StaticString, _ value: inout Double) throws(Failure)
  /// A whole number.
  mutating func count(_ key: StaticString, _ value: inout Int) throws(Failure)
  /// A whole number that may be absent.
  mutating func count(_ key: StaticString, _ value: inout Int?) throws(Failure)
  /// An instant, RFC 3339.
  mutating func instant(_ key: StaticString, _ value: inout Timestamp) throws(Failure)
  /// An instant that may be absent.
  mutating func instant(_ key: StaticString, _ value: inout Timestamp?) throws(Failure)
  /// A nested object.
  mutating func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) throws(Failure)
  /// A list of objects.
  mutating func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) throws(Failure)
  /// The receiver, headers and body of a push, whose form the list of members cannot express.
  mutating func request(_ key: StaticString, _ value: inout Command.APNs) throws(Failure)
}

/// A record, or a part of one, that lists the members of its JSON object.
package protocol JSONFields {
  /// An empty value that a decoder fills in.
  static var blank: Self { get }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: the coder's error: `DomainError` if a member that is read is missing or wrong.
  mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

extension JSONFieldCoder {
  /// An identifier of 1 to `bytesMax` bytes.
  mutating func text(
    _ key: StaticString, _ value: inout Identifier, bytesMax: Int = DomainBounds.nameBytesMax
  ) throws(Failure) {
    var text = value.text
    try self.text(key, &text, bytesMax: bytesMax)
    value = Identifier(text)
  }

  /// An identifier that may be absent.
  mutating func text(_ key: StaticString, _ value: inout Identifier?) throws(Failure) {
    var text = value.text
    try self.text(key, &text)
    value = text.map { Identifier($0) }
  }
}

extension JSONFields {
  /// Writes the value as a JSON object.
  func write(to writer: inout JSONWriter) {
    var value = self
    writer.beginObject()
    value.members(&writer)
    writer.endObject()
  }

  /// Reads the value from a JSON object.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  init(members node: JSONNode) throws(DomainError) {
    try node.requireObject()
    self = .blank
    var coder = JSONMembers(node: node)
    try members(&coder)
  }
}

extension JSONWriter: JSONFieldCoder {
  package mutating func text(_ key: StaticString, _ value: inout String, bytesMax: Int) { member(key, value) }
  package mutating func text(_ key: StaticString, _ value: inout String?) { member(key, value) }
  package mutating func texts(_ key: StaticString, _ value: inout [Identifier]) { list(key, value) }

  package mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) where Value.RawValue == String { member(key, value.rawValue) }

  package mutating func flag(_ key: StaticString, _ value: inout Bool) {
    self.key(key)
    bool(value)
  }

  package mutating func number(_ key: StaticString, _ value: inout Double) {
    self.key(key)
    rounded(value)
  }

  package mutating func count(_ key: StaticString, _ value: inout Int) {
    self.key(key)
    integer(value)
  }

  package mutating func count(_ key: StaticString, _ value: inout Int?) {
    guard let value else { return }
    self.key(key)
    integer(value)
  }

  package mutating func instant(_ key: StaticString, _ value: inout Timestamp) { timestamp(key, value) }

  package mutating func instant(_ key: StaticString, _ value: inout Timestamp?) {
    if let value { timestamp(key, value) }
  }

  package mutating func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) {
    self.key(key)
    value.write(to: &self)
  }

  package mutating func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) {
    self.key(key)
    beginArray()
    for element in value { element.write(to: &self) }
    endArray()
  }

  package mutating func request(_ key: StaticString, _ value: inout Command.APNs) {
    self.key(key)
    value.encode(to: &self)
  }
}

/// Reads the members of one JSON object. Unknown members are ignored; a missing or wrong one is refused by path.
struct JSONMembers: JSONFieldCoder {
  /// The object.
  let node: JSONNode

  func text(_ key: StaticString, _ value: inout String, bytesMax: Int) throws(DomainError) {
    value = try node.text(key, bytesMax: bytesMax)
  }
  func text(_ key: StaticString, _ value: inout String?) throws(DomainError) { value = try node.textIfPresent(key) }

  func texts(_ key: StaticString, _ value: inout [Identifier]) throws(DomainError) {
    value = try node.list(key) { (element) throws(DomainError) in try element.identifier() }
  }

  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) throws(DomainError) where Value.RawValue == String { value = try node.choice(key) }

  func flag(_ key: StaticString, _ value: inout Bool) throws(DomainError) {
    value = try node.require(key, "a boolean").flag()
  }

  func number(_ key: StaticString, _ value: inout Double) throws(DomainError) { value = try node.number(key) }

  func count(_ key: StaticString, _ value: inout Int) throws(DomainError) {
    value = try node.require(key, "an integer").count()
  }

  func count(_ key: StaticString, _ value: inout Int?) throws(DomainError) {
    guard let member = node.optional(key) else {
      value = nil
      return
    }
    value = try member.count()
  }

  func instant(_ key: StaticString, _ value: inout Timestamp) throws(DomainError) { value = try node.instant(key) }

  func instant(_ key: StaticString, _ value: inout Timestamp?) throws(DomainError) {
    value = try node.instantIfPresent(key)
  }

  func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) throws(DomainError) {
    value = try Value(members: node.require(key, "an object"))
  }

  func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) throws(DomainError) {
    value = try node.list(key) { (element) throws(DomainError) in try Value(members: element) }
  }

  func request(_ key: StaticString, _ value: inout Command.APNs) throws(DomainError) {
    value = try Command.APNs(node.require(key, "an object"))
  }
}
