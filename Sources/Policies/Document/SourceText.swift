/// The text of a document and its lines. All characters have been checked to be allowed in YAML.
struct SourceText {
  /// The text, without a byte order mark.
  let text: String
  /// The lines, at least one, without line ends.
  let lines: [String.UnicodeScalarView.SubSequence]

  /// Creates a text from the bytes of a document, which are checked.
  /// - Throws: the place of the first byte that is not UTF-8 or not printable; also if there are too many bytes.
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
          // This is the second half of a line end that was counted already.
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

  /// Creates a text without a check.
  /// - Parameter text: a part of a text that was checked.
  init(checked text: String) {
    self.text = text
    lines = Self.lines(of: text.unicodeScalars)
  }

  /// Returns the nearest place that exists in the document. libyaml may point behind the end.
  func clamped(_ position: Position) -> Position {
    let line = min(max(position.line, 1), lines.count)
    let columnMax = lines[line - 1].count + 1
    guard position.line <= lines.count else { return Position(line: line, column: columnMax) }
    return Position(line: line, column: min(max(position.column, 1), columnMax))
  }

  /// Returns the Unicode scalar at a place; nil at the end of a line and outside the document.
  func scalar(at position: Position) -> Unicode.Scalar? {
    guard lines.indices.contains(position.line - 1), position.column > 0 else { return nil }
    return lines[position.line - 1].dropFirst(position.column - 1).first
  }

  /// Returns the place of one character of a value, for messages about the value's inside.
  /// - Parameters:
  ///   - offset: the number of Unicode scalars before the character.
  ///   - value: the text of the value.
  ///   - start: the place where the value begins. It is returned if the value is not written in one line without escapes.
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

  /// Whether libyaml ends a line at a Unicode scalar.
  static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }

  /// Whether a Unicode scalar is printable in YAML. U+E000 is not, because `YAMLTree` uses it.
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
