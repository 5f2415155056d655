import KafkaClient

/// What is written beside the original bytes of a record that was not accepted.
enum DeadLetter {
  /// The original headers, then the reason and where the record stood.
  static func headers(for message: KafkaMessage, reason: String, message text: String) -> [KafkaHeader] {
    var headers = message.headers
    headers.append(KafkaHeader("rouse-reason", reason))
    headers.append(KafkaHeader("rouse-message", text))
    headers.append(KafkaHeader("rouse-origin-topic", message.topic))
    headers.append(KafkaHeader("rouse-origin-partition", "\(message.partition)"))
    headers.append(KafkaHeader("rouse-origin-offset", "\(message.offset)"))
    if let timestamp = message.timestampMilliseconds {
      headers.append(KafkaHeader("rouse-origin-timestamp", "\(timestamp)"))
    }
    return headers
  }
}
