/// One pass over the numbers of an internal record: a pass that writes them, reads them, or looks at them.
///
/// Every method takes the value of a field, which only a reader replaces, and the name of the field, which messages about
/// damaged bytes use.
public protocol NumberCoder: ~Copyable, ~Escapable {
  /// The error of reading; `Never` for the other passes.
  associatedtype Failure: Error

  /// One byte.
  mutating func uint8(_ value: inout UInt8, _ what: StaticString) throws(Failure)
  /// A varint of 1 to 3 bytes.
  mutating func varint(_ value: inout UInt16, _ what: StaticString) throws(Failure)
  /// A varint of 1 to 5 bytes.
  mutating func varint(_ value: inout UInt32, _ what: StaticString) throws(Failure)
  /// A signed varint: small magnitudes are short.
  mutating func zigzag(_ value: inout Int64, _ what: StaticString) throws(Failure)
  /// A floating-point number, as the four bytes of its bit pattern.
  mutating func float(_ value: inout Float, _ what: StaticString) throws(Failure)
  /// A case of an enumeration, as its byte.
  mutating func tag<Tag: RawRepresentable & CaseIterable>(
    _ tag: inout Tag, _ what: StaticString
  ) throws(Failure) where Tag.RawValue == UInt8
}
