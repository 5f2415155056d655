package import Domain

/// A value that a screen shows of one field: a number, or the keyed hash of anything else, in 16 bytes.
///
///      value                       low               high
///     ┌───────────────────────────┬─────────────────┬─────────────┐
///     │ nothing                   │ a NaN           │ 0           │
///     │ a number                  │ its double      │ 0           │
///     │ a text, a boolean, …      │ the lower half  │ the upper   │
///     │                           │ of its hash     │ half, not 0 │
///     └───────────────────────────┴─────────────────┴─────────────┘
///
/// A double is kept as it is, so that distances can be computed. Anything else, also an integer that not every double can hold, is
/// kept as a hash. Without its key nobody can find two texts that are taken for equal.
package struct DisplayedValue: Hashable, Sendable {
  /// The bits of a number, or the lower half of a hash.
  package let low: UInt64
  /// The upper half of a hash; 0 for a number, and for nothing.
  package let high: UInt64

  /// No value: the field is null, or no event has carried it yet.
  package static let absent = DisplayedValue(low: 0x7ff8_0000_0000_0000, high: 0)

  /// Restores a value from its halves.
  @inlinable
  @inline(__always)
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Creates the value of a field.
  /// - Parameters:
  ///   - value: The value.
  ///   - hashKey: The key of hashes. Values with hashes of different keys are never equal.
  package init(_ value: FieldValue, hashKey: HashKey = .standard) {
    switch value {
    case .null: self = .absent
    case .bool(let flag): self.init(flag ? 4 : 5, "", hashKey)
    // Negative zero and zero are shown alike.
    case .number(let number) where number.isFinite: self.init(low: (number == 0 ? 0 : number).bitPattern, high: 0)
    case .number(let number): self.init(2, "\(number)", hashKey)
    case .integer(let integer): self.init(6, "\(integer)", hashKey)
    case .inexact(let number): self.init(.number(number))
    case .string(let text): self.init(3, text, hashKey)
    }
  }

  private init(_ sort: UInt8, _ text: String, _ key: HashKey) {
    var hash = SipHash(key: key)
    hash.add(UInt64(sort))
    hash.add(utf8: text.utf8.span)
    let (low, high) = hash.halves
    self.init(low: low, high: high == 0 ? 1 : high)
  }

  /// Whether the values are the same.
  @inlinable
  @inline(__always)
  package static func == (a: DisplayedValue, b: DisplayedValue) -> Bool { a.low == b.low && a.high == b.high }

  /// The number; nil for anything else.
  @inlinable
  @inline(__always)
  package var number: Double? {
    let number = Double(bitPattern: low)
    return high == 0 && number.isFinite ? number : nil
  }
}
