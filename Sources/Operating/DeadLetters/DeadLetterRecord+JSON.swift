import Domain
package import JSON
import KafkaClient

extension DeadLetterRecord {
  /// The time of the dead letter, or `no time`.
  package var time: String {
    message.timestampMilliseconds.map { "\(Timestamp(milliseconds: $0))" } ?? "no time"
  }

  /// Writes the letter as a JSON object.
  /// - Parameters:
  ///   - whole: whether headers, key and value are part of it.
  ///   - show: returns bytes of the record as they are to be shown.
  package func encode(
    to json: inout JSONWriter, whole: Bool, _ show: (_ bytes: [UInt8]) -> [UInt8] = { $0 }
  ) {
    json.beginObject()
    json.member("place", "\(place)")
    json.member("at", time)
    json.member("reason", reason)
    json.member("message", String(decoding: show(Array(text.utf8)), as: UTF8.self))
    json.member("origin", origin.map { "\($0)" } ?? "")
    if let replayedAt {
      json.member("replayed", "\(Timestamp(milliseconds: replayedAt))")
    }
    json.member("bytes", leftOutBytes ?? message.value?.count ?? 0)
    if whole {
      json.objects("headers", message.headers) { header, json in
        json.member("name", header.name)
        // The trace of a record looks like a secret, and is none.
        Self.bytes(header.name == "traceparent" ? header.value : header.value.map(show), to: &json)
      }
      json.object("key") { json in
        Self.bytes(message.key.map(show), to: &json)
      }
      json.object("value") { json in
        Self.bytes(leftOutBytes == nil ? message.value.map(show) : nil, to: &json)
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
  package static func hexadecimal(_ bytes: [UInt8]) -> [String] {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
  }
}
