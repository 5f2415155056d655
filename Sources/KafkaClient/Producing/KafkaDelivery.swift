/// The report of a produced message.
public struct KafkaDelivery: Sendable, Hashable {
  /// The partition that the message was meant for; its number is -1 when none was chosen yet.
  public var partition: KafkaTopicPartition
  /// The offset that the message got; `nil` when it failed, or when the broker returned none.
  public var offset: Int64?
  /// The tag that the message was sent with.
  public var tag: UInt64
  /// The reason why the message failed; `nil` when it was delivered.
  public var error: KafkaError?

  /// Makes a report.
  /// - Parameters:
  ///   - partition: The partition that the message was meant for.
  ///   - offset: The offset that the message got.
  ///   - tag: The tag that the message was sent with.
  ///   - error: The reason why the message failed.
  public init(partition: KafkaTopicPartition, offset: Int64?, tag: UInt64, error: KafkaError?) {
    self.partition = partition
    self.offset = offset
    self.tag = tag
    self.error = error
  }
}

/// Receives the report of a message. It is called on the thread that owns the producer, inside a poll, a flush, the end of a
/// transaction, or a send that waits for room in the queue.
public typealias KafkaDeliveryHandler = (KafkaDelivery) -> Void
