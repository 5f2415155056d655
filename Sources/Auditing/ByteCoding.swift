/// Writes numbers in as few bytes as they need.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func unsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Small magnitudes of either sign are short.
  mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: value << 1 ^ value >> 63)) }

  mutating func text(_ value: String) {
    unsigned(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  mutating func blob(_ value: ArraySlice<UInt8>) {
    unsigned(UInt64(value.count))
    bytes += value
  }

  /// How many, then each.
  mutating func list<Element>(_ elements: [Element], _ write: (Element, inout ByteWriter) -> Void) {
    unsigned(UInt64(elements.count))
    for element in elements { write(element, &self) }
  }

  /// Forgets what was written and keeps the memory.
  mutating func reset() { bytes.removeAll(keepingCapacity: true) }
}

/// Reads what `ByteWriter` wrote; a damaged row is an error, never a trap.
struct ByteReader {
  private let bytes: [UInt8]
  /// Of the next byte.
  private(set) var index: Int

  init(_ bytes: [UInt8], from index: Int = 0) {
    self.bytes = bytes
    self.index = index
  }

  var isAtEnd: Bool { index == bytes.count }

  mutating func unsigned() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while index < bytes.count, shift < 64 {
      let byte = bytes[index]
      index += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw StoredValueError(reason: "holds a number that is cut off")
  }

  mutating func signed() throws -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// How many elements follow: never more than the bytes that are left.
  mutating func count() throws -> Int {
    let value = try unsigned()
    guard value <= UInt64(bytes.count - index) else { throw StoredValueError(reason: "holds a list that is cut off") }
    return Int(value)
  }

  mutating func text() throws -> String {
    let count = try count()
    defer { index += count }
    return String(decoding: bytes[index..<index + count], as: UTF8.self)
  }

  mutating func blob() throws -> [UInt8] {
    let count = try count()
    defer { index += count }
    return Array(bytes[index..<index + count])
  }

  /// What `ByteWriter.list` wrote; every element takes at least one byte.
  mutating func list<Element>(_ read: (inout ByteReader) throws -> Element) throws -> [Element] {
    try (0..<(try count())).map { _ in try read(&self) }
  }
}
