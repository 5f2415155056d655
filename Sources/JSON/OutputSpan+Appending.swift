extension OutputSpan<UInt8> {
  /// The largest number of bytes that `append(decimal:)` writes: the digits of the largest `UInt64`.
  @inlinable public static var decimalMax: Int { 20 }

  /// Appends a number in decimal digits. There must be room for ``decimalMax`` bytes.
  @inlinable @inline(__always)
  public mutating func append(decimal value: UInt64) {
    if value < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = 20
    var rest = value
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      start -= 1
      digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
      rest = quotient
    } while rest > 0
    for at in start..<20 { append(digits[at]) }
  }

  /// The largest number of bytes that `append(rounded:)` writes: the longest text of a `Double` has 24.
  @inlinable public static var roundedMax: Int { 24 }

  /// Appends a number rounded to six decimals, without trailing zeros; from ±10⁹ on as ``JSONWriter/number(_:)`` writes it.
  /// There must be room for ``roundedMax`` bytes.
  @inlinable @inline(__always)
  public mutating func append(rounded value: Double) {
    guard value.magnitude < 1e9 else { return append(number: value) }
    let scaled = Int64((value * 1e6).rounded())
    let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    if scaled < 0 { append(UInt8(ascii: "-")) }
    append(decimal: whole)
    if fraction > 0 { append(millionths: fraction) }
  }

  /// Appends the shortest text that reads back as the same number; whole numbers without `.0`, infinities and NaN as `null`.
  @usableFromInline
  mutating func append(number value: Double) {
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
      if whole < 0 { append(UInt8(ascii: "-")) }
      append(decimal: whole.magnitude)
    } else {
      let text = value.isFinite ? value.description : "null"
      append(text.utf8.span)
    }
  }

  /// Appends `.` and up to six digits of a fraction in millionths, without trailing zeros. There must be room for them.
  @inlinable @inline(__always)
  mutating func append(millionths fraction: UInt64) {
    append(UInt8(ascii: "."))
    var rest = fraction
    while rest > 0 {
      // The compiler turns a division by a constant into a multiplication.
      let (digit, remainder) = (rest &* 10).quotientAndRemainder(dividingBy: 1_000_000)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = remainder
    }
  }

  /// Appends a text. There must be room for it.
  @inlinable @inline(__always)
  public mutating func append(_ text: StaticString) { text.withUTF8Buffer { unsafe append($0) } }

  /// Appends bytes in one copy. There must be room for them.
  @inlinable @inline(__always)
  public mutating func append(_ source: Span<UInt8>) {
    // The buffer lives as long as the span, which outlives the call.
    unsafe source.withUnsafeBufferPointer { unsafe append($0) }
  }

  /// The largest number of bytes that `append(quoted:)` writes for a text: every byte escaped, and the quotes.
  /// - Parameter count: The number of UTF-8 bytes of the text.
  @inlinable public static func quotedMax(_ count: Int) -> Int { 6 * count + 2 }

  /// Returns the number of bytes that `append(quoted:)` writes for a text.
  /// - Parameter text: The text in UTF-8, which is not checked.
  public static func quotedCount(_ text: Span<UInt8>) -> Int {
    var count = text.count + 2
    for place in text.indices { count += JSONEscapes.bytesAdded(text[place]) }
    return count
  }

  /// Appends a text as a JSON string, escaped where needed. There must be room for ``quotedMax(_:)`` bytes.
  /// - Parameter text: The text in UTF-8, which is not checked.
  @inlinable @inline(__always)
  public mutating func append(quoted text: Span<UInt8>) {
    append(UInt8(ascii: "\""))
    // The buffer lives as long as the span, which outlives the call.
    unsafe text.withUnsafeBufferPointer { text in
      if unsafe JSONEscapes.first(in: text, from: 0) == text.count {
        unsafe append(text)
      } else {
        unsafe append(escaping: text)
      }
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends a text and escapes it. Runs of bytes that need no escape are copied at once.
  @usableFromInline
  mutating func append(escaping text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while start < text.count {
      let end = unsafe JSONEscapes.first(in: text, from: start)
      unsafe append(UnsafeBufferPointer(rebasing: text[start..<end]))
      if end < text.count { append(escape: unsafe text[end]) }
      start = end + 1
    }
  }

  private mutating func append(escape byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      let low = byte & 15
      append("u00")
      append(UInt8(ascii: "0") + (byte >> 4))
      append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }

  /// Appends bytes in one copy. There must be room for them.
  @inlinable @inline(__always)
  mutating func append(_ source: UnsafeBufferPointer<UInt8>) {
    precondition(freeCapacity >= source.count, "there is room for what is appended")
    // The source is valid for the call, and the check above guarantees room for all of it.
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe _ = buffer.extracting(count...).initialize(fromContentsOf: source)
      count += source.count
    }
  }
}

/// The search for bytes that a JSON string must escape.
@usableFromInline
enum JSONEscapes {
  /// Returns the number of bytes by which the escape of a byte is longer than the byte; 0 if it needs no escape.
  static func bytesAdded(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: 1
    case 0..<0x20: 5
    default: 0
    }
  }

  /// Returns the index of the first byte from `start` on that must be escaped, or the end of the text. Tests eight bytes at a
  /// time (S. E. Anderson, "Bit Twiddling Hacks": a byte less than n, a byte equal to n).
  @usableFromInline
  static func first(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = start
    while at + 8 <= text.count {
      // In bounds by the condition above; alignment does not matter.
      let word = unsafe UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let control = (word &- ones &* 0x20) & ~word
      if (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & (ones &* 0x80) != 0 { break }
      at += 8
    }
    while at < text.count {
      let byte = unsafe text[at]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return at }
      at += 1
    }
    return at
  }
}
