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
      var rest = UInt64(truncatingIfNeeded: bytes.count) << 56
      for place in at..<bytes.count { rest |= UInt64(unsafe bytes[place]) << UInt64(8 * (place - at)) }
      body(rest)
    }
  }
}
