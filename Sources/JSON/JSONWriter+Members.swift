/// The members of objects, each with its key.
extension JSONWriter {
  /// Writes a member that is a text.
  public mutating func member(_ key: StaticString, _ value: String) {
    self.key(key)
    string(value)
  }

  /// Writes a member that is a text, unless it is nil.
  public mutating func member(_ key: StaticString, _ value: String?) {
    if let value { member(key, value) }
  }

  /// Writes a member that is a whole number.
  @inlinable
  public mutating func member<Value: FixedWidthInteger>(_ key: StaticString, _ value: Value) {
    self.key(key)
    integer(value)
  }

  /// Writes a member that is `true` or `false`.
  public mutating func member(_ key: StaticString, _ value: Bool) {
    self.key(key)
    bool(value)
  }

  /// Writes a member that is a number, in the shortest form that reads back as the same number.
  public mutating func member(_ key: StaticString, _ value: Double) {
    self.key(key)
    number(value)
  }

  /// Writes a member that is a number of at most six decimals, or null if it is not finite.
  public mutating func member(_ key: StaticString, rounded value: Double) {
    self.key(key)
    if value.isFinite { rounded(value) } else { null() }
  }

  /// Writes members that are whole numbers.
  public mutating func members(_ members: [(StaticString, Int)]) {
    for (key, value) in members { member(key, value) }
  }

  /// Writes a member that is an object of whole numbers.
  /// - Parameter counts: The keys, which are escaped where needed, with their numbers.
  public mutating func counts(_ key: StaticString, _ counts: some Sequence<(String, Int)>) {
    object(key) { writer in
      for (key, count) in counts {
        writer.key(key)
        writer.integer(count)
      }
    }
  }

  /// Writes a member that is a list of texts.
  public mutating func list(_ key: StaticString, _ values: [String]) {
    array(key, values) { $1.string($0) }
  }

  /// Writes a member that is an object.
  /// - Parameter members: Writes the members of the object.
  public mutating func object(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
    self.key(key)
    object(members)
  }

  /// Writes an object.
  /// - Parameter members: Writes the members of the object.
  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    beginObject()
    members(&self)
    endObject()
  }

  /// Writes a member that is an array.
  /// - Parameter write: Writes one element.
  public mutating func array<Elements: Sequence>(
    _ key: StaticString, _ elements: Elements, _ write: (Elements.Element, inout JSONWriter) -> Void
  ) {
    self.key(key)
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }

  /// Writes a member that is an array of objects.
  /// - Parameter members: Writes the members of one object.
  public mutating func objects<Elements: Sequence>(
    _ key: StaticString, _ elements: Elements, _ members: (Elements.Element, inout JSONWriter) -> Void
  ) {
    array(key, elements) { element, writer in writer.object { members(element, &$0) } }
  }
}
