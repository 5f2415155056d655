/// Reads a line of JSON that has an expected form from the front, without allocating. Every method moves behind what it accepts. After
/// a refusal the place means nothing, except that `skip` stays where it was.
@safe struct ByteCursor {
  /// The document. Whoever makes a cursor keeps the bytes alive while it is used. Every access is checked against `count`.
  private let bytes: UnsafeBufferPointer<UInt8>
  private let count: Int
  /// The offset of the next byte.
  private(set) var at: Int

  /// Creates a cursor.
  /// - Parameters:
  ///   - bytes: The document, which must outlive the cursor.
  ///   - at: The offset of the first byte to read, at most the number of bytes.
  init(_ bytes: UnsafeBufferPointer<UInt8>, at: Int) {
    unsafe self.bytes = unsafe bytes
    count = bytes.count
    self.at = at
  }

  /// Whether the line ends here.
  var isAtEndOfLine: Bool { at == count || isBefore(UInt8(ascii: "\n")) }

  /// Returns whether the next byte is `byte`.
  func isBefore(_ byte: UInt8) -> Bool { at < count && self[at] == byte }

  /// Returns whether the last byte was `byte`.
  func isBehind(_ byte: UInt8) -> Bool { at > 0 && self[at - 1] == byte }

  /// The byte at an offset, which must lie in the document.
  @inline(__always)
  private subscript(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < count, "the cursor reads inside of its document")
    return unsafe bytes[offset]
  }

  /// Moves behind a literal, if it comes next.
  @inline(__always)
  mutating func skip(_ literal: StaticString) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard length <= count - at else { return false }
    // A literal lives for ever. Both runs of `length` bytes are in bounds, by the check above.
    let (raw, wanted) = unsafe (UnsafeRawBufferPointer(bytes), UnsafeRawPointer(literal.utf8Start))
    var offset = 0
    while offset + 8 <= length {
      let expected = unsafe wanted.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard unsafe raw.loadUnaligned(fromByteOffset: at + offset, as: UInt64.self) == expected else { return false }
      offset += 8
    }
    while offset < length {
      guard unsafe raw[at + offset] == wanted.load(fromByteOffset: offset, as: UInt8.self) else { return false }
      offset += 1
    }
    at += length
    return true
  }

  /// Reads the text of a string up to its closing quote. Refuses an empty one, one of more than `bytesMax` bytes, escapes, controls
  /// and bytes that are not UTF-8.
  @inline(__always)
  mutating func text(_ place: inout DecisionLine.Place, bytesMax: Int = DomainBounds.nameBytesMax) -> Bool {
    let start = at
    guard let isASCII = moveToQuote(), (1...bytesMax).contains(at - start), isASCII || isUTF8(from: start) else {
      return false
    }
    place = DecisionLine.Place(start, at)
    return true
  }

  /// Moves to the next quote.
  /// - Returns: Whether only ASCII was passed; nil if an escape, a control or the end comes first.
  private mutating func moveToQuote() -> Bool? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high = ones &* 0x80
    let raw = unsafe UnsafeRawBufferPointer(bytes)
    var seen: UInt64 = 0
    while at + 8 <= count {
      // In bounds by the condition above. The lowest mark is exact (S. E. Anderson, "Bit Twiddling Hacks").
      let word = UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let control = (word &- ones &* 0x20) & ~word
      let marks = (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & high
      if marks != 0 {
        let place = marks.trailingZeroBitCount / 8
        seen |= word & ((1 << UInt64(place * 8)) &- 1)
        at += place
        return self[at] == UInt8(ascii: "\"") ? seen & high == 0 : nil
      }
      seen |= word
      at += 8
    }
    while at < count {
      let byte = self[at]
      if byte == UInt8(ascii: "\"") { return seen & high == 0 }
      if byte < 0x20 || byte == UInt8(ascii: "\\") { return nil }
      seen |= UInt64(byte)
      at += 1
    }
    return nil
  }

  private func isUTF8(from start: Int) -> Bool {
    do throws(UTF8.ValidationError) {
      // In bounds: the cursor has passed these bytes.
      _ = try UTF8Span(validating: unsafe bytes.extracting(start..<at).span)
      return true
    } catch {
      return false
    }
  }

  /// Reads the word of a code up to its closing quote.
  @inline(__always)
  mutating func code<Code: NumberedCode>(_ code: inout Code, _ table: CodeTable<Code>) -> Bool {
    let start = at
    // In bounds: the cursor has passed these bytes.
    guard moveToQuote() != nil, let known = table.code(unsafe bytes.extracting(start..<at).span) else { return false }
    code = known
    return true
  }

  /// Reads an instant up to its closing quote.
  @inline(__always)
  mutating func instant(_ instant: inout Timestamp) -> Bool {
    let start = at
    // In bounds: the cursor has passed these bytes.
    guard moveToQuote() != nil, let known = Timestamp(rfc3339: unsafe bytes.extracting(start..<at).span) else {
      return false
    }
    instant = known
    return true
  }

  /// Reads digits without a leading zero.
  /// - Parameter digitsMax: The largest number of digits that is accepted, at most 18.
  private mutating func whole(digitsMax: Int) -> Int64? {
    let start = at
    var value: Int64 = 0
    while at < count, self[at] &- UInt8(ascii: "0") < 10 {
      guard at - start < digitsMax, value > 0 || at == start else { return nil }
      value = value * 10 + Int64(self[at] &- UInt8(ascii: "0"))
      at += 1
    }
    return at > start ? value : nil
  }

  /// Reads a number of at most nine digits before the point and six behind it, without an exponent. It is exact: both the digits as an
  /// integer and the power of ten are doubles, so that their quotient is the nearest double.
  mutating func number(_ number: inout Double) -> Bool {
    let isNegative = skip("-")
    guard var digits = whole(digitsMax: 9) else { return false }
    if skip(".") {
      let start = at
      while at < count, at - start < 6, self[at] &- UInt8(ascii: "0") < 10 {
        digits = digits * 10 + Int64(self[at] &- UInt8(ascii: "0"))
        at += 1
      }
      guard at > start, at == count || self[at] &- UInt8(ascii: "0") >= 10 else { return false }
      for _ in at - start..<6 { digits *= 10 }
    } else {
      digits *= 1_000_000
    }
    // A zero with a sign is left to the decoder.
    guard !(isNegative && digits == 0), !isBefore(UInt8(ascii: "e")), !isBefore(UInt8(ascii: "E")) else { return false }
    number = Double(isNegative ? -digits : digits) / 1e6
    return true
  }

  /// Reads an integer of at most 18 digits, without a point or an exponent.
  mutating func count(_ count: inout Int?) -> Bool {
    let isNegative = skip("-")
    guard let value = whole(digitsMax: 18), !(isNegative && value == 0) else { return false }
    count = Int(isNegative ? -value : value)
    return true
  }
}
