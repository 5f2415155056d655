package import Domain

/// The hash of texts under a secret key, 128 bits. Two texts with the same hash count as the same text: without the key nobody can
/// find a second one.
package struct KeyedHash: Hashable, Sendable {
  /// The lower half.
  package var low: UInt64
  /// The upper half.
  package var high: UInt64

  /// Creates a hash from its halves.
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Stands for "nothing known". It is the hash of no text that anyone will find.
  package static let none = KeyedHash(low: 0, high: 0)

  /// Whether nothing is known.
  package var isNone: Bool { low | high == 0 }

  /// Returns the bits in which two hashes differ.
  package static func ^ (a: KeyedHash, b: KeyedHash) -> KeyedHash {
    KeyedHash(low: a.low ^ b.low, high: a.high ^ b.high)
  }

  /// The hash as 32 hexadecimal digits.
  var hex: String {
    let digits = [high, low].map { String($0, radix: 16) }
    return digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
  }

  /// Reads what `hex` returns; nil for another text.
  init?(hex: some StringProtocol) {
    guard hex.utf8.count == 32, let high = UInt64(hex.prefix(16), radix: 16),
      let low = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    self.init(low: low, high: high)
    guard self.hex == hex else { return nil }
  }
}

extension KeyedHash: Comparable {
  package static func < (a: KeyedHash, b: KeyedHash) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension SipHash {
  /// The hash of what was added.
  package var value: KeyedHash {
    let (low, high) = halves
    return KeyedHash(low: low, high: high)
  }
}
