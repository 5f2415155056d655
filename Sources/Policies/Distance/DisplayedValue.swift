package import Domain

/// A value that a screen shows of one field: a number, or the hash of anything else, in eight bytes.
///
/// A double is kept as it is, so that distances can be computed. Anything else, also an integer that not every double can hold, is
/// kept as a 51-bit hash in the bit patterns of NaN, which no JSON number has. Two different texts are taken for equal once in 2^51
/// pairs. The hash has no secret key, because policies hold such values, too. Finding another text with the hash of a given one takes
/// some 2^50 tries.
package struct DisplayedValue: Hashable, Sendable {
  /// The bits, as state records hold them.
  package let bits: UInt64

  /// No value: the field is null, or no event has carried it yet.
  package static let absent = DisplayedValue(bits: 0x7ff8_0000_0000_0000)

  /// The patterns of hashes: a negative quiet NaN whose low 51 bits hold the hash.
  private static let hashed: UInt64 = 0xfff8_0000_0000_0000

  /// Restores a value as `bits` gave it.
  @inlinable package init(bits: UInt64) { self.bits = bits }

  /// Creates the value of a field.
  package init(_ value: FieldValue) {
    switch value {
    case .null: self = .absent
    case .bool(let flag): self.init(flag ? 4 : 5, "")
    // Negative zero and zero are shown alike.
    case .number(let number) where number.isFinite: self.init(bits: (number == 0 ? 0 : number).bitPattern)
    case .number(let number): self.init(2, "\(number)")
    case .integer(let integer): self.init(6, "\(integer)")
    case .inexact(let number): self.init(.number(number))
    case .string(let text): self.init(3, text)
    }
  }

  private init(_ sort: UInt8, _ text: String) {
    var hash = SipHash(key: .standard)
    hash.add(UInt64(sort))
    hash.add(utf8: text.utf8.span)
    self.init(bits: Self.hashed | hash.halves.low & ~Self.hashed)
  }

  /// Whether the values are the same.
  @inlinable package static func == (a: DisplayedValue, b: DisplayedValue) -> Bool { a.bits == b.bits }

  /// The number; nil for anything else.
  @inlinable
  @inline(__always)
  package var number: Double? {
    let number = Double(bitPattern: bits)
    return number.isFinite ? number : nil
  }
}
