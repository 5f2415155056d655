import Domain
import LineFiles

/// A file with header fields of HTTP requests, one `name: value` a line, for what is secret, such as the key of a collector.
///
/// Blanks around a name and a value do not count, and neither do empty lines and those that begin with `#`. No message repeats any text
/// of the file.
enum HeadersFile {
  /// A header field. Its description does not show the value.
  struct HeaderLine: Sendable, Equatable, CustomStringConvertible {
    let name: String
    let value: String

    /// `name: [secret]`.
    var description: String { "\(name): [secret]" }
  }

  /// The most bytes of a file of header fields, far above what servers take.
  /// - Beyond: the file is refused.
  static let fileBytesMax = 64 << 10

  /// The fields that belong to the content and to the connection.
  private static let reserved: Set = ["content-type", "content-length", "transfer-encoding", "connection", "host"]

  /// Reads a file.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The fields, in the order of the file.
  /// - Throws: ``SettingRefusal`` when the file cannot be read, or a line is no header field.
  static func read(_ path: String) throws(SettingRefusal) -> [HeaderLine] {
    let bytes: [UInt8]
    do throws(LineFileError) { bytes = try WholeFile.bytes(path, bytesMax: fileBytesMax) } catch {
      throw SettingRefusal(words: "\(error)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SettingRefusal(words: "\(path): is not UTF-8 text; write header fields into it, one name: value a line")
    }
    var fields: [HeaderLine] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = trimmed(line)
      if line.isEmpty || line.hasPrefix("#") { continue }
      func refusal(_ words: String) -> SettingRefusal { SettingRefusal(words: "\(path):\(index + 1): \(words)") }
      guard let field = field(line) else {
        throw refusal(
          "expected name: value in ASCII, such as Authorization: Bearer KEY, or a comment that begins with #")
      }
      if reserved.contains(field.name.lowercased()) {
        throw refusal("Rouse sets this header field itself; remove the line")
      }
      if fields.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
        throw refusal("the header field is in the file twice; remove one of the lines")
      }
      fields.append(field)
    }
    return fields
  }

  /// Returns the field of a line; nil if it is none.
  private static func field(_ line: Substring) -> HeaderLine? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let (name, value) = (trimmed(line[..<colon]), trimmed(line[line.index(after: colon)...]))
    // The characters of a token and of a field value (RFC 9110, 5.6.2 and 5.5), without those beyond ASCII.
    let isToken = name.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
    let isValue = value.utf8.allSatisfy { 0x20...0x7e ~= $0 || $0 == 0x09 }
    guard isToken, isValue, !name.isEmpty, !value.isEmpty else { return nil }
    return HeaderLine(name: String(name), value: String(value))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
