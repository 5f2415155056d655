import KafkaClient

/// The headers of a dead letter, which are added to the original key and value.
enum DeadLetterHeaders {
  static let reason = "rouse-reason"
  static let message = "rouse-message"
  static let originTopic = "rouse-origin-topic"
  static let originPartition = "rouse-origin-partition"
  static let originOffset = "rouse-origin-offset"
  static let originTimestamp = "rouse-origin-timestamp"
  /// The number of bytes of a value that was left out, because the broker refused its size.
  static let truncated = "rouse-truncated"
  /// The place among the dead letters of a record that was given back.
  static let replayedFrom = "rouse-replayed-from"
  /// The offset of the letter that a receipt is for.
  static let replayedOffset = "rouse-replayed-offset"

  /// Returns the original headers, followed by the reason and the origin.
  ///
  /// - Parameters:
  ///   - message: The record that was not accepted.
  ///   - reason: The code of the reason, such as `WRONG_TYPE`.
  ///   - text: The reason in words.
  static func make(for message: KafkaMessage, reason: String, text: String) -> [KafkaHeader] {
    var headers = message.headers
    headers.append(KafkaHeader(Self.reason, reason))
    headers.append(KafkaHeader(Self.message, text))
    headers.append(KafkaHeader(originTopic, message.topic))
    headers.append(KafkaHeader(originPartition, "\(message.partition)"))
    headers.append(KafkaHeader(originOffset, "\(message.offset)"))
    if let timestamp = message.timestampMilliseconds { headers.append(KafkaHeader(originTimestamp, "\(timestamp)")) }
    return headers
  }
}
