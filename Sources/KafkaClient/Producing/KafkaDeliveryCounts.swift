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
