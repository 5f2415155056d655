/// Appends the fields of internal records to a buffer: little endian, lengths first, most integers as varints.
public struct BinaryWriter: Sendable {
  /// The bytes that the writer was created with, followed by everything written since.
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8]

  /// Creates a writer.
  /// - Parameter bytes: existing bytes, to which the writer appends.
  public init(appendingTo bytes: consuming [UInt8] = []) { written = bytes }

  /// Removes all bytes, those given at creation too, and keeps the memory for the next record.
  public mutating func reset() { written.removeAll(keepingCapacity: true) }

  /// Writes several small values at once. This costs a fraction of writing them one by one, because the room in the buffer is
  /// checked only once.
  /// - Parameters:
  ///   - count: the largest number of bytes that `append` writes.
  ///   - append: writes the values into the room.
  @inlinable @inline(__always)
  public mutating func piece(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: count, initializingWith: append)
  }

  /// Writes one byte.
  public mutating func uint8(_ value: UInt8) { written.append(value) }

  /// Writes a byte that is 0 or 1.
  public mutating func bool(_ value: Bool) { written.append(value ? 1 : 0) }

  /// Writes a varint (LEB128): 7 bits in each of 1 to 10 bytes.
  public mutating func varint(_ value: UInt64) {
    if value < 0x80 { return written.append(UInt8(truncatingIfNeeded: value)) }
    // Up to eight bytes are collected in a register and appended at once, because each append checks whether the buffer is
    // shared.
    var rest = value
    var packed: UInt64 = 0
    var width = 0
    while rest >= 0x80, width < 7 {
      packed |= (rest & 0x7F | 0x80) << UInt64(8 * width)
      rest >>= 7
      width += 1
    }
    if rest < 0x80 {
      packed |= rest << UInt64(8 * width)
      rest = 0
      width += 1
    }
    // `packed` lives as long as the closure, which reads its first bytes.
    unsafe withUnsafeBytes(of: packed.littleEndian) { buffer in
      unsafe written.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<width]))
    }
    while rest >= 0x80 {
      written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    if rest > 0 { written.append(UInt8(truncatingIfNeeded: rest)) }
  }

  /// Writes a count or a length. A negative one counts as 0.
  public mutating func count(_ value: Int) { varint(UInt64(max(value, 0))) }

  /// Writes a signed varint: small magnitudes are short.
  public mutating func zigzag(_ value: Int64) { varint(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  /// Writes a signed integer of eight bytes, little endian.
  public mutating func int64(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

  /// Writes a floating-point number: the eight bytes of its IEEE 754 bit pattern, little endian.
  public mutating func double(_ value: Double) { fixed(value.bitPattern) }

  /// Writes a floating-point number: the four bytes of its IEEE 754 bit pattern, little endian.
  public mutating func float(_ value: Float) { fixed(value.bitPattern) }

  /// Writes a text: a varint with its length in bytes, then its UTF-8.
  public mutating func string(_ text: String) {
    count(text.utf8.count)
    written.append(contentsOf: text.utf8)
  }

  /// Writes the UTF-8 of a text without its length. Whoever reads it must know the length from elsewhere.
  /// - Parameter text: the UTF-8.
  public mutating func text(utf8 text: Span<UInt8>) {
    // The bytes live as long as the span, which outlives this call.
    unsafe text.withUnsafeBufferPointer { unsafe written.append(contentsOf: $0) }
  }

  /// Writes the UTF-8 of a text without its length. Whoever reads it must know the length from elsewhere.
  public mutating func text(_ text: String) { written.append(contentsOf: text.utf8) }

  /// Writes a text that may be nil: the byte 0 for nil, else the byte 1 and the text.
  public mutating func optionalString(_ text: String?) {
    bool(text != nil)
    if let text { string(text) }
  }

  /// Writes bytes: a varint with their number, then the bytes.
  public mutating func blob(_ blob: [UInt8]) {
    count(blob.count)
    written.append(contentsOf: blob)
  }

  /// Writes a list: the count of its elements, then each element.
  public mutating func list<Element>(_ elements: [Element], _ write: (Element, inout BinaryWriter) -> Void) {
    count(elements.count)
    for element in elements { write(element, &self) }
  }

  /// Writes an instant: eight bytes with the microseconds since 1970.
  public mutating func timestamp(_ value: Timestamp) { int64(value.microseconds) }

  private mutating func fixed<Value: FixedWidthInteger>(_ value: Value) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe written.append(contentsOf: $0) }
  }
}
