import JSON

/// What `BinaryWriter` writes, into room that is there.
extension OutputSpan<UInt8> {
  /// What a varint takes at most.
  @inlinable public static var varintMax: Int { 10 }

  /// LEB128: 7 bits a byte.
  @inlinable @inline(__always)
  public mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// A signed varint: small magnitudes are short.
  @inlinable @inline(__always)
  public mutating func append(zigzag value: Int64) { append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  /// The four bytes of its bit pattern.
  @inlinable @inline(__always)
  public mutating func append(float value: Float) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value.bitPattern >> shift)) }
  }

  /// Eight bytes.
  @inlinable @inline(__always)
  public mutating func append(fixed value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
