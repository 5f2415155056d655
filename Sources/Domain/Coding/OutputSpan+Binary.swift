import JSON

/// The forms of `BinaryWriter`, written into room that was reserved before.
extension OutputSpan<UInt8> {
  /// The largest number of bytes of a varint.
  @inlinable public static var varintMax: Int { 10 }

  /// Appends a varint (LEB128): 7 bits in each byte.
  @inlinable @inline(__always)
  public mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a signed varint: small magnitudes are short.
  @inlinable @inline(__always)
  public mutating func append(zigzag value: Int64) { append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  /// Appends the four bytes of the bit pattern.
  @inlinable @inline(__always)
  public mutating func append(float value: Float) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value.bitPattern >> shift)) }
  }

  /// Appends eight bytes.
  @inlinable @inline(__always)
  public mutating func append(fixed value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
