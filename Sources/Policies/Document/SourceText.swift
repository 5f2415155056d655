/// A document's text, checked to be characters that YAML allows, and its lines.
struct SourceText {
  /// Without a byte order mark.
  let text: String
  /// Without line ends; at least one.
  let lines: [String.UnicodeScalarView.SubSequence]

  /// The text of `bytes`; refuses what is too large, not UTF-8, or not printable, with its place.
  init(bytes: [UInt8]) throws(YAMLTree.Refusal) {
    guard bytes.count <= PolicyBounds.documentBytesMax else {
      throw YAMLTree.Refusal(
        position: .start,
        message: "the document has \(bytes.count) bytes; at most \(PolicyBounds.documentBytesMax) are allowed")
    }
    var scalars = String.UnicodeScalarView()
    var position = Position.start
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var lastWasReturn = false
    decoding: while true {
      switch decoder.decode(&iterator) {
      case .emptyInput: break decoding
      case .error: throw YAMLTree.Refusal(position: position, message: "not UTF-8 here; save the file as UTF-8")
      case .scalarValue(let scalar):
        if scalar == "\u{FEFF}", position == .start, scalars.isEmpty { continue }
        guard Self.isAllowed(scalar) else {
          throw YAMLTree.Refusal(
            position: position,
            message: "the character U+\(Self.hexadecimal(scalar)) is not allowed in a policy; remove it")
        }
        scalars.append(scalar)
        if scalar == "\n", lastWasReturn {
          // Second half of a line end that was counted already.
        } else if Self.isLineEnd(scalar) {
          position = Position(line: position.line + 1, column: 1)
        } else {
          position.column += 1
        }
        lastWasReturn = scalar == "\r"
      }
    }
    self.init(checked: String(scalars))
  }

  /// - Parameter text: a part of one that was checked.
  init(checked text: String) {
    self.text = text
    lines = Self.lines(of: text.unicodeScalars)
  }

  /// The nearest place that exists in the document (libyaml may point behind its end).
  func clamped(_ position: Position) -> Position {
    let line = min(max(position.line, 1), lines.count)
    let columnMax = lines[line - 1].count + 1
    guard position.line <= lines.count else { return Position(line: line, column: columnMax) }
    return Position(line: line, column: min(max(position.column, 1), columnMax))
  }

  /// The scalar at a place; nil at the end of a line and outside the document.
  func scalar(at position: Position) -> Unicode.Scalar? {
    guard lines.indices.contains(position.line - 1), position.column > 0 else { return nil }
    return lines[position.line - 1].dropFirst(position.column - 1).first
  }

  /// Where the scalar at `offset` of a value's text stands, if the value is written in one line without escapes; else
  /// where the value begins.
  func position(of offset: Int, in value: String, at start: Position) -> Position {
    guard start.line <= lines.count else { return start }
    let line = Array(lines[start.line - 1])
    let wanted = Array(value.unicodeScalars.prefix(offset))
    for skipped in 0...1 {
      let first = start.column - 1 + skipped
      guard first >= 0, first + wanted.count <= line.count else { continue }
      if Array(line[first..<(first + wanted.count)]) == wanted {
        return Position(line: start.line, column: first + offset + 1)
      }
    }
    return start
  }

  private static func lines(of scalars: String.UnicodeScalarView) -> [String.UnicodeScalarView.SubSequence] {
    var lines: [String.UnicodeScalarView.SubSequence] = []
    var start = scalars.startIndex
    var index = start
    while index < scalars.endIndex {
      let next = scalars.index(after: index)
      if isLineEnd(scalars[index]) {
        lines.append(scalars[start..<index])
        let isPair = scalars[index] == "\r" && next < scalars.endIndex && scalars[next] == "\n"
        start = isPair ? scalars.index(after: next) : next
        index = start
      } else {
        index = next
      }
    }
    lines.append(scalars[start..<scalars.endIndex])
    return lines
  }

  /// libyaml's line ends.
  static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }

  /// YAML's printable characters, without U+E000, which `YAMLTree` uses.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE001...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
