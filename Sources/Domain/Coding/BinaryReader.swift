/// The reason why the bytes of an internal record cannot be read.
public enum BinaryError: Error, Equatable, Sendable {
  /// The record ends at `offset`, in the middle of a field; `what` names the field.
  case truncated(offset: Int, what: String)
  /// The bytes are not what was expected; `what` is the expected content, in words that follow "expected". `offset` is
  /// near the place: at or behind it.
  case corrupt(offset: Int, what: String)
  /// A newer release of the program wrote the record.
  case newerVersion(found: UInt8, newestKnown: UInt8)
}

extension BinaryError: CustomStringConvertible {
  /// The message: where the record is damaged, or that a newer program wrote it.
  public var description: String {
    switch self {
    case .truncated(let offset, let what): "the record ends at byte \(offset), in the middle of \(what)"
    case .corrupt(let offset, let what): "the record is corrupt at byte \(offset): expected \(what)"
    case .newerVersion(let found, let newest):
      "the record has format version \(found), and this program knows versions up to \(newest): upgrade it"
    }
  }
}

/// Reads records that `BinaryWriter` wrote. The bytes may be anything: every field is checked, and a damaged one is refused with
/// its place.
///
/// Every method that reads takes the name of the field for messages, and throws `BinaryError` if the record ends before the
/// field does, or if the bytes cannot be such a field.
public struct BinaryReader: Sendable {
  /// All bytes that the reader was given. Callers that keep texts as byte ranges look the texts up here.
  public let bytes: [UInt8]
  @usableFromInline let range: Range<Int>
  /// The texts that recur; nil if every text is made anew.
  var recurring: RecurringTexts?
  /// The place of the next byte in `bytes`.
  @usableFromInline var next: Int

  /// Reads all of `bytes`.
  public init(_ bytes: [UInt8]) { self.init(bytes, in: bytes.indices) }

  /// Reads a part of `bytes`, which is not copied.
  /// - Parameters:
  ///   - bytes: the bytes.
  ///   - range: the part, which must lie in the bytes.
  public init(_ bytes: [UInt8], in range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the range lies in the bytes")
    self.bytes = bytes
    self.range = range
    next = range.lowerBound
  }

  /// The number of bytes that have been read.
  public var offset: Int { next - range.lowerBound }

  /// The number of bytes that are still to be read.
  public var remaining: Int { range.upperBound - next }

  /// Reads one byte.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func uint8(_ what: StaticString = "a byte") throws(BinaryError) -> UInt8 {
    guard next < range.upperBound else { throw .truncated(offset: range.count, what: "\(what)") }
    defer { next += 1 }
    return bytes[next]
  }

  /// Reads a byte that is 0 or 1.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func bool(_ what: StaticString = "a flag") throws(BinaryError) -> Bool {
    switch try uint8(what) {
    case 0: return false
    case 1: return true
    default: throw .corrupt(offset: offset - 1, what: "\(what) (0 or 1)")
    }
  }

  /// Reads a varint of 1 to 10 bytes.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  @inlinable
  public mutating func varint(_ what: StaticString = "an integer") throws(BinaryError) -> UInt64 {
    if next < range.upperBound {
      let byte = bytes[next]
      if byte < 0x80 {
        next += 1
        return UInt64(byte)
      }
    }
    return try longVarint(what)
  }

  @usableFromInline
  mutating func longVarint(_ what: StaticString) throws(BinaryError) -> UInt64 {
    let start = offset
    let end = range.upperBound
    var place = next
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while place < end {
      let byte = bytes[place]
      place += 1
      guard shift < 63 || byte <= 1 else { throw .corrupt(offset: start, what: "\(what) of at most 64 bits") }
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 {
        next = place
        return value
      }
      shift += 7
    }
    throw .truncated(offset: range.count, what: "\(what)")
  }

  /// Reads a varint that fits in a smaller integer type.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func integer<Value: FixedWidthInteger>(
    _ what: StaticString = "an integer"
  ) throws(BinaryError) -> Value {
    try narrow(what)
  }

  @inline(__always)
  private mutating func narrow<Value: FixedWidthInteger>(_ what: StaticString) throws(BinaryError) -> Value {
    let start = offset
    guard let value = Value(exactly: try varint(what)) else {
      throw .corrupt(offset: start, what: "\(what) of at most \(Value.bitWidth) bits")
    }
    return value
  }

  // Without these, other modules would call the generic method, which looks the type up at run time.

  /// Reads a varint that fits in 8 bits.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func integer(_ what: StaticString = "an integer") throws(BinaryError) -> UInt8 { try narrow(what) }

  /// Reads a varint that fits in 16 bits.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func integer(_ what: StaticString = "an integer") throws(BinaryError) -> UInt16 { try narrow(what) }

  /// Reads a varint that fits in 32 bits.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func integer(_ what: StaticString = "an integer") throws(BinaryError) -> UInt32 { try narrow(what) }

  /// Reads a varint that fits in an `Int`.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func integer(_ what: StaticString = "an integer") throws(BinaryError) -> Int { try narrow(what) }

  /// Reads a signed varint.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func zigzag(_ what: StaticString = "an integer") throws(BinaryError) -> Int64 {
    let value = try varint(what)
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Reads a count of elements, but not the elements. Each of them takes at least one byte, so a count larger than the
  /// number of bytes that are left is refused.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func count(_ what: StaticString = "a count") throws(BinaryError) -> Int {
    let start = offset
    let value = try varint(what)
    guard value <= UInt64(remaining) else { throw .corrupt(offset: start, what: "\(what) of at most \(remaining)") }
    return Int(value)
  }

  /// Reads a signed integer of eight bytes, little endian.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func int64(_ what: StaticString = "an integer") throws(BinaryError) -> Int64 {
    Int64(bitPattern: try fixed(what))
  }

  /// Reads a floating-point number: the eight bytes of its IEEE 754 bit pattern, little endian.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func double(_ what: StaticString = "a number") throws(BinaryError) -> Double {
    Double(bitPattern: try fixed(what))
  }

  /// Reads a floating-point number: the four bytes of its IEEE 754 bit pattern, little endian.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func float(_ what: StaticString = "a number") throws(BinaryError) -> Float {
    Float(bitPattern: try fixed(what))
  }

  /// Reads a text: a varint with its length in bytes, then its UTF-8.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func string(_ what: StaticString = "a text") throws(BinaryError) -> String {
    let start = offset
    let range = try lengthPrefixed(what)
    do throws(UTF8.ValidationError) {
      return String(copying: try UTF8Span(validating: bytes.span.extracting(range)))
    } catch {
      throw .corrupt(offset: start, what: "\(what) in UTF-8")
    }
  }

  /// Reads a text that probably recurs from record to record.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  mutating func recurringText(_ what: StaticString) throws(BinaryError) -> Identifier {
    let start = next
    let range = try lengthPrefixed(what)
    var place = -1
    if let known = recurring?.find(bytes.span.extracting(range), &place) { return known }
    next = start
    let text = Identifier(try string(what))
    recurring?.keep(text, at: place)
    return text
  }

  /// Reads a text as `string(_:)` does, but returns only its place in `bytes`.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func text(_ what: StaticString = "a text") throws(BinaryError) -> Range<Int> {
    let length = try varint(what)
    return try text(count: length, what)
  }

  /// Reads UTF-8 whose length, `count` bytes, is known already, and returns its place in `bytes`.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func text(count: UInt64, _ what: StaticString = "a text") throws(BinaryError) -> Range<Int> {
    let range = try place(count: count, what)
    guard Self.isUTF8(bytes.span.extracting(range)) else { throw .corrupt(offset: offset, what: "\(what) in UTF-8") }
    return range
  }

  /// Reads bytes as `blob(_:)` does, but returns only their place in `bytes`.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func blobPlace(_ what: StaticString = "bytes") throws(BinaryError) -> Range<Int> {
    try lengthPrefixed(what)
  }

  private static func isUTF8(_ text: Span<UInt8>) -> Bool {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: text)
      return true
    } catch {
      return false
    }
  }

  /// Reads a text that may be nil: one byte, 0 for nil or 1, and after a 1 the text.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func optionalString(_ what: StaticString = "a text") throws(BinaryError) -> String? {
    try bool(what) ? try string(what) : nil
  }

  /// Reads bytes: a varint with their number, then the bytes.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func blob(_ what: StaticString = "bytes") throws(BinaryError) -> [UInt8] {
    Array(bytes[try lengthPrefixed(what)])
  }

  /// Reads an instant: eight bytes with the microseconds since 1970.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func timestamp(_ what: StaticString = "an instant") throws(BinaryError) -> Timestamp {
    Timestamp(microseconds: try int64(what))
  }

  /// Reads a case of an enumeration, which is written as its text.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func choice<Value: RawRepresentable>(
    _ what: StaticString
  ) throws(BinaryError) -> Value where Value.RawValue == String {
    let start = offset
    guard let value = Value(rawValue: try string(what)) else { throw .corrupt(offset: start, what: "\(what)") }
    return value
  }

  /// Reads a list: the count of its elements, then each element.
  /// - Parameter read: reads one element, which takes at least one byte.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public mutating func list<Element>(
    _ read: (inout BinaryReader) throws(BinaryError) -> Element
  ) throws(BinaryError) -> [Element] {
    let count = try count("a count of elements")
    var elements: [Element] = []
    elements.reserveCapacity(min(count, 64))
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  /// Reads everything that is left, and returns its place in `bytes`.
  public mutating func rest() -> Range<Int> {
    defer { next = range.upperBound }
    return next..<range.upperBound
  }

  /// Checks that no bytes are left.
  /// - Throws: `BinaryError` if the bytes end before, or are damaged.
  public func end() throws(BinaryError) {
    if remaining > 0 { throw .corrupt(offset: offset, what: "the end of the record, not \(remaining) more bytes") }
  }

  private mutating func lengthPrefixed(_ what: StaticString) throws(BinaryError) -> Range<Int> {
    try place(count: try varint(what), what)
  }

  private mutating func place(count: UInt64, _ what: StaticString) throws(BinaryError) -> Range<Int> {
    guard count <= UInt64(remaining) else { throw .truncated(offset: range.count, what: "\(what)") }
    defer { next += Int(count) }
    return next..<next + Int(count)
  }

  private mutating func fixed<Value: FixedWidthInteger & UnsignedInteger>(
    _ what: StaticString
  ) throws(BinaryError) -> Value {
    let width = Value.bitWidth / 8
    guard remaining >= width else { throw .truncated(offset: range.count, what: "\(what)") }
    var value: Value = 0
    for i in 0..<width { value |= Value(bytes[next + i]) << Value(i * 8) }
    next += width
    return value
  }
}
