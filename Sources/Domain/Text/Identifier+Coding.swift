extension BinaryWriter {
  /// Appends a length and the bytes of an identifier.
  @inlinable
  public mutating func string(_ name: Identifier) { string(name.text) }
}

extension BinaryReader {
  /// Reads a length and the bytes of an identifier.
  /// - Parameter what: the name of the field, for messages.
  /// - Throws: `BinaryError` if the bytes are too few or no UTF-8.
  @inlinable
  public mutating func identifier(_ what: StaticString = "a text") throws(BinaryError) -> Identifier {
    Identifier(try string(what))
  }
}
