/// What a client tells besides messages.
public enum KafkaEvent: Sendable, Hashable {
  /// The end of a partition was reached (only with `enable.partition.eof=true`); the position is where the next
  /// message will be.
  case partitionEnd(KafkaPosition)
  /// Something failed that librdkafka deals with itself, such as a lost connection: for logs, not for handling.
  case error(KafkaError)
}

/// What one poll brought.
public struct KafkaBatch: Sendable, Hashable {
  /// The messages, in order within each partition.
  public var messages: [KafkaMessage]
  /// What happened besides.
  public var events: [KafkaEvent]

  /// Makes a batch.
  public init(messages: [KafkaMessage] = [], events: [KafkaEvent] = []) {
    self.messages = messages
    self.events = events
  }
}
