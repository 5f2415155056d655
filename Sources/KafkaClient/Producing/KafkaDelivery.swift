/// What became of a produced message.
public struct KafkaDelivery: Sendable, Hashable {
  /// Where it went, or would have gone; the partition is -1 when it was not chosen yet.
  public var partition: KafkaTopicPartition
  /// The offset it got; `nil` when it failed, or when the broker did not say.
  public var offset: Int64?
  /// The tag it was sent with.
  public var tag: UInt64
  /// Why it failed; `nil` when it was delivered.
  public var error: KafkaError?

  /// Makes a report.
  public init(partition: KafkaTopicPartition, offset: Int64?, tag: UInt64, error: KafkaError?) {
    self.partition = partition
    self.offset = offset
    self.tag = tag
    self.error = error
  }
}

/// Takes the report of a message, on the thread that owns the producer, inside a poll, a flush, the end of a
/// transaction, or a send that waits for room.
public typealias KafkaDeliveryHandler = (KafkaDelivery) -> Void

/// Counts of a producer since it was made.
public struct KafkaDeliveryCounts: Sendable, Hashable {
  /// Messages that were taken into the queue.
  public var sent: UInt64
  /// Messages that a broker acknowledged.
  public var delivered: UInt64
  /// Messages that failed.
  public var failed: UInt64
  /// Messages that were given up by an abort or a purge.
  public var purged: UInt64

  /// States counts.
  public init(sent: UInt64, delivered: UInt64, failed: UInt64, purged: UInt64) {
    self.sent = sent
    self.delivered = delivered
    self.failed = failed
    self.purged = purged
  }

  /// Messages that have no report yet.
  public var inFlight: UInt64 { sent &- delivered &- failed &- purged }
}
