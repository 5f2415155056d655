public import ServiceContextModule
public import Tracing

/// Starts spans, and takes them over from and hands them to other programs by `traceparent`. May be used from any thread.
public final class SpanTracer: Tracer {
  let queue = SpanQueue()

  /// Makes a tracer, whose spans wait until a `SpanExporter` takes them.
  public init() {}

  /// Starts a span: the child of the context's place in a trace, or the first one of a trace that is not sampled.
  public func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> TracedSpan {
    let context = context()
    let parent = context.trace
    var place =
      parent
      ?? TraceContext(
        traceHigh: .random(in: 1 ... .max), traceLow: .random(in: 1 ... .max), span: 1, isSampled: false)
    place.span = .random(in: 1 ... .max)
    return TracedSpan(
      operationName, in: context, at: place, under: parent?.span, kind, from: instant().nanosecondsSinceEpoch, queue)
  }

  /// Starts the first span of a trace.
  ///
  /// - Parameters:
  ///   - operationName: The name of the operation.
  ///   - place: The place of the span itself.
  ///   - kind: Its kind.
  ///   - instant: Its start.
  public func startTrace(
    _ operationName: String, at place: TraceContext, ofKind kind: SpanKind, from instant: some TracerInstant
  ) -> TracedSpan {
    TracedSpan(
      operationName, in: .topLevel, at: place, under: nil, kind, from: instant.nanosecondsSinceEpoch, queue)
  }

  /// Records a span that is over, which costs less than to start and end one.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - parent: The place of its parent in a sampled trace.
  ///   - kind: Its kind.
  ///   - start: Its start.
  ///   - end: Its end.
  ///   - attributes: Facts about the operation.
  ///   - record: The Kafka record that it is about; nil for none.
  ///   - status: Whether it succeeded; nil if nobody says so.
  /// - Returns: The place of the span.
  @discardableResult
  public func record(
    _ name: String, under parent: TraceContext, ofKind kind: SpanKind, from start: WallInstant, to end: WallInstant,
    attributes: SpanAttributes = [:], about record: SpanRecord? = nil, status: SpanStatus? = nil
  ) -> TraceContext {
    var place = parent
    place.span = .random(in: 1 ... .max)
    let began = start.nanosecondsSinceEpoch
    queue.add(
      FinishedSpan(
        place: place, parent: parent.span, name: name, kind: kind, start: began,
        end: max(began, end.nanosecondsSinceEpoch), attributes: attributes, record: record, status: status, events: [],
        links: []))
    return place
  }

  /// Does nothing: spans are exported in time, and at the end of the process.
  public func forceFlush() {}

  private static let header = "traceparent"

  /// Reads the header `traceparent`.
  public func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let text = extractor.extract(key: Self.header, from: carrier) else { return }
    context.trace = TraceContext(traceparent: text)
  }

  /// Writes the header `traceparent`.
  public func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let trace = context.trace else { return }
    injector.inject(trace.traceparent, forKey: Self.header, into: &carrier)
  }
}

/// An instant of the wall clock.
public struct WallInstant: TracerInstant {
  /// The nanoseconds since 1970.
  public var nanosecondsSinceEpoch: UInt64

  /// Makes an instant.
  /// - Parameter microseconds: The microseconds since 1970; earlier instants count as 1970.
  public init(microseconds: Int64) { nanosecondsSinceEpoch = UInt64(max(0, microseconds)) * 1000 }

  public static func < (left: WallInstant, right: WallInstant) -> Bool {
    left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
  }
}
