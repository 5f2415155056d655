extension OutputSpan<UInt8> {
  /// Digits of the largest `UInt64`: what `append(decimal:)` writes at most.
  public static var decimalMax: Int { 20 }

  /// Appends a number in decimal digits. There must be room for them.
  @inline(__always)
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

  /// A sign, ten digits, a point, six digits: what `append(rounded:)` writes at most.
  public static var roundedMax: Int { 18 }

  /// Appends a number rounded to six decimals, without trailing zeros. Its magnitude is below 10⁹, and there must be room.
  @inline(__always)
  public mutating func append(rounded value: Double) {
    let scaled = Int64((value * 1e6).rounded())
    let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    if scaled < 0 { append(UInt8(ascii: "-")) }
    append(decimal: whole)
    if fraction > 0 { append(millionths: fraction) }
  }

  /// Appends `.` and up to six digits of a fraction in millionths, without trailing zeros. There must be room for them.
  @inline(__always)
  mutating func append(millionths fraction: UInt64) {
    append(UInt8(ascii: "."))
    var rest = fraction
    var unit: UInt64 = 100_000
    while rest > 0 {
      let (digit, remainder) = rest.quotientAndRemainder(dividingBy: unit)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = remainder
      unit /= 10
    }
  }

  /// Appends a text. There must be room for it.
  @inline(__always)
  public mutating func append(_ text: StaticString) { text.withUTF8Buffer { unsafe append($0) } }

  /// Appends bytes in one go. There must be room for them.
  @inline(__always)
  public mutating func append(_ source: Span<UInt8>) {
    // The buffer lives as long as the span, which outlives the call.
    unsafe source.withUnsafeBufferPointer { unsafe append($0) }
  }

  /// Appends bytes in one go. There must be room for them.
  @inline(__always)
  mutating func append(_ source: UnsafeBufferPointer<UInt8>) {
    precondition(freeCapacity >= source.count, "there is room for what is appended")
    // Whoever lends the source keeps it for the call, and there is room for all of it.
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe _ = buffer.extracting(count...).initialize(fromContentsOf: source)
      count += source.count
    }
  }
}
