/// Writes JSON text to a byte buffer that it keeps: make one per thread, `reset()` it between documents. Commas are its
/// business, the right order of calls is the caller's.
public struct JSONWriter: Sendable {
  /// What has been written so far.
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8] = []
  @usableFromInline var needsComma = false

  public init(reserving capacity: Int = 0) { written.reserveCapacity(capacity) }

  /// Forgets what was written and keeps the memory.
  public mutating func reset() {
    written.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// What has been written so far, as text.
  public var text: String { String(decoding: written, as: UTF8.self) }

  public mutating func beginObject() { begin(UInt8(ascii: "{")) }
  public mutating func endObject() { end(UInt8(ascii: "}")) }
  public mutating func beginArray() { begin(UInt8(ascii: "[")) }
  public mutating func endArray() { end(UInt8(ascii: "]")) }

  /// The key of the value that comes next. It must need no escape.
  public mutating func key(_ key: StaticString) {
    key.withUTF8Buffer { unsafe quoted($0, endsWithColon: true) }
    needsComma = false
  }

  /// The key of the value that comes next. Disfavoured, because a literal would else be taken for a `String` and looked
  /// through for what must be escaped.
  @_disfavoredOverload
  public mutating func key(_ key: String) {
    string(key)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  @_disfavoredOverload
  public mutating func string(_ text: String) {
    // Native strings are contiguous; others are copied once.
    if unsafe text.utf8.withContiguousStorageIfAvailable({ unsafe string(of: $0) }) == nil {
      var text = text
      text.withUTF8 { unsafe string(of: $0) }
    }
  }

  /// A text that is known to need no escape.
  public mutating func string(_ text: StaticString) {
    text.withUTF8Buffer { unsafe quoted($0, endsWithColon: false) }
    needsComma = true
  }

  /// A text that `append` writes. It must need no escape.
  public mutating func string(appending append: (inout [UInt8]) -> Void) {
    comma()
    written.append(UInt8(ascii: "\""))
    append(&written)
    written.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// JSON text that `append` writes in one piece, with the commas within and before it. Where a document has many small
  /// parts this costs a fraction of writing them one by one: there it is asked each time whether there is room.
  /// - Parameter count: of its bytes, at most.
  @inlinable @inline(__always)
  public mutating func piece(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: count, initializingWith: append)
    needsComma = true
  }

  /// Bytes before a document, as they are: `reset` for a writer that keeps what it has written.
  public mutating func beginDocument(after prefix: Span<UInt8>) {
    piece(ofAtMost: prefix.count) { (room: inout OutputSpan<UInt8>) in room.append(prefix) }
    needsComma = false
  }

  /// Gives what has been written for other bytes, behind which it writes on.
  public mutating func exchange(_ other: inout [UInt8]) { swap(&written, &other) }

  public mutating func integer(_ value: Int64) {
    let needsComma = needsComma
    written.append(addingCapacity: 21) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      if value < 0 { room.append(UInt8(ascii: "-")) }
      room.append(decimal: value.magnitude)
    }
    self.needsComma = true
  }

  public mutating func integer(_ value: Int) { integer(Int64(value)) }

  /// The shortest text that reads back as the same number; whole numbers without `.0`. JSON has no infinities and no
  /// NaN: they are written as null.
  public mutating func number(_ value: Double) {
    let needsComma = needsComma
    piece(ofAtMost: OutputSpan<UInt8>.roundedMax + 1) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(number: value)
    }
  }

  /// A number rounded to six decimals, without trailing zeros. Beyond ±10⁹ as `number` writes it.
  public mutating func rounded(_ value: Double) {
    let needsComma = needsComma
    piece(ofAtMost: OutputSpan<UInt8>.roundedMax + 1) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(rounded: value)
    }
  }

  public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

  public mutating func null() { raw("null") }

  /// JSON text as it is. It must be one value.
  public mutating func raw(_ json: String) {
    comma()
    written.append(contentsOf: json.utf8)
    needsComma = true
  }

  /// A value read from a document, without white space, keys in document order.
  public mutating func value(_ node: JSONNode) {
    switch node.kind {
    case .null: null()
    case .bool: bool(node.boolIfAny ?? false)
    case .number:
      if node.isWrittenAsInteger, let integer = node.integerIfAny {
        self.integer(integer)
      } else {
        number(node.numberIfAny ?? 0)
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

  // MARK: Pieces

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

  /// Most texts need no escape.
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

  /// Appends a text in quotes as it is, in one piece: appending byte by byte would ask each time whether there is room and
  /// whether nobody shares the buffer.
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
