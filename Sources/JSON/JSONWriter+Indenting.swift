extension JSONWriter {
  /// The text so far with each member and each element on a line of its own, indented by two spaces a level.
  public var indentedText: String {
    var indented: [UInt8] = []
    indented.reserveCapacity(bytes.count * 2)
    var depth = 0
    var isText = false
    var isEscaped = false
    var last: UInt8 = 0
    func breakLine() {
      indented.append(UInt8(ascii: "\n"))
      indented.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }
    for byte in bytes {
      let isFirst = !isText && (last == UInt8(ascii: "{") || last == UInt8(ascii: "["))
      defer { last = byte }
      if isText {
        indented.append(byte)
        if !isEscaped, byte == UInt8(ascii: "\"") { isText = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if !isFirst { breakLine() }
        indented.append(byte)
        continue
      default: if isFirst { breakLine() }
      }
      indented.append(byte)
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ","): breakLine()
      case UInt8(ascii: ":"): indented.append(UInt8(ascii: " "))
      case UInt8(ascii: "\""): isText = true
      default: break
      }
    }
    return String(decoding: indented, as: UTF8.self)
  }
}
