/// SipHash-1-3 with 128 bits of output, a keyed hash of short texts (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
/// 2012; the longer output is that of the authors' reference implementation). The hash of one text is the one of that
/// implementation with these numbers of rounds, which the hash tables of several languages use; no attack on them is known that takes less
/// than 2^128 steps (Dobraunig, Mendel and Schläffer, "Differential Cryptanalysis of SipHash", 2014). It gives the same numbers on every
/// machine and in every version: `rouse.state` holds hashes made with it.
package struct SipHash {
  @usableFromInline var v0: UInt64
  @usableFromInline var v1: UInt64
  @usableFromInline var v2: UInt64
  @usableFromInline var v3: UInt64

  /// Creates the hash of nothing.
  /// - Parameter key: The secret key.
  @inlinable
  @inline(__always)
  package init(key: HashKey) {
    v0 = key.low ^ 0x736f_6d65_7073_6575
    v1 = key.high ^ 0x646f_7261_6e64_6f6d ^ 0xee
    v2 = key.low ^ 0x6c79_6765_6e65_7261
    v3 = key.high ^ 0x7465_6462_7974_6573
  }

  @inlinable
  @inline(__always)
  mutating func round() {
    v0 = v0 &+ v1
    v1 = (v1 << 13 | v1 >> 51) ^ v0
    v0 = v0 << 32 | v0 >> 32
    v2 = v2 &+ v3
    v3 = (v3 << 16 | v3 >> 48) ^ v2
    v0 = v0 &+ v3
    v3 = (v3 << 21 | v3 >> 43) ^ v0
    v2 = v2 &+ v1
    v1 = (v1 << 17 | v1 >> 47) ^ v2
    v2 = v2 << 32 | v2 >> 32
  }

  /// Adds a number.
  @inlinable
  @inline(__always)
  package mutating func add(_ word: UInt64) {
    v3 ^= word
    round()
    v0 ^= word
  }

  /// Adds a text given as UTF-8, or any bytes. Its last word has its length, so that "ab" and "c" differ from "a" and "bc".
  @inlinable
  @inline(__always)
  package mutating func add(utf8 text: Span<UInt8>) {
    var state = self
    text.forEachWord { state.add($0) }
    self = state
  }

  /// The hash of what was added.
  @inlinable
  @inline(__always)
  package var halves: (low: UInt64, high: UInt64) {
    var state = self
    state.v2 ^= 0xee
    for _ in 0..<3 { state.round() }
    let low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    state.v1 ^= 0xdd
    for _ in 0..<3 { state.round() }
    return (low, state.v0 ^ state.v1 ^ state.v2 ^ state.v3)
  }
}
