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

  /// Appends a floating-point number as the four bytes of its bit pattern, little endian.
  @inlinable @inline(__always)
  public mutating func append(float value: Float) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value.bitPattern >> shift)) }
  }

  /// Appends an integer as eight bytes, little endian.
  @inlinable @inline(__always)
  public mutating func append(fixed value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}

/// Writes the numbers of a record into room that was reserved before and is large enough.
extension OutputSpan<UInt8>: NumberCoder {
  @inlinable @inline(__always)
  public mutating func uint8(_ value: inout UInt8, _ what: StaticString) { append(value) }
  @inlinable @inline(__always)
  public mutating func varint(_ value: inout UInt16, _ what: StaticString) { append(varint: UInt64(value)) }
  @inlinable @inline(__always)
  public mutating func varint(_ value: inout UInt32, _ what: StaticString) { append(varint: UInt64(value)) }
  @inlinable @inline(__always)
  public mutating func zigzag(_ value: inout Int64, _ what: StaticString) { append(zigzag: value) }
  @inlinable @inline(__always)
  public mutating func float(_ value: inout Float, _ what: StaticString) { append(float: value) }
  @inlinable @inline(__always)
  public mutating func tag<Tag: RawRepresentable & CaseIterable>(
    _ tag: inout Tag, _ what: StaticString
  ) where Tag.RawValue == UInt8 { append(tag.rawValue) }
}
