/// Appends values to a byte buffer, for internal records: little endian, lengths first, integers as varints.
public struct BinaryWriter: Sendable {
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8]

  /// Appends to `bytes`.
  public init(appendingTo bytes: consuming [UInt8] = []) { written = bytes }

  /// Forgets what was written and keeps the memory.
  public mutating func reset() { written.removeAll(keepingCapacity: true) }

  /// What `append` writes, in one piece: for many small values this costs a fraction of writing them one by one, where it
  /// is asked each time whether there is room.
  /// - Parameter count: of its bytes, at most.
  @inlinable @inline(__always)
  public mutating func piece(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: count, initializingWith: append)
  }

  public mutating func uint8(_ value: UInt8) { written.append(value) }

  public mutating func bool(_ value: Bool) { written.append(value ? 1 : 0) }

  /// LEB128: 7 bits a byte, 1 to 10 bytes.
  public mutating func varint(_ value: UInt64) {
    if value < 0x80 { return written.append(UInt8(truncatingIfNeeded: value)) }
    // Up to eight bytes are put together in a register and appended at once: appending asks each time who else has the
    // buffer.
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
    // The first bytes of a number that lives for the call.
    unsafe withUnsafeBytes(of: packed.littleEndian) { buffer in
      unsafe written.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<width]))
    }
    while rest >= 0x80 {
      written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    if rest > 0 { written.append(UInt8(truncatingIfNeeded: rest)) }
  }

  /// A count or a length.
  public mutating func count(_ value: Int) { varint(UInt64(max(value, 0))) }

  /// A signed varint: small magnitudes are short.
  public mutating func zigzag(_ value: Int64) { varint(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  /// Eight bytes.
  public mutating func int64(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

  /// The eight bytes of its bit pattern.
  public mutating func double(_ value: Double) { fixed(value.bitPattern) }

  /// The four bytes of its bit pattern.
  public mutating func float(_ value: Float) { fixed(value.bitPattern) }

  /// Length and UTF-8.
  public mutating func string(_ text: String) {
    count(text.utf8.count)
    written.append(contentsOf: text.utf8)
  }

  /// UTF-8 without a length, of a text given as such.
  public mutating func text(utf8 text: Span<UInt8>) {
    // The bytes live as long as the span, which outlives the call.
    unsafe text.withUnsafeBufferPointer { unsafe written.append(contentsOf: $0) }
  }

  /// UTF-8 without a length: the caller knows where it ends.
  public mutating func text(_ text: String) { written.append(contentsOf: text.utf8) }

  /// 0, or 1 and the string.
  public mutating func optionalString(_ text: String?) {
    bool(text != nil)
    if let text { string(text) }
  }

  /// Length and bytes.
  public mutating func blob(_ blob: [UInt8]) {
    count(blob.count)
    written.append(contentsOf: blob)
  }

  /// A count, then each element.
  public mutating func list<Element>(_ elements: [Element], _ write: (Element, inout BinaryWriter) -> Void) {
    count(elements.count)
    for element in elements { write(element, &self) }
  }

  public mutating func timestamp(_ value: Timestamp) { int64(value.microseconds) }

  private mutating func fixed<Value: FixedWidthInteger>(_ value: Value) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe written.append(contentsOf: $0) }
  }
}
