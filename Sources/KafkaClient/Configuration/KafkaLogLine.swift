/// A line of librdkafka's own log.
public struct KafkaLogLine: Sendable, Hashable {
  /// The syslog level: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug.
  public var level: Int32
  /// The part of librdkafka that logged the line, such as `FAIL` or `REBALANCE`.
  public var facility: String
  /// The text.
  public var message: String
}

/// Receives librdkafka's log lines, on the thread that polls the client, while it polls.
public typealias KafkaLogSink = (KafkaLogLine) -> Void
