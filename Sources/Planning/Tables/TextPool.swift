import Domain

/// The place of a text in a `TextPool`.
struct TextHandle: Hashable, Sendable {
  /// The place of the first byte, in units of four bytes.
  fileprivate(set) var place: UInt32

  /// The handle that stands for no text.
  static let absent = TextHandle(place: .max)

  /// Whether the handle stands for no text.
  var isAbsent: Bool { place == .max }
}

/// Byte strings in one buffer, each found by its handle. A text takes its bytes, one byte for the length, and up to
/// three bytes to fill a unit of four. The place of a removed text is used again for a text that takes the same number
/// of units.
struct TextPool {
  /// The bytes of all texts. Each text is its length (one byte, or 255 and four bytes), then its bytes.
  private(set) var bytes: ContiguousArray<UInt8> = []
  /// The free places by their size in units of four bytes.
  private var free: [Int: [TextHandle]] = [:]

  /// Makes room for this many bytes.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// Stores a text. A text that equals a stored one is stored again.
  /// - Returns: The handle of the text.
  mutating func insert(_ text: Span<UInt8>) -> TextHandle {
    let count = text.count
    let units = Self.units(count)
    if let handle = free.isEmpty ? nil : free[units]?.popLast() {
      var place = Int(handle.place) * 4
      writeLength(count, at: &place)
      for i in text.indices { bytes[place + i] = text[i] }
      return handle
    }
    let start = bytes.count
    // Capacity that was never written takes no memory.
    if bytes.capacity < start + units * 4 { bytes.reserveCapacity(start + max(units * 4, 4096, start)) }
    if count < 255 {
      bytes.append(UInt8(count))
    } else {
      bytes.append(255)
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
    // The span keeps the bytes alive for the whole call.
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    while bytes.count < start + units * 4 { bytes.append(0) }
    return TextHandle(place: UInt32(start / 4))
  }

  /// Removes a text; its handle is not valid any more.
  mutating func remove(_ handle: TextHandle) {
    let range = range(of: handle)
    free[Self.units(range.count), default: []].append(handle)
  }

  /// Returns the place of a text in `bytes`.
  @inline(__always)
  func range(of handle: TextHandle) -> Range<Int> {
    let start = Int(handle.place) * 4
    let count = Int(bytes[start])
    if count < 255 { return start + 1..<start + 1 + count }
    return longRange(start)
  }

  /// Asks the processor to load the begin of a text.
  func prefetch(_ handle: TextHandle) { bytes.prefetch(Int(handle.place) * 4) }

  private func longRange(_ start: Int) -> Range<Int> {
    var count = 0
    for i in 0..<4 { count |= Int(bytes[start + 1 + i]) << (8 * i) }
    return start + 5..<start + 5 + count
  }

  /// Returns a text as a string. Bytes that are not UTF-8 are replaced.
  func string(_ handle: TextHandle) -> String { String(decoding: bytes[range(of: handle)], as: UTF8.self) }

  /// Returns a text as an identifier. Bytes that are not UTF-8 are replaced.
  func identifier(_ handle: TextHandle) -> Identifier { Identifier(string(handle)) }

  /// Returns whether a stored text has the same bytes as an identifier (see `HashIndex.hash`).
  func isEqual(_ handle: TextHandle, _ text: Identifier) -> Bool { isEqual(handle, text.utf8.span) }

  /// Returns whether a stored text has the same bytes as `text`.
  @inline(__always)
  func isEqual(_ handle: TextHandle, _ text: Span<UInt8>) -> Bool {
    let isEqual = bytes.span.extracting(range(of: handle)).isEqual(to: text)
    return isEqual
  }

  private mutating func writeLength(_ count: Int, at place: inout Int) {
    if count < 255 {
      bytes[place] = UInt8(count)
      place += 1
      return
    }
    bytes[place] = 255
    for i in 0..<4 { bytes[place + 1 + i] = UInt8(truncatingIfNeeded: count >> (8 * i)) }
    place += 5
  }

  private static func units(_ count: Int) -> Int { (count + (count < 255 ? 1 : 5) + 3) / 4 }
}
