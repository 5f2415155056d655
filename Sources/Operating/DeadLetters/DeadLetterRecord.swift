import Domain
import Installation
package import JSON
public import KafkaClient

/// One refused record, as stored in `rouse.dead-letters`: a letter.
public struct DeadLetterRecord: Sendable {
  /// The record of `rouse.dead-letters`, with the original key and value as far as they fit.
  public var message: KafkaMessage
  /// The code of the reason why the record was not accepted.
  public var reason: String
  /// The reason in words.
  public var text: String
  /// The place of the original record; nil for a letter that Rouse did not write.
  public var origin: KafkaPosition?
  /// The number of bytes of a value that was left out, because the letter did not fit with it; nil if the value is
  /// there.
  public var leftOutBytes: Int?
  /// The number of bytes that the key had before it was cut; nil if the key is whole.
  public var cutKeyBytes: Int?
  /// The number of original headers that were left out, because the letter did not fit with them; nil if none were.
  public var leftOutHeaders: Int?
  /// The time when the letter was replayed, in ms since 1970; nil if it was not.
  public var replayedAt: Int64?

  /// The place of the letter in the topic of dead letters.
  public var place: KafkaPosition { KafkaPosition(message.topicPartition, offset: message.offset) }

  private static let replayedReason = "REPLAYED"

  /// Reads the headers of a letter.
  ///
  /// - Parameter message: The record of the topic.
  public init(_ message: KafkaMessage) {
    self.message = message
    func header(_ name: String) -> String? {
      // The last one: earlier ones of that name belong to the original record.
      message.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
    reason = header(DeadLetterHeaders.reason) ?? "UNKNOWN"
    text = header(DeadLetterHeaders.message) ?? ""
    if let topic = header(DeadLetterHeaders.originTopic),
      let partition = header(DeadLetterHeaders.originPartition).flatMap({ Int32($0) }),
      let offset = header(DeadLetterHeaders.originOffset).flatMap({ Int64($0) })
    {
      origin = KafkaPosition(KafkaTopicPartition(topic: topic, partition: partition), offset: offset)
    }
    leftOutBytes = header(DeadLetterHeaders.truncated).flatMap { Int($0) }
    cutKeyBytes = header(DeadLetterHeaders.truncatedKey).flatMap { Int($0) }
    leftOutHeaders = header(DeadLetterHeaders.truncatedHeaders).flatMap { Int($0) }
  }

  /// The place of the letter that this record is a receipt for; nil if this is a letter. A receipt notes that a letter was
  /// replayed, and is in the partition of the letter.
  var receiptOf: KafkaPosition? {
    guard reason == Self.replayedReason,
      let offset = message.headers.last(where: { $0.name == DeadLetterHeaders.replayedOffset })?.value
        .flatMap({ Int64(String(decoding: $0, as: UTF8.self)) })
    else { return nil }
    return KafkaPosition(message.topicPartition, offset: offset)
  }

  /// The headers of the receipt for this letter.
  var receiptHeaders: [KafkaHeader] {
    [
      KafkaHeader(DeadLetterHeaders.reason, Self.replayedReason),
      KafkaHeader(DeadLetterHeaders.message, "\(place) was replayed to \(origin?.partition.topic ?? "")"),
      KafkaHeader(DeadLetterHeaders.replayedOffset, "\(place.offset)"),
    ]
  }

  /// The headers of the record when it is replayed: the original headers, and the place of the letter.
  var replayHeaders: [KafkaHeader] {
    message.headers.filter { !$0.name.hasPrefix("rouse-") } + [
      KafkaHeader(DeadLetterHeaders.replayedFrom, "\(place)")
    ]
  }
}

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
