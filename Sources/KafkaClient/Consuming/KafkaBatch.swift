/// The result of one poll.
public struct KafkaBatch: Sendable, Hashable {
  /// The messages, in order within each partition.
  public var messages: [KafkaMessage]
  /// The notifications that arrived in addition to messages.
  public var events: [KafkaEvent]

  /// Makes a batch.
  /// - Parameters:
  ///   - messages: The messages, in order within each partition.
  ///   - events: The notifications that arrived in addition to messages.
  public init(messages: [KafkaMessage] = [], events: [KafkaEvent] = []) {
    self.messages = messages
    self.events = events
  }
}

/// A client notification other than a message.
public enum KafkaEvent: Sendable, Hashable {
  /// The end of a partition was reached (only with `enable.partition.eof=true`). The position is that of the next message.
  case partitionEnd(KafkaPosition)
  /// A failure that librdkafka handles itself, such as a lost connection: it is meant for logs. The exception is an unreadable
  /// batch (``KafkaError/unreadableBatch``), which stops its partition until the caller seeks behind the batch.
  case error(KafkaError)

  /// Whether this is a failure.
  public var isError: Bool { if case .error = self { true } else { false } }
}
