/// A hash that takes eight bytes at a time, where `Hash64` takes one. It gives the same numbers in every run, on every machine and in
/// every version: `rouse.state` holds keys and checksums made with it.
///
/// Each step is a bijection of the state, so two texts of one length that differ in one word only never have the same hash.
struct TextHash {
  /// The hash without a final mix, which checksums need not.
  private(set) var state: UInt64

  /// Creates the hash of nothing.
  /// - Parameter seed: A number that the hash depends on.
  @inline(__always)
  init(seed: UInt64 = 0x9E37_79B9_7F4A_7C15) { state = seed }

  /// Adds a number.
  @inline(__always)
  mutating func add(_ word: UInt64) {
    state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
    state ^= state >> 32
  }

  /// Adds a text given as UTF-8, or any bytes, with their number, so that "ab" and "c" differ from "a" and "bc".
  @inline(__always)
  mutating func add(utf8 text: Span<UInt8>) {
    var state = self
    // The span keeps the bytes alive for the whole call, and no load reaches beyond its end.
    unsafe text.withUnsafeBytes { bytes in
      var at = 0
      while at + 8 <= bytes.count {
        state.add(UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        at += 8
      }
      var rest = UInt64(bytes.count) << 56
      for place in at..<bytes.count { rest |= UInt64(unsafe bytes[place]) << UInt64(8 * (place - at)) }
      state.add(rest)
    }
    self = state
  }

  /// The hash, mixed once more. It is never 0, which stands for "nothing".
  @inline(__always)
  var value: UInt64 {
    var mixed = state &* 0xC4CE_B9FE_1A85_EC53
    mixed ^= mixed >> 33
    return mixed == 0 ? 1 : mixed
  }
}
