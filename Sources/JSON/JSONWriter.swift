/// Writes JSON text to a byte buffer that it keeps. Make one writer per thread and call ``reset()`` between documents.
///
/// The writer puts the commas. The caller is responsible for the order of the calls, which is not checked.
public struct JSONWriter: Sendable {
  /// The bytes that have been written so far.
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8] = []
  @usableFromInline var needsComma = false

  /// Makes a writer.
  /// - Parameter capacity: The number of bytes to reserve at once.
  public init(reserving capacity: Int = 0) { written.reserveCapacity(capacity) }

  /// Discards the written text and keeps the memory.
  public mutating func reset() {
    written.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// The text that has been written so far.
  public var text: String { String(decoding: written, as: UTF8.self) }

  /// Opens an object.
  public mutating func beginObject() { begin(UInt8(ascii: "{")) }
  /// Closes the innermost object.
  public mutating func endObject() { end(UInt8(ascii: "}")) }
  /// Opens an array.
  public mutating func beginArray() { begin(UInt8(ascii: "[")) }
  /// Closes the innermost array.
  public mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Writes the key of the value that comes next.
  /// - Parameter key: A key without characters that JSON must escape.
  public mutating func key(_ key: StaticString) {
    key.withUTF8Buffer { unsafe quoted($0, endsWithColon: true) }
    needsComma = false
  }

  /// Writes the key of the value that comes next, escaped where needed. Disfavoured, so that a literal takes the overload for
  /// static strings, which does not search for characters to escape.
  @_disfavoredOverload
  public mutating func key(_ key: String) {
    string(key)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a text, escaped where needed.
  @_disfavoredOverload
  public mutating func string(_ text: String) {
    // Native strings are contiguous; others are copied once.
    if unsafe text.utf8.withContiguousStorageIfAvailable({ unsafe string(of: $0) }) == nil {
      var text = text
      text.withUTF8 { unsafe string(of: $0) }
    }
  }

  /// Writes a text without searching for characters to escape.
  /// - Parameter text: A text without characters that JSON must escape.
  public mutating func string(_ text: StaticString) {
    text.withUTF8Buffer { unsafe quoted($0, endsWithColon: false) }
    needsComma = true
  }

  /// Writes a text that a closure appends.
  /// - Parameter append: Appends UTF-8 bytes without characters that JSON must escape.
  public mutating func string(appending append: (inout [UInt8]) -> Void) {
    comma()
    written.append(UInt8(ascii: "\""))
    append(&written)
    written.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes JSON text in one piece. For a document of many small parts this costs a fraction of writing them one by one,
  /// because the capacity is checked once.
  /// - Parameters:
  ///   - count: The largest number of bytes of the text.
  ///   - append: Appends the text, with the commas before and within it.
  @inlinable @inline(__always)
  public mutating func piece(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: count, initializingWith: append)
    needsComma = true
  }

  /// Begins a new document behind those in the buffer, which are kept.
  /// - Parameter prefix: Bytes that are written before the document, unchanged.
  public mutating func beginDocument(after prefix: Span<UInt8>) {
    piece(ofAtMost: prefix.count) { (room: inout OutputSpan<UInt8>) in room.append(prefix) }
    needsComma = false
  }

  /// Begins a new document behind those in the buffer, on a line of its own.
  public mutating func beginLine() {
    written.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// The number of bytes that have been written so far.
  @inlinable public var count: Int { written.count }

  /// Swaps the written bytes with those of `other`. The writer then appends to what `other` held.
  /// - Parameter other: The bytes to append to from now on. Receives the bytes that the writer held.
  public mutating func exchange(_ other: inout [UInt8]) { swap(&written, &other) }

  /// Writes an integer of at most 64 bits in decimal digits, without an exponent.
  @inlinable
  public mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    let needsComma = needsComma
    written.append(addingCapacity: 21) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      if value < 0 { room.append(UInt8(ascii: "-")) }
      room.append(decimal: UInt64(value.magnitude))
    }
    self.needsComma = true
  }

  /// Writes the shortest text that reads back as the same number; whole numbers without `.0`. Infinities and NaN, which JSON
  /// lacks, are written as `null`.
  public mutating func number(_ value: Double) {
    let needsComma = needsComma
    piece(ofAtMost: OutputSpan<UInt8>.roundedMax + 1) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(number: value)
    }
  }

  /// Writes a number rounded to six decimals, without trailing zeros. From ±10⁹ on it is written as ``number(_:)`` does.
  public mutating func rounded(_ value: Double) {
    let needsComma = needsComma
    piece(ofAtMost: OutputSpan<UInt8>.roundedMax + 1) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(rounded: value)
    }
  }

  /// Writes a boolean.
  public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

  /// Writes `null`.
  public mutating func null() { raw("null") }

  /// Writes JSON text unchanged.
  /// - Parameter json: The text of exactly one value.
  public mutating func raw(_ json: String) {
    comma()
    written.append(contentsOf: json.utf8)
    needsComma = true
  }

  /// Writes a value that was read from a document, without white space and with its keys in document order.
  public mutating func value(_ node: JSONNode) {
    switch node.kind {
    case .null: null()
    case .bool: bool(node.boolIfAny ?? false)
    case .number:
      switch node.literalIfAny {
      case .integer(let value): integer(value)
      case .unsigned(let value): integer(value)
      case .largeInteger(let value), .decimal(let value): number(value)
      case nil: number(0)
      }
    case .string: string(node.stringIfAny ?? "")
    case .array:
      beginArray()
      for element in node.elements { value(element) }
      endArray()
    case .object:
      beginObject()
      for (name, member) in node.members {
        key(name.stringIfAny ?? "")
        value(member)
      }
      endObject()
    }
  }

  private mutating func comma() {
    if needsComma { written.append(UInt8(ascii: ",")) }
  }

  private mutating func begin(_ bracket: UInt8) {
    comma()
    written.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    written.append(bracket)
    needsComma = true
  }

  private mutating func raw(_ json: StaticString) {
    comma()
    json.withUTF8Buffer { unsafe written.append(contentsOf: $0) }
    needsComma = true
  }

  /// Writes a text, escaped where needed. If nothing must be escaped, this costs one search and one copy.
  private mutating func string(of text: UnsafeBufferPointer<UInt8>) {
    if unsafe JSONEscapes.first(in: text, from: 0) == text.count {
      unsafe quoted(text, endsWithColon: false)
    } else {
      comma()
      written.append(addingCapacity: OutputSpan<UInt8>.quotedMax(text.count)) { (room: inout OutputSpan<UInt8>) in
        room.append(UInt8(ascii: "\""))
        unsafe room.append(escaping: text)
        room.append(UInt8(ascii: "\""))
      }
    }
    needsComma = true
  }

  /// Appends a text in quotes unchanged and in one piece. Appending byte by byte would check each time whether there is room
  /// and whether the buffer is shared.
  private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>, endsWithColon: Bool) {
    let needsComma = needsComma
    written.append(addingCapacity: text.count + 4) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(UInt8(ascii: "\""))
      unsafe room.append(text)
      room.append(UInt8(ascii: "\""))
      if endsWithColon { room.append(UInt8(ascii: ":")) }
    }
  }
}
