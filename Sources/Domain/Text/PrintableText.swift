import JSON

/// Text that is safe to print on a terminal and in a log. Literals are layout and stay as they are, with their line feeds;
/// every interpolated value is escaped. So `"device \(id)\n"` is one line, whatever the id holds.
///
/// The characters of a value for which `isUnprintable` holds become `\u{…}` with the hexadecimal number of the character:
/// controls, characters that reorder text, and characters that nobody sees. Bytes that are no UTF-8 become U+FFFD when they
/// become a `String`. A backslash is not doubled, because paths and expressions keep their form; so the text is for people,
/// and the JSON formats are exact.
public struct PrintableText: Sendable, Hashable {
  /// The text, safe to print.
  public private(set) var description: String

  /// Escapes a value. Its line feeds are escaped too.
  public init(escaping value: some StringProtocol) { description = Self.escape(value, keepsLineFeeds: false) }

  /// Escapes lines, whose line feeds stay. Only for text whose layout does not come from outside: a value in it that has a
  /// line feed begins a line.
  public init(lines: some StringProtocol) { description = Self.escape(lines, keepsLineFeeds: true) }

  /// The number of characters.
  public var count: Int { description.count }

  /// Whether the text has no characters.
  public var isEmpty: Bool { description.isEmpty }

  /// Returns one text after the other.
  public static func + (left: PrintableText, right: PrintableText) -> PrintableText {
    var text = left
    text += right
    return text
  }

  /// Appends a text.
  public static func += (left: inout PrintableText, right: PrintableText) { left.description += right.description }

  /// Returns a text of spaces.
  public static func spaces(_ count: Int) -> PrintableText {
    PrintableText(escaping: String(repeating: " ", count: max(0, count)))
  }

  private static func escape(_ text: some StringProtocol, keepsLineFeeds: Bool) -> String {
    func isKept(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" && keepsLineFeeds || !scalar.isUnprintable }
    if text.unicodeScalars.allSatisfy(isKept) { return String(text) }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if isKept(scalar) {
        escaped.append(scalar)
      } else {
        escaped.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      }
    }
    return String(escaped)
  }
}

extension PrintableText: CustomStringConvertible {}

extension PrintableText: ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) { description = value }
  public init(stringInterpolation: Interpolation) { description = stringInterpolation.text }

  /// Takes literals as they are and escapes values.
  public struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends text that is safe already.
    public mutating func appendInterpolation(_ value: PrintableText) { text += value.description }

    /// Appends the description of a value, escaped.
    public mutating func appendInterpolation<Value>(_ value: Value) {
      text += PrintableText(escaping: String(describing: value)).description
    }
  }
}

extension Sequence<PrintableText> {
  /// Returns the texts one after the other, with a separator between them.
  public func joined(separator: PrintableText = "") -> PrintableText {
    var text: PrintableText = ""
    for (index, part) in enumerated() { text += index == 0 ? part : separator + part }
    return text
  }
}
