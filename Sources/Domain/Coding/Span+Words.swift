extension Span<UInt8> {
  /// Returns whether another span has the same bytes. It compares them eight at a time.
  @inlinable
  @inline(__always)
  package func isEqual(to other: Span<UInt8>) -> Bool {
    if count != other.count { return false }
    // The spans keep the bytes alive for the whole call, and no load reaches beyond their end.
    return unsafe withUnsafeBytes { a in
      unsafe other.withUnsafeBytes { b in
        var at = 0
        while at + 8 <= a.count {
          if unsafe a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            != b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          {
            return false
          }
          at += 8
        }
        if at == a.count { return true }
        if at > 0 {
          // The last eight bytes, some of which are compared again.
          return unsafe a.loadUnaligned(fromByteOffset: a.count - 8, as: UInt64.self)
            == b.loadUnaligned(fromByteOffset: a.count - 8, as: UInt64.self)
        }
        while at < a.count {
          if unsafe a[at] != b[at] { return false }
          at += 1
        }
        return true
      }
    }
  }

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
