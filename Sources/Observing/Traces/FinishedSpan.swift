import Tracing

/// A Kafka record that a span is about.
///
/// A planner makes one for each traced event, so it is no `SpanAttributes`, which would be a dictionary of four texts. It is exported as
/// the same attributes.
///
/// Source of the names: OpenTelemetry, "Semantic conventions for Kafka".
public struct SpanRecord: Sendable, Equatable {
  public var topic: String
  public var partition: Int32
  public var offset: Int64

  /// Names a record.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition.
  ///   - offset: The offset.
  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }

  /// The attributes that it is exported as, in the order of their names.
  var attributes: [(String, SpanAttribute)] {
    [
      ("messaging.destination.name", .string(topic)),
      ("messaging.destination.partition.id", .string(String(partition))),
      ("messaging.kafka.offset", .int64(offset)), ("messaging.system", .string("kafka")),
    ]
  }
}

/// A span that has ended, as it waits for its export.
struct FinishedSpan: Sendable {
  /// Its place in its trace.
  var place: TraceContext
  /// The id of its parent; nil for the first span of a trace.
  var parent: UInt64?
  var name: String
  var kind: SpanKind
  /// The wall clock at its start and its end, in ns since 1970.
  var start: UInt64, end: UInt64
  var attributes: SpanAttributes
  /// The Kafka record that it is about; nil if it is about none, or about several.
  var record: SpanRecord?
  /// Whether it succeeded; nil if nobody said so.
  var status: SpanStatus?
  var events: [SpanEvent]
  var links: [SpanLink]
}
