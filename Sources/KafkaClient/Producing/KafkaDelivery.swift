/// The report of a produced message that a broker acknowledged.
public struct KafkaDelivery: Sendable, Hashable {
  /// The tag that the message was sent with.
  public var tag: UInt64
  /// The number of the partition that has the message.
  public var partition: Int32
  /// The offset of the message.
  public var offset: Int64

  /// Makes a report.
  /// - Parameters:
  ///   - tag: The tag that the message was sent with.
  ///   - partition: The number of the partition that has the message.
  ///   - offset: The offset of the message.
  public init(tag: UInt64, partition: Int32, offset: Int64) {
    self.tag = tag
    self.partition = partition
    self.offset = offset
  }
}

/// The numbers of messages of a producer since it was made.
public struct KafkaDeliveryCounts: Sendable, Hashable {
  /// The number of messages that were taken into the queue.
  public var sent: UInt64
  /// The number of messages that a broker acknowledged.
  public var delivered: UInt64
  /// The number of messages that were not delivered because of an error.
  public var failed: UInt64
  /// The number of messages that were given up by an abort or a purge.
  public var purged: UInt64

  /// Creates counts.
  /// - Parameters:
  ///   - sent: The number of messages that were taken into the queue.
  ///   - delivered: The number of messages that a broker acknowledged.
  ///   - failed: The number of messages that failed.
  ///   - purged: The number of messages that were given up.
  public init(sent: UInt64, delivered: UInt64, failed: UInt64, purged: UInt64) {
    self.sent = sent
    self.delivered = delivered
    self.failed = failed
    self.purged = purged
  }

  /// The number of messages that have no delivery report yet. Meaningless with `delivery.report.only.error`, which
  /// counts no delivery.
  public var inFlight: UInt64 { sent &- delivered &- failed &- purged }
}

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
