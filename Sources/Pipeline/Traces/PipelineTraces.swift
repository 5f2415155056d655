import Domain
public import Observing
import Planning
import ServiceContextModule
import Tracing

/// The traces of the events that a process handles. A sampled event gets a span of each stage:
///
/// - `intake`, from its decoding until its log records are delivered;
/// - `plan`, from the first to the last step of its log record, for each partition of the log;
/// - `commit`, from the begin of the transaction's commit until the broker's answer, likewise;
/// - `audit`, for each batch of decisions about it that is stored, until it is stored.
///
/// An event that its publisher gave a `traceparent` is sampled if that says so, and its spans are children of the publisher's. Of the
/// events without one, intake samples a share: it begins a trace, whose ids follow from the event's source and id, so that
/// an event which is read again after a crash does not get other ids. From then on the event has a `traceparent`, as its decisions and
/// commands have.
///
/// A process without traces, or with an event that is not sampled, does one comparison for each event. May be used from any thread.
public struct PipelineTraces: Sendable {
  /// Makes the spans.
  public let tracer = SpanTracer()
  /// The share of the events without a `traceparent` that are sampled, in units of 2⁻⁶⁴.
  private let threshold: UInt64

  /// The most spans of a stage that are under way at a time: those of a batch of intake, of a transaction of a planner, or of a batch of
  /// the audit.
  /// - Beyond: further events get no span of this stage.
  static let spansMax = 256

  /// Makes traces.
  ///
  /// - Parameter share: The share of the events without a `traceparent` that are sampled, 0…1.
  public init(share: Double) {
    threshold = share >= 1 ? .max : UInt64(max(0, share) * 0x1p64)
  }

  /// Returns the place in its trace that an event has; nil if it has none or is not sampled.
  ///
  /// - Parameter traceparent: The `traceparent` of the event.
  static func sampled(_ traceparent: String?) -> TraceContext? {
    guard let traceparent, let context = TraceContext(traceparent: traceparent), context.isSampled else { return nil }
    return context
  }

  /// Returns the place in a new trace for an event without a `traceparent`; nil if it is not sampled.
  ///
  /// - Parameter event: The event.
  func begin(_ event: DomainEvent) -> TraceContext? {
    guard threshold > 0 else { return nil }
    var hash = Hash64()
    hash.add(event.source)
    hash.add(event.id)
    var random = SplitMix64(state: hash.value)
    guard random.next() <= threshold else { return nil }
    let digits = SHA256.hexDigest(of: Array("\(event.source.text)\u{0}\(event.id.text)".utf8))
    return TraceContext(traceparent: "00-\(digits.prefix(32))-\(digits.dropFirst(32).prefix(16))-01")
  }

  /// Starts the span of the stage `intake`, and a trace if the event begins one. Then the event gets its `traceparent`.
  ///
  /// - Parameters:
  ///   - record: The decoded log record.
  ///   - instant: The wall clock, in µs since 1970.
  /// - Returns: The span, to be ended when the record is delivered; nil if the record is no event, or not sampled.
  func takeIn(_ record: inout LogRecord, at instant: Int64) -> TracedSpan? {
    guard case .event(var event) = record.content else { return nil }
    let span: TracedSpan
    if event.traceparent == nil {
      guard let place = begin(event) else { return nil }
      event.traceparent = place.traceparent
      record.content = .event(event)
      span = tracer.startTrace(
        "intake", at: place, ofKind: .consumer, from: WallInstant(microseconds: instant))
    } else {
      guard let parent = Self.sampled(event.traceparent) else { return nil }
      span = start("intake", under: parent, .consumer, at: instant)
    }
    span.updateAttributes { attributes in
      attributes["cloudevents.event_id"] = event.id.text
      attributes["cloudevents.event_source"] = event.source.text
      attributes["cloudevents.event_type"] = event.type.text
      attributes["cloudevents.event_subject"] = event.subject.text
    }
    return span
  }

  /// Makes the spans of the stage `audit` for the events of decisions that were stored.
  ///
  /// - Parameters:
  ///   - records: The decisions and commands that were stored.
  ///   - began: The wall clock before they were stored, in µs since 1970.
  ///   - end: The wall clock after it.
  func stored(_ records: [AuditRecord], from began: Int64, to end: Int64) {
    var spans: [TraceContext: (order: Int, decisions: Int)] = [:]
    for record in records {
      guard case .decision(let line) = record.content, line.traceparent.isPresent else { continue }
      let text = String(decoding: line.bytes[line.traceparent.range], as: UTF8.self)
      guard let place = Self.sampled(text), spans[place] != nil || spans.count < Self.spansMax else { continue }
      let order = spans.count
      spans[place, default: (order, 0)].decisions += 1
    }
    for (place, (_, decisions)) in spans.sorted(by: { $0.value.order < $1.value.order }) {
      var attributes = SpanAttributes()
      attributes["rouse.decisions"] = decisions
      tracer.record(
        "audit", under: place, ofKind: .consumer, from: WallInstant(microseconds: began),
        to: WallInstant(microseconds: end), attributes: attributes)
    }
  }

  /// Starts a span of a stage.
  ///
  /// - Parameters:
  ///   - name: The name of the stage.
  ///   - parent: The place of the event in its trace.
  ///   - kind: The kind of the span.
  ///   - instant: The wall clock, in µs since 1970.
  func start(_ name: String, under parent: TraceContext, _ kind: SpanKind, at instant: Int64) -> TracedSpan {
    tracer.startSpan(name, context: .tracing(parent), ofKind: kind, at: WallInstant(microseconds: instant))
  }
}

extension [TracedSpan] {
  /// Ends all spans.
  ///
  /// - Parameter instant: The wall clock, in µs since 1970.
  func end(at instant: Int64) {
    for span in self { span.end(at: WallInstant(microseconds: instant)) }
  }
}
