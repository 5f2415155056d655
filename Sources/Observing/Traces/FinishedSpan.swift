import Tracing

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
  /// Whether it succeeded; nil if nobody said so.
  var status: SpanStatus?
  var events: [SpanEvent]
  var links: [SpanLink]
}
