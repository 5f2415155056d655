public import Domain
import JSON

/// A line of an input file that cannot be used, with the reason and its place.
public struct RefusedLine: Equatable, Sendable {
  /// The kind of mistake; `reason` in the output.
  public var code: DomainError.Code
  /// The place in the line, as a JSON path: `$.widgets[2].id`.
  public var path: String
  /// The mistake, and what was expected instead.
  public var message: String
  /// The file's path; `standard input` for `-`.
  public var file: String
  /// The number of the line in the file, from 1.
  public var line: Int
  /// The bytes of the line; nil if it was too long to be read.
  public var value: [UInt8]?

  /// Writes one JSON object with the members `reason`, `path`, `message`, `file` and `line`. The line itself follows as
  /// `value`, or as `valueBase64` if it is not valid UTF-8.
  func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("reason", code.rawValue)
    json.member("path", path)
    json.member("message", message)
    json.member("file", file)
    json.member("line", line)
    if let value {
      if let text = String(validating: value, as: UTF8.self) {
        json.member("value", text)
      } else {
        json.key("valueBase64")
        json.string(appending: { Self.appendBase64(value, to: &$0) })
      }
    }
    json.endObject()
  }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Appends the Base64 text of some bytes: RFC 4648, section 4.
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
  /// The place and the mistake: `events.jsonl:12: $.subject: missing; expected a string`.
  public var description: String { "\(file):\(line): \(path): \(message)" }
}
