/// Writes JSON text to a byte buffer that it keeps: make one per thread, `reset()` it between documents. Commas are its
/// business, the right order of calls is the caller's.
public struct JSONWriter: Sendable {
  /// What has been written so far.
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  public init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Forgets what was written and keeps the memory.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// What has been written so far, as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

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
    bytes.append(UInt8(ascii: ":"))
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

  /// A text given as UTF-8.
  public mutating func string(utf8 text: Span<UInt8>) {
    // The bytes live as long as the span, which outlives the call.
    unsafe text.withUnsafeBufferPointer { unsafe string(of: $0) }
  }

  /// A text that is known to need no escape.
  public mutating func string(_ text: StaticString) {
    text.withUTF8Buffer { unsafe quoted($0, endsWithColon: false) }
    needsComma = true
  }

  /// A text that `append` writes. It must need no escape.
  public mutating func string(appending append: (inout [UInt8]) -> Void) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    append(&bytes)
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// A text that `append` writes in one piece. It must need no escape.
  /// - Parameter count: of its bytes, at most.
  @inline(__always)
  public mutating func string(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    let needsComma = needsComma
    bytes.append(addingCapacity: count + 3) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(UInt8(ascii: "\""))
      append(&room)
      room.append(UInt8(ascii: "\""))
    }
    self.needsComma = true
  }

  /// Members of an object that `append` writes in one piece, with commas between them.
  /// - Parameter count: of their bytes, at most.
  @inline(__always)
  public mutating func members(ofAtMost count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
    let needsComma = needsComma
    bytes.append(addingCapacity: count + 1) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      append(&room)
    }
    self.needsComma = true
  }

  /// Members of an object as they are, in UTF-8, with commas between them. The value of the last one comes next.
  public mutating func membersBeforeValue(utf8 json: Span<UInt8>) {
    raw(utf8: json)
    needsComma = false
  }

  public mutating func integer(_ value: Int64) {
    let needsComma = needsComma
    bytes.append(addingCapacity: 21) { (room: inout OutputSpan<UInt8>) in
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
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return integer(whole) }
    guard value.isFinite else { return null() }
    comma()
    bytes.append(contentsOf: value.description.utf8)
    needsComma = true
  }

  /// A number rounded to six decimals, without trailing zeros. Beyond ±10⁹ as `number` writes it.
  public mutating func rounded(_ value: Double) {
    guard Self.isRounded(value) else { return number(value) }
    members(ofAtMost: OutputSpan<UInt8>.roundedMax) { $0.append(rounded: value) }
  }

  /// Whether `rounded` writes a number with six decimals at most.
  public static func isRounded(_ value: Double) -> Bool { value.magnitude < 1e9 }

  public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

  public mutating func null() { raw("null") }

  /// JSON text as it is. It must be one value.
  public mutating func raw(_ json: String) {
    comma()
    bytes.append(contentsOf: json.utf8)
    needsComma = true
  }

  /// JSON text as it is, in UTF-8. It must be one value.
  public mutating func raw(utf8 json: Span<UInt8>) {
    let needsComma = needsComma
    // The buffer lives as long as the span, which outlives the call.
    unsafe json.withUnsafeBufferPointer { text in
      bytes.append(addingCapacity: text.count + 1) { (room: inout OutputSpan<UInt8>) in
        if needsComma { room.append(UInt8(ascii: ",")) }
        unsafe room.append(text)
      }
    }
    self.needsComma = true
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
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func begin(_ bracket: UInt8) {
    comma()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func raw(_ json: StaticString) {
    comma()
    json.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    needsComma = true
  }

  /// Most texts need no escape.
  private mutating func string(of text: UnsafeBufferPointer<UInt8>) {
    if unsafe Self.firstEscape(in: text, from: 0) == text.count {
      unsafe quoted(text, endsWithColon: false)
    } else {
      comma()
      bytes.append(UInt8(ascii: "\""))
      unsafe escaped(text)
      bytes.append(UInt8(ascii: "\""))
    }
    needsComma = true
  }

  /// Appends a text in quotes as it is, in one piece: appending byte by byte would ask each time whether there is room and
  /// whether nobody shares the buffer.
  private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>, endsWithColon: Bool) {
    let needsComma = needsComma
    bytes.append(addingCapacity: text.count + 4) { (room: inout OutputSpan<UInt8>) in
      if needsComma { room.append(UInt8(ascii: ",")) }
      room.append(UInt8(ascii: "\""))
      unsafe room.append(text)
      room.append(UInt8(ascii: "\""))
      if endsWithColon { room.append(UInt8(ascii: ":")) }
    }
  }

  /// Copies runs that need no escape in one go.
  private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while start < text.count {
      let end = unsafe Self.firstEscape(in: text, from: start)
      unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
      if end < text.count { escape(unsafe text[end]) }
      start = end + 1
    }
  }

  /// The place of the first byte that must be escaped, or the end. Looks at eight bytes at a time ("Bit Twiddling Hacks",
  /// S. E. Anderson: a byte less than n, a byte equal to n).
  private static func firstEscape(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
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

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      let low = byte & 15
      bytes.append(contentsOf: [
        UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), UInt8(ascii: "0") + (byte >> 4),
      ])
      bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
