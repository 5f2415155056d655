extension Span<UInt8> {
  /// Hands over the bytes eight at a time, the lowest first. The last word has what is left, and the number of bytes in its top byte.
  @inlinable
  @inline(__always)
  package func forEachWord(_ body: (UInt64) -> Void) {
    // The span keeps the bytes alive for the whole call, and no load reaches beyond its end.
    unsafe withUnsafeBytes { bytes in
      var at = 0
      while at + 8 <= bytes.count {
        body(UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        at += 8
      }
      let left = bytes.count - at
      var rest = UInt64(truncatingIfNeeded: bytes.count) << 56
      if bytes.count >= 8 {
        // The last eight bytes, without those of the word before.
        let last = UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
        // A shift by 64 leaves nothing.
        rest |= last >> UInt64(64 - 8 * left)
      } else {
        for place in 0..<left { rest |= UInt64(unsafe bytes[place]) << UInt64(8 * place) }
      }
      body(rest)
    }
  }
}
