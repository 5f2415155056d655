package import Domain

/// The FNV-1a hash of bytes with a final mix. Unlike `Hasher` it gives the same numbers in every run, on every machine and
/// in every version: `rouse.state` holds fingerprints and subject keys made with it.
package struct Hash64 {
  private var state = FNV1a()

  /// Creates the hash of no bytes.
  package init() {}

  /// Adds one byte.
  package mutating func add(byte: UInt8) { state.add(byte) }

  /// Adds a text.
  package mutating func add(_ text: String) {
    add(utf8: text.utf8.span)
  }

  /// Adds the bytes of an identifier.
  package mutating func add(_ name: Identifier) { add(name.text) }

  /// Adds a text given as UTF-8.
  package mutating func add(utf8 text: Span<UInt8>) {
    state.add(text: text)
  }

  /// Adds the eight bytes of a number, the lowest first.
  package mutating func add(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Returns the hash of one identifier.
  package static func of(_ text: Identifier) -> UInt64 {
    var hash = Hash64()
    hash.add(text)
    return hash.value
  }

  /// The hash. It is never 0, which stands for "nothing known".
  package var value: UInt64 {
    var mixed = state.value
    mixed ^= mixed >> 33
    mixed = mixed &* 0xff51_afd7_ed55_8ccd
    mixed ^= mixed >> 33
    return mixed == 0 ? 1 : mixed
  }
}
