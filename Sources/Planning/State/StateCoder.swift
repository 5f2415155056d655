import Domain
import JSON

/// One pass over the numbers of a device or an instance: it finds the parts that are present, writes them, or reads
/// them. One list of the numbers serves all passes.
///
/// A record begins with the set of its parts that are present. So a record takes two passes to be written: `PartNoter` finds
/// the parts, then `OutputSpan` takes them. A third coder, `BinaryReader`, reads them. The compiler makes a copy of a list for
/// each coder.
protocol StateCoder: NumberCoder, ~Copyable, ~Escapable {
  /// Whether the pass looks for the parts that are present, and codes nothing.
  static var notes: Bool { get }
}

extension StateCoder where Self: ~Copyable, Self: ~Escapable {
  /// Returns whether a part is to be coded. The pass that notes parts adds it to the set instead.
  /// - Parameters:
  ///   - part: The bit of the part.
  ///   - isThere: Whether the value differs from the initial one. Used only by the pass that notes parts.
  ///   - parts: The parts that are present.
  @inline(__always)
  static func codes<Parts: OptionSet>(_ part: Parts, _ isThere: Bool, _ parts: inout Parts) -> Bool
  where Parts.Element == Parts {
    guard notes else { return parts.contains(part) }
    if isThere { parts.insert(part) }
    return false
  }

  /// Codes an instant relative to `base`, and makes it the new `base`. µs.
  @inline(__always)
  mutating func instant(_ value: inout Timestamp, movingBase base: inout Int64, _ what: StaticString) throws(Failure) {
    try instant(&value, since: base, what)
    base = value.microseconds
  }

  /// Codes an instant relative to `base`. µs.
  @inline(__always)
  mutating func instant(_ value: inout Timestamp, since base: Int64, _ what: StaticString) throws(Failure) {
    var distance = value.microseconds &- base
    try zigzag(&distance, what)
    value = Timestamp(microseconds: base &+ distance)
  }

  /// Codes an instant that is a whole second, relative to the second of `base`, which is in µs.
  @inline(__always)
  mutating func wholeSecond(_ value: inout Timestamp, since base: Int64, _ what: StaticString) throws(Failure) {
    var distance = value.microseconds / 1_000_000 &- base / 1_000_000
    try zigzag(&distance, what)
    value = Timestamp(microseconds: 0) + .seconds(distance &+ base / 1_000_000)
  }

  /// Codes a 32-bit count of seconds since 1970, which may have wrapped, relative to the second of `base`, which is in
  /// µs.
  @inline(__always)
  mutating func second(_ value: inout UInt32, since base: Int64, _ what: StaticString) throws(Failure) {
    let origin = UInt32(truncatingIfNeeded: base / 1_000_000)
    var distance = Int64(Int32(bitPattern: value &- origin))
    try zigzag(&distance, what)
    value = UInt32(truncatingIfNeeded: Int64(origin) &+ distance)
  }
}

extension OutputSpan<UInt8> {
  /// Appends the length of a text as a varint, then the text.
  mutating func append(lengthAnd text: Span<UInt8>) {
    append(varint: UInt64(text.count))
    append(text)
  }
}

/// The pass that finds the parts of a record that are present. It may change the value that it is given, so callers
/// pass a copy.
struct PartNoter: StateCoder {
  static var notes: Bool { true }

  mutating func uint8(_ value: inout UInt8, _ what: StaticString) {}
  mutating func varint(_ value: inout UInt16, _ what: StaticString) {}
  mutating func varint(_ value: inout UInt32, _ what: StaticString) {}
  mutating func zigzag(_ value: inout Int64, _ what: StaticString) {}
  mutating func float(_ value: inout Float, _ what: StaticString) {}
  mutating func tag<Tag: RawRepresentable & CaseIterable>(
    _ tag: inout Tag, _ what: StaticString
  ) where Tag.RawValue == UInt8 {}
}

/// The pass that writes, into room that was reserved before.
extension OutputSpan<UInt8>: StateCoder { static var notes: Bool { false } }

extension BinaryWriter: StateCoder { static var notes: Bool { false } }

extension BinaryReader: StateCoder { static var notes: Bool { false } }
