public import ServiceContextModule
import Synchronization
public import Tracing

/// A span that is being made. It is exported when it ends, if its trace is sampled. May be used from any thread.
public final class TracedSpan: Span {
  private struct Content {
    var name: String
    var attributes = SpanAttributes()
    var status: SpanStatus?
    var events: [SpanEvent] = []
    var links: [SpanLink] = []
    var hasEnded = false
  }

  /// The number of events of a span, and the number of its links.
  /// - Beyond: further ones are left out.
  static let partsMax = 32

  /// The context of the span, which its children start with.
  public let context: ServiceContext
  private let place: TraceContext
  private let parent: UInt64?
  private let kind: SpanKind
  private let start: UInt64
  private let queue: SpanQueue
  private let content: Mutex<Content>

  /// Starts a span.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - context: The context of its caller.
  ///   - place: Its place in its trace.
  ///   - parent: The id of its parent; nil for the first span of a trace.
  ///   - kind: Its kind.
  ///   - start: The wall clock, in ns since 1970.
  ///   - queue: Gets the span when it ends.
  init(
    _ name: String, in context: ServiceContext, at place: TraceContext, under parent: UInt64?, _ kind: SpanKind,
    from start: UInt64, _ queue: SpanQueue
  ) {
    var context = context
    context.trace = place
    self.context = context
    self.place = place
    self.parent = parent
    self.kind = kind
    self.start = start
    self.queue = queue
    content = Mutex(Content(name: name))
  }

  /// The name of the operation.
  public var operationName: String {
    get { content.withLock { $0.name } }
    set { change { $0.name = newValue } }
  }

  /// Facts about the operation.
  public var attributes: SpanAttributes {
    get { content.withLock { $0.attributes } }
    set { change { $0.attributes = newValue } }
  }

  /// Whether the span is exported, and has not ended.
  public var isRecording: Bool { place.isSampled && content.withLock { !$0.hasEnded } }

  /// Says whether the operation succeeded.
  public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

  /// Adds an event of the span.
  public func addEvent(_ event: SpanEvent) {
    change { if $0.events.count < Self.partsMax { $0.events.append(event) } }
  }

  /// Adds an event for an error. Only the error's type is kept: its text might hold what a trace must not show.
  public func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    var attributes = attributes
    attributes["exception.type"] = "\(type(of: error))"
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  /// Adds a link to another span.
  public func addLink(_ link: SpanLink) {
    change { if $0.links.count < Self.partsMax { $0.links.append(link) } }
  }

  /// Ends the span, once; later calls change nothing.
  public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    guard place.isSampled else { return }
    let end = instant().nanosecondsSinceEpoch
    let finished: FinishedSpan? = content.withLock { content in
      guard !content.hasEnded else { return nil }
      content.hasEnded = true
      return FinishedSpan(
        place: place, parent: parent, name: content.name, kind: kind, start: start, end: max(start, end),
        attributes: content.attributes, record: nil, status: content.status, events: content.events,
        links: content.links)
    }
    if let finished { queue.add(finished) }
  }

  private func change(_ change: (inout Content) -> Void) {
    content.withLock { content in if !content.hasEnded { change(&content) } }
  }
}
