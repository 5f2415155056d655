/// The report of a produced message that was not delivered.
public struct KafkaDeliveryFailure: Sendable, Hashable {
  /// The partition that the message was meant for; its number is -1 when none was chosen yet.
  public var partition: KafkaTopicPartition
  /// The tag that the message was sent with.
  public var tag: UInt64
  /// The reason.
  public var error: KafkaError

  /// Makes a report.
  /// - Parameters:
  ///   - partition: The partition that the message was meant for.
  ///   - tag: The tag that the message was sent with.
  ///   - error: The reason.
  public init(partition: KafkaTopicPartition, tag: UInt64, error: KafkaError) {
    self.partition = partition
    self.tag = tag
    self.error = error
  }
}
