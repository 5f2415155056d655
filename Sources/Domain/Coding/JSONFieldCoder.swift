package import JSON

/// One direction of the JSON codec of public records.
///
/// A record lists its members once, in `JSONFields.members(_:)`. `JSONWriter` then writes them and `JSONMembers` reads them, in
/// the same order and form. Tests use a third coder, which collects the names, to compare the list with the schema.
package protocol JSONFieldCoder {
  /// The error of reading; `Never` for a writer.
  associatedtype Failure: Error

  /// A text of 1 to `bytesMax` bytes. Messages about an absent one say what was expected.
  mutating func text(
    _ key: StaticString, _ value: inout String, bytesMax: Int, expected: StaticString
  ) throws(Failure)
  /// A text that may be absent.
  mutating func text(_ key: StaticString, _ value: inout String?) throws(Failure)
  /// A list of at most `max` identifiers.
  mutating func texts(_ key: StaticString, _ value: inout [Identifier], max: Int) throws(Failure)
  /// A push token in hexadecimal digits.
  mutating func token(_ key: StaticString, _ value: inout String) throws(Failure)
  /// A push token that may be absent.
  mutating func token(_ key: StaticString, _ value: inout String?) throws(Failure)
  /// The version of an operating system.
  mutating func version(_ key: StaticString, _ value: inout OSVersion) throws(Failure)
  /// One of the words of an enumeration.
  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) throws(Failure) where Value.RawValue == String
  /// One of the words of an enumeration, which may be absent.
  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value?
  ) throws(Failure) where Value.RawValue == String
  /// `true` or `false`.
  mutating func flag(_ key: StaticString, _ value: inout Bool) throws(Failure)
  /// `true` or `false`, absent if it is the usual value.
  mutating func flag(_ key: StaticString, _ value: inout Bool, default usual: Bool) throws(Failure)
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
  /// A nested object, absent if it is empty.
  mutating func optionalObject<Value: JSONFields & Equatable>(
    _ key: StaticString, _ value: inout Value
  ) throws(Failure)
  /// A list of objects.
  mutating func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) throws(Failure)
  /// A list of at most `max` objects, absent if it is empty.
  mutating func optionalObjects<Value: JSONFields>(
    _ key: StaticString, _ value: inout [Value], max: Int
  ) throws(Failure)
  /// The member that names the target of pushes: either `token` or `channel`.
  mutating func target(_ value: inout PushTarget) throws(Failure)
  /// A member with the receiver, headers and body of a push. It has a method of its own, because its JSON has a form
  /// that `JSONFields` cannot describe.
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
    try self.text(key, &text, bytesMax: bytesMax, expected: "a string")
    value = Identifier(text)
  }

  /// A text of 1 to `bytesMax` bytes.
  mutating func text(_ key: StaticString, _ value: inout String, bytesMax: Int) throws(Failure) {
    try text(key, &value, bytesMax: bytesMax, expected: "a string")
  }

  /// A list of identifiers.
  mutating func texts(_ key: StaticString, _ value: inout [Identifier]) throws(Failure) {
    try texts(key, &value, max: .max)
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
  package mutating func text(
    _ key: StaticString, _ value: inout String, bytesMax: Int, expected: StaticString
  ) { member(key, value) }
  package mutating func text(_ key: StaticString, _ value: inout String?) { member(key, value) }
  package mutating func texts(_ key: StaticString, _ value: inout [Identifier], max: Int) { list(key, value) }
  package mutating func token(_ key: StaticString, _ value: inout String) { member(key, value) }
  package mutating func token(_ key: StaticString, _ value: inout String?) { member(key, value) }
  package mutating func version(_ key: StaticString, _ value: inout OSVersion) { member(key, value.description) }

  package mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) where Value.RawValue == String { member(key, value.rawValue) }

  package mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value?
  ) where Value.RawValue == String {
    if let value { member(key, value.rawValue) }
  }

  package mutating func flag(_ key: StaticString, _ value: inout Bool) { member(key, value) }

  package mutating func flag(_ key: StaticString, _ value: inout Bool, default usual: Bool) {
    if value != usual { member(key, value) }
  }

  package mutating func number(_ key: StaticString, _ value: inout Double) {
    self.key(key)
    rounded(value)
  }

  package mutating func count(_ key: StaticString, _ value: inout Int) { member(key, value) }

  package mutating func count(_ key: StaticString, _ value: inout Int?) {
    if let value { member(key, value) }
  }

  package mutating func instant(_ key: StaticString, _ value: inout Timestamp) { timestamp(key, value) }

  package mutating func instant(_ key: StaticString, _ value: inout Timestamp?) {
    if let value { timestamp(key, value) }
  }

  package mutating func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) {
    self.key(key)
    value.write(to: &self)
  }

  package mutating func optionalObject<Value: JSONFields & Equatable>(_ key: StaticString, _ value: inout Value) {
    if value != .blank { object(key, &value) }
  }

  package mutating func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) {
    array(key, value) { $0.write(to: &$1) }
  }

  package mutating func optionalObjects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value], max: Int) {
    if !value.isEmpty { objects(key, &value) }
  }

  package mutating func target(_ value: inout PushTarget) { value.write(to: &self) }

  package mutating func request(_ key: StaticString, _ value: inout Command.APNs) {
    self.key(key)
    value.encode(to: &self)
  }
}
