import Domain
import JSON
import KafkaClient
import Pipeline

extension DeadLetterRecord {
  /// The time of the dead letter, or `no time`.
  var time: String {
    message.timestampMilliseconds.map { "\(Timestamp(milliseconds: $0))" } ?? "no time"
  }

  /// Two lines for a list: place, time, reason and origin, then the message.
  var line: PrintableText {
    let replayed: PrintableText = replayedAt.map { "  replayed \(Timestamp(milliseconds: $0))" } ?? ""
    return "\(place)  \(time)  \(reason)  from \(origin.map { "\($0)" } ?? "nowhere")\(replayed)\n    \(text)"
  }

  /// The letter with its headers, key and value for people. Bytes that are no UTF-8 are shown as hexadecimal digits,
  /// and controls are escaped, so that a value stays on one line.
  var page: PrintableText {
    var page = line + "\n"
    func shown(_ bytes: [UInt8]?) -> String {
      guard let bytes else { return "none" }
      return String(validating: bytes, as: UTF8.self) ?? Self.hexadecimal(bytes).joined(separator: " ")
    }
    for header in message.headers { page += "\(header.name): \(shown(header.value))\n" }
    if let leftOutHeaders {
      page += "headers: \(Digits.grouped(leftOutHeaders)) more, too large for a letter; they are at the origin\n"
    }
    page += "key: \(shown(message.key))\n"
    if let cutKeyBytes {
      page += "the key had \(Digits.grouped(cutKeyBytes)) bytes, too large for a letter; they are at the origin\n"
    }
    if let leftOutBytes {
      page += "value: \(Digits.grouped(leftOutBytes)) bytes, too large for a letter; they are at the origin\n"
    } else {
      page += "value, \(Digits.grouped(message.value?.count ?? 0)) bytes:\n\(shown(message.value))\n"
    }
    return page
  }

  /// Writes the letter as a JSON object.
  /// - Parameter whole: whether headers, key and value are part of it.
  func encode(to json: inout JSONWriter, whole: Bool) {
    json.beginObject()
    json.member("place", "\(place)")
    json.member("at", time)
    json.member("reason", reason)
    json.member("message", text)
    json.member("origin", origin.map { "\($0)" } ?? "")
    if let replayedAt {
      json.member("replayed", "\(Timestamp(milliseconds: replayedAt))")
    }
    json.member("bytes", leftOutBytes ?? message.value?.count ?? 0)
    if whole {
      json.objects("headers", message.headers) { header, json in
        json.member("name", header.name)
        Self.bytes(header.value, to: &json)
      }
      json.object("key") { json in
        Self.bytes(message.key, to: &json)
      }
      json.object("value") { json in
        Self.bytes(leftOutBytes == nil ? message.value : nil, to: &json)
      }
    }
    json.endObject()
  }

  /// Writes the member `text` for UTF-8, `hex` for other bytes, and neither for null.
  private static func bytes(_ bytes: [UInt8]?, to json: inout JSONWriter) {
    guard let bytes else { return }
    if let text = String(validating: bytes, as: UTF8.self) {
      json.member("text", text)
    } else {
      json.member("hex", Self.hexadecimal(bytes).joined())
    }
  }

  /// Returns the two digits of each byte.
  private static func hexadecimal(_ bytes: [UInt8]) -> [String] {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
  }
}
