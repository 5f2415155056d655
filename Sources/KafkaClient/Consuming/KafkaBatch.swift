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
