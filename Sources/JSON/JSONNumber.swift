/// A number as a document writes it.
public enum JSONNumber: Equatable, Sendable {
  /// An integer of 64 bits.
  case integer(Int64)
  /// An integer of 64 bits that is larger than any `Int64`.
  case unsigned(UInt64)
  /// An integer that has more than 64 bits, as the nearest double.
  case largeInteger(Double)
  /// A number with a point or an exponent, as the nearest double.
  case decimal(Double)
}
