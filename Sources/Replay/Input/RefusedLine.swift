public import Domain
import JSON

/// A line that was refused, with the reason and where it stood.
public struct RefusedLine: Equatable, Sendable {
  public var code: DomainError.Code
  /// Where in the line: `$.widgets[2].id`.
  public var path: String
  /// What was wrong and what was expected.
  public var message: String
  /// The file as people should read it.
  public var file: String
  /// From 1.
  public var line: Int
  /// The line's bytes; nil where it was too long to be read.
  public var value: [UInt8]?

  /// Members: `reason`, `path`, `message`, `file`, `line`, and the line as `value` or, where it is no UTF-8, as
  /// `valueBase64`.
  func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.key("reason")
    json.string(code.rawValue)
    json.key("path")
    json.string(path)
    json.key("message")
    json.string(message)
    json.key("file")
    json.string(file)
    json.key("line")
    json.integer(line)
    if let value {
      if let text = String(validating: value, as: UTF8.self) {
        json.key("value")
        json.string(text)
      } else {
        json.key("valueBase64")
        json.string(appending: { Self.appendBase64(value, to: &$0) })
      }
    }
    json.endObject()
  }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// RFC 4648, section 4.
  private static func appendBase64(_ bytes: [UInt8], to text: inout [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group: UInt32 = 0
      for place in 0..<3 { group = group << 8 | (place < count ? UInt32(bytes[start + place]) : 0) }
      for place in 0..<4 {
        text.append(place <= count ? digits[Int(group >> (18 - 6 * UInt32(place)) & 63)] : UInt8(ascii: "="))
      }
    }
  }
}

extension RefusedLine: CustomStringConvertible {
  /// `events.jsonl:12: $.subject: missing; expected a string`
  public var description: String { "\(file):\(line): \(path): \(message)" }
}
