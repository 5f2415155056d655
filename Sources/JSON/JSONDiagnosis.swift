/// Finds the first mistake in a document that simdjson refused. simdjson reports only that there is a mistake. This
/// slower parser runs once for each refused document, and finds the kind and the byte of the mistake.
struct JSONDiagnosis {
  private let bytes: [UInt8]
  private let nestingMax: Int
  private var at = 0

  private init(bytes: [UInt8], nestingMax: Int) {
    self.bytes = bytes
    self.nestingMax = nestingMax
  }

  /// Returns the first mistake of a document that the parser refused.
  static func error(of bytes: [UInt8], nestingMax: Int) -> JSONError {
    if let offset = invalidUTF8Offset(bytes) {
      return JSONError(kind: .invalidUTF8, expected: "UTF-8", found: hexadecimal(bytes[offset]), offset: offset)
    }
    var diagnosis = JSONDiagnosis(bytes: bytes, nestingMax: nestingMax)
    do throws(JSONError) {
      try diagnosis.document()
    } catch {
      return error
    }
    return JSONError(kind: .malformed, expected: "JSON", found: "something else")
  }

  private mutating func document() throws(JSONError) {
    /// The closing brackets of the containers that are open, outermost first.
    var open: [UInt8] = []
    var expectsValue = true
    skipSpace()
    while true {
      if expectsValue {
        let start = at
        guard let byte = peek else { throw unexpected("a value") }
        if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
          guard open.count < nestingMax else {
            throw JSONError(kind: .tooDeep, expected: "at most \(nestingMax) levels of nesting", offset: start)
          }
          at += 1
          open.append(byte + 2)
          skipSpace()
          if peek == byte + 2 {
            expectsValue = false
          } else if byte == UInt8(ascii: "{") {
            try key(or: " or \"}\"")
          }
          continue
        }
        try scalar(byte)
        expectsValue = false
        skipSpace()
        continue
      }
      guard let closing = open.last else { break }
      if peek == closing {
        at += 1
        open.removeLast()
        skipSpace()
      } else if peek == UInt8(ascii: ",") {
        at += 1
        skipSpace()
        if closing == UInt8(ascii: "}") { try key(or: "") }
        expectsValue = true
      } else {
        throw unexpected(closing == UInt8(ascii: "}") ? "\",\" or \"}\"" : "\",\" or \"]\"")
      }
    }
    if peek != nil {
      var error = unexpected("the end of the document")
      error.kind = .trailingContent
      throw error
    }
  }

  private mutating func key(or alternative: String) throws(JSONError) {
    guard peek == UInt8(ascii: "\"") else { throw unexpected("a key in double quotes" + alternative) }
    try string()
    skipSpace()
    guard peek == UInt8(ascii: ":") else { throw unexpected("\":\"") }
    at += 1
    skipSpace()
  }

  private mutating func scalar(_ byte: UInt8) throws(JSONError) {
    switch byte {
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw unexpected("a value")
    }
  }

  private mutating func word(_ word: String) throws(JSONError) {
    for byte in word.utf8 {
      guard peek == byte else { throw unexpected(word) }
      at += 1
    }
  }

  private mutating func number() throws(JSONError) {
    let start = at
    if peek == UInt8(ascii: "-") { at += 1 }
    let leadingZero = peek == UInt8(ascii: "0")
    let digitsStart = at
    try digits()
    if leadingZero, at > digitsStart + 1 {
      throw JSONError(kind: .malformed, expected: "a number without leading zeros", offset: start)
    }
    if peek == UInt8(ascii: ".") {
      at += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      at += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { at += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    guard let value = Double(text), value.isFinite else {
      throw JSONError(kind: .numberRange, expected: "a number of at most ±1.8e308", offset: start)
    }
  }

  private mutating func digits() throws(JSONError) {
    let start = at
    while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
    guard at > start else { throw unexpected("a digit") }
  }

  private mutating func string() throws(JSONError) {
    at += 1
    while let byte = peek, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw unexpected("an escape instead of a control character") }
      at += 1
      if byte == UInt8(ascii: "\\") { try escape() }
    }
    guard peek != nil else { throw unexpected("a closing double quote") }
    at += 1
  }

  private mutating func escape() throws(JSONError) {
    let start = at - 1
    guard let byte = peek, "\"\\/bfnrtu".utf8.contains(byte) else { throw unexpected("an escape that JSON knows") }
    at += 1
    guard byte == UInt8(ascii: "u") else { return }
    let unit = try hexadecimalUnit()
    guard (0xD800...0xDFFF).contains(unit) else { return }
    let loneSurrogate = JSONError(kind: .malformed, expected: "a surrogate pair, found half of one", offset: start)
    guard unit < 0xDC00, peek == UInt8(ascii: "\\") else { throw loneSurrogate }
    at += 1
    guard peek == UInt8(ascii: "u") else { throw loneSurrogate }
    at += 1
    guard (0xDC00...0xDFFF).contains(try hexadecimalUnit()) else { throw loneSurrogate }
  }

  private mutating func hexadecimalUnit() throws(JSONError) -> Int {
    var unit = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw unexpected("four hexadecimal digits")
      }
      unit = unit * 16 + digit
      at += 1
    }
    return unit
  }

  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
  }

  private func unexpected(_ expected: String) -> JSONError {
    guard let byte = peek else {
      return JSONError(kind: .truncated, expected: expected, offset: bytes.count)
    }
    let printable = (0x21..<0x7F).contains(byte)
    let found = printable ? "\"\(Character(Unicode.Scalar(byte)))\"" : JSONDiagnosis.hexadecimal(byte)
    return JSONError(kind: .malformed, expected: expected, found: found, offset: at)
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// The offset of the first byte that is not part of valid UTF-8; `nil` if all bytes are.
  private static func invalidUTF8Offset(_ bytes: [UInt8]) -> Int? {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput: return nil
      case .error: return min(offset, bytes.count - 1)
      }
    }
  }
}
