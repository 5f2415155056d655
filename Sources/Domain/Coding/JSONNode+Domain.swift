public import JSON

/// Reads members of JSON objects within the bounds of `DomainBounds`. Every method throws `DomainError` with the path, what was
/// expected and what was found.
extension JSONNode {
  /// Returns a member that must be there.
  func require(_ key: StaticString, _ expected: @autoclosure () -> String) throws(DomainError) -> JSONNode {
    do throws(JSONError) {
      return try member(key, expected())
    } catch {
      throw DomainError(error)
    }
  }

  /// Checks that this value is an object.
  func requireObject() throws(DomainError) {
    if kind != .object { throw DomainError(wrongType("an object")) }
  }

  /// Returns this value, a string of 1 to `bytesMax` bytes.
  func text(bytesMax: Int = DomainBounds.nameBytesMax) throws(DomainError) -> String {
    try checkText(bytesMax: bytesMax)
    guard let text = stringIfAny else { throw DomainError(wrongType("a string")) }
    return text
  }

  /// Checks that this value is a string of 1 to `bytesMax` bytes.
  func checkText(bytesMax: Int) throws(DomainError) {
    guard kind == .string else { throw DomainError(wrongType("a string")) }
    if utf8Count == 0 { throw DomainError(wrongValue("a string that is not empty")) }
    if utf8Count > bytesMax { throw outOfBounds("a string of at most \(bytesMax) bytes", found: "\(utf8Count)") }
  }

  /// Returns a member that must be a string of 1 to `bytesMax` bytes.
  func text(_ key: StaticString, bytesMax: Int = DomainBounds.nameBytesMax) throws(DomainError) -> String {
    try require(key, "a string").text(bytesMax: bytesMax)
  }

  /// Returns a member that is a string of 1 to `bytesMax` bytes; nil if it is absent.
  func textIfPresent(_ key: StaticString, bytesMax: Int = DomainBounds.nameBytesMax) throws(DomainError) -> String? {
    guard let node = optional(key) else { return nil }
    return try node.text(bytesMax: bytesMax)
  }

  /// The expected form of a push token, in words for error messages.
  static var tokenExpectation: String { "a token in hexadecimal digits" }

  /// Returns this value, a push token in hexadecimal digits, as APNs wants it in its paths.
  func token() throws(DomainError) -> String {
    try checkText(bytesMax: DomainBounds.tokenBytesMax)
    let isHexadecimal = withUTF8 { bytes in
      for at in 0..<bytes.count where !isHexadecimalDigit(bytes[at]) { return false }
      return true
    }
    guard isHexadecimal else { throw DomainError(wrongValue(Self.tokenExpectation)) }
    return try text(bytesMax: DomainBounds.tokenBytesMax)
  }

  /// Returns this value, an identifier of 1 to `bytesMax` bytes.
  func identifier(bytesMax: Int = DomainBounds.nameBytesMax) throws(DomainError) -> Identifier {
    Identifier(try text(bytesMax: bytesMax))
  }

  /// Returns a member that must be an identifier of 1 to 256 bytes.
  func identifier(_ key: StaticString) throws(DomainError) -> Identifier { Identifier(try text(key)) }

  /// Returns a member that is an identifier of 1 to 256 bytes; nil if it is absent.
  func identifierIfPresent(_ key: StaticString) throws(DomainError) -> Identifier? {
    try textIfPresent(key).map { Identifier($0) }
  }

  /// Returns a member that is a boolean; the fallback if it is absent.
  func flag(_ key: StaticString, default fallback: Bool) throws(DomainError) -> Bool {
    guard let node = optional(key) else { return fallback }
    return try node.flag()
  }

  /// Returns this value, a boolean.
  func flag() throws(DomainError) -> Bool {
    guard let value = boolIfAny else { throw DomainError(wrongType("a boolean")) }
    return value
  }

  /// Returns a member that must be a number.
  func number(_ key: StaticString) throws(DomainError) -> Double {
    let node = try require(key, "a number")
    guard let value = node.numberIfAny else { throw DomainError(node.wrongType("a number")) }
    return value
  }

  /// Returns this value, an integer.
  func count() throws(DomainError) -> Int {
    guard kind == .number else { throw DomainError(wrongType("an integer")) }
    guard let value = integerIfAny else { throw DomainError(wrongValue("an integer")) }
    return Int(value)
  }

  /// Returns this value as an instant. It must be a text in RFC 3339.
  func instant() throws(DomainError) -> Timestamp {
    guard kind == .string else { throw DomainError(wrongType(Timestamp.expectation)) }
    guard let instant = withUTF8({ Timestamp(rfc3339: $0) }) else {
      throw DomainError(wrongValue(Timestamp.expectation))
    }
    return instant
  }

  /// Returns a member that must be an instant.
  func instant(_ key: StaticString) throws(DomainError) -> Timestamp {
    try require(key, Timestamp.expectation).instant()
  }

  /// Returns a member that is an instant; nil if it is absent.
  func instantIfPresent(_ key: StaticString) throws(DomainError) -> Timestamp? {
    guard let node = optional(key) else { return nil }
    return try node.instant()
  }

  /// Returns a member that must be one of the words of an enumeration.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString
  ) throws(DomainError) -> Value where Value.RawValue == String {
    let node = try require(key, oneOf(Value.allCases.map(\.rawValue)))
    guard node.kind == .string else { throw DomainError(node.wrongType(oneOf(Value.allCases.map(\.rawValue)))) }
    guard let value = Value(rawValue: node.stringIfAny ?? "") else {
      throw DomainError(node.wrongValue(oneOf(Value.allCases.map(\.rawValue))))
    }
    return value
  }

  /// Reads the elements of a member that must be an array.
  func list<Element>(
    _ key: StaticString, max: Int = .max, _ read: (JSONNode) throws(DomainError) -> Element
  ) throws(DomainError) -> [Element] {
    try require(key, "an array").elements(max: max, read)
  }

  /// Reads the elements of a member that is an array; returns no elements if the member is absent.
  func listIfPresent<Element>(
    _ key: StaticString, max: Int, _ read: (JSONNode) throws(DomainError) -> Element
  ) throws(DomainError) -> [Element] {
    guard let node = optional(key) else { return [] }
    return try node.elements(max: max, read)
  }

  private func elements<Element>(
    max: Int, _ read: (JSONNode) throws(DomainError) -> Element
  ) throws(DomainError) -> [Element] {
    let nodes: Elements
    do throws(JSONError) { nodes = try array() } catch { throw DomainError(error) }
    if count > max { throw outOfBounds("at most \(max) elements", found: "\(count)") }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for node in nodes { elements.append(try read(node)) }
    return elements
  }

  /// Returns the error for this value, which exceeds a bound.
  func outOfBounds(_ expected: String, found: String) -> DomainError {
    DomainError(.outOfBounds, path: path, message: "expected \(expected), found \(found)")
  }
}

/// Returns names as a list in words: `a, b or c`.
func oneOf(_ names: [String]) -> String {
  guard let last = names.last, names.count > 1 else { return names.first ?? "" }
  return names.dropLast().joined(separator: ", ") + " or " + last
}

extension JSONWriter {
  /// Writes a member that is an instant.
  mutating func timestamp(_ key: StaticString, _ value: Timestamp) {
    self.key(key)
    string(appending: { value.appendRFC3339(to: &$0) })
  }

  /// Writes a member that is an identifier.
  public mutating func member(_ key: StaticString, _ value: Identifier) { member(key, value.text) }

  /// Writes a member that is an identifier, unless it is nil.
  public mutating func member(_ key: StaticString, _ value: Identifier?) { member(key, value.text) }

  /// Writes a member that is a list of identifiers.
  public mutating func list(_ key: StaticString, _ values: [Identifier]) {
    self.key(key)
    beginArray()
    for value in values { string(value.text) }
    endArray()
  }
}

private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
  byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
}
