import Domain

/// The two tokens of a device, packed. APNs gives tokens out as hexadecimal digits; two digits in lower case take one byte.
/// Other texts are kept as they are. The pair is read only when a command is written out.
struct TokenPair: Equatable {
  /// The token for WidgetKit pushes, then that for background pushes, each in one of three forms: 0 (no token); 1, a count in one
  /// byte, so many packed bytes; 2, a count in two bytes, so many bytes of UTF-8. Empty if there is no token at all.
  private(set) var bytes: [UInt8] = []

  /// Creates a pair without tokens.
  init() {}

  /// Restores a pair from its `bytes`, which must be well-formed.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Packs two tokens. A token is nil if the device has none of that sort.
  init(widgets: String?, background: String?) {
    if widgets == nil, background == nil { return }
    bytes.reserveCapacity(4 + ((widgets?.utf8.count ?? 0) + (background?.utf8.count ?? 0)) / 2)
    Self.append(widgets, to: &bytes)
    Self.append(background, to: &bytes)
  }

  /// The token for WidgetKit pushes; nil if there is none.
  var widgets: String? {
    bytes.isEmpty ? nil : Self.token(at: 0, of: bytes)
  }

  /// The token for background pushes; nil if there is none.
  var background: String? {
    bytes.isEmpty ? nil : Self.token(at: Self.end(of: bytes.span, at: 0), of: bytes)
  }

  /// Unpacks the token for WidgetKit pushes without making a string.
  /// - Parameters:
  ///   - bytes: The bytes of a pair.
  ///   - digits: Receives the digits; its previous content is removed.
  /// - Returns: Whether there is such a token and it is packed, as nearly all are.
  static func appendWidgets(_ bytes: Span<UInt8>, to digits: inout [UInt8]) -> Bool {
    digits.removeAll(keepingCapacity: true)
    guard bytes.count > 2, bytes[0] == 1 else { return false }
    let packed = bytes.extracting(2..<end(of: bytes, at: 0))
    digits.append(addingCapacity: 2 * packed.count) { (room: inout OutputSpan<UInt8>) in unpack(packed, to: &room) }
    return true
  }

  private static func unpack(_ packed: Span<UInt8>, to digits: inout OutputSpan<UInt8>) {
    for i in packed.indices {
      digits.append(digit(packed[i] >> 4))
      digits.append(digit(packed[i] & 15))
    }
  }

  /// Returns whether bytes that were read from a record are those of a pair.
  static func isWellFormed(_ bytes: Span<UInt8>) -> Bool {
    var place = 0
    for _ in 0..<2 {
      guard place < bytes.count else { return false }
      let head = min(bytes.count, place + 3)
      switch (bytes[place], head - place) {
      case (0, _): place += 1
      case (1, 2...): place += 2 + Int(bytes[place + 1])
      case (2, 3): place += 3 + (Int(bytes[place + 1]) << 8 | Int(bytes[place + 2]))
      default: return false
      }
    }
    return place == bytes.count
  }

  private static func append(_ token: String?, to bytes: inout [UInt8]) {
    guard let token else {
      bytes.append(0)
      return
    }
    let count = token.utf8.count
    if count % 2 == 0, count <= 510 {
      let start = bytes.count
      bytes.append(1)
      bytes.append(UInt8(count / 2))
      if pack(token, to: &bytes) { return }
      bytes.removeSubrange(start...)
    }
    bytes.append(2)
    bytes.append(UInt8(truncatingIfNeeded: count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: count))
    bytes += token.utf8
  }

  /// Appends two digits a byte. It takes the text, not its span: see `HashIndex.hash`.
  /// - Returns: Whether all are digits in lower case; if not, some have been appended.
  private static func pack(_ token: String, to bytes: inout [UInt8]) -> Bool {
    let digits = token.utf8.span
    var place = 0
    while place < digits.count {
      let (high, low) = (value(digits[place]), value(digits[place + 1]))
      if high | low > 15 { return false }
      bytes.append(high << 4 | low)
      place += 2
    }
    return true
  }

  /// Returns the form of a token that all spellings of it share: hexadecimal digits in lower case. Any other text is returned as it is.
  static func lowercased(_ token: String) -> String {
    var hasUpper = false
    let digits = token.utf8.span
    for place in digits.indices where value(digits[place]) > 15 {
      guard (0x41...0x46).contains(digits[place]) else { return token }
      hasUpper = true
    }
    return hasUpper ? token.lowercased() : token
  }

  /// Returns the token that begins at a place; nil if there is none.
  private static func token(at place: Int, of bytes: [UInt8]) -> String? {
    switch bytes[place] {
    case 0: return nil
    case 1:
      let packed = bytes.span.extracting(place + 2..<end(of: bytes.span, at: place))
      // The span writes only within the room, and counts the bytes that it has written.
      return unsafe String(unsafeUninitializedCapacity: 2 * packed.count) { room in
        var digits = unsafe OutputSpan(buffer: room, initializedCount: 0)
        unpack(packed, to: &digits)
        return unsafe digits.finalize(for: room)
      }
    default: return String(decoding: bytes[place + 3..<end(of: bytes.span, at: place)], as: UTF8.self)
    }
  }

  /// Returns the place behind the token that begins at a place of well-formed bytes.
  private static func end(of bytes: Span<UInt8>, at place: Int) -> Int {
    switch bytes[place] {
    case 0: place + 1
    case 1: place + 2 + Int(bytes[place + 1])
    default: place + 3 + (Int(bytes[place + 1]) << 8 | Int(bytes[place + 2]))
    }
  }

  /// Returns the number that a digit in lower case stands for, and a larger one than 15 for any other byte.
  private static func value(_ digit: UInt8) -> UInt8 {
    let (number, letter) = (digit &- 0x30, digit &- 0x61)
    return number < 10 ? number : letter < 6 ? letter + 10 : .max
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
}
