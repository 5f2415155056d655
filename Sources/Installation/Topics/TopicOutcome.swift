public import KafkaClient

/// The outcome of creating one topic of a plan.
public struct TopicOutcome: Equatable, Sendable {
  /// The name of the topic.
  public var name: String
  /// Whether the topic was there already.
  public var existed: Bool
  /// The reason why the topic could not be created; nil if it was created or existed.
  public var error: KafkaError?
}
