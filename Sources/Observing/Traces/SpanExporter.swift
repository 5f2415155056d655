import Foundation
import Synchronization

/// Sends the spans of a tracer to a collector, on a thread of its own: every five seconds, or sooner when there are many.
///
/// A collector that is slow or gone costs nothing but the spans: each request has a time limit, what a request loses is counted and not
/// repeated, and when too many spans wait, new ones are dropped and counted (`SpanQueue`). May be used from any thread.
public final class SpanExporter: Sendable {
  /// The most spans of a request, about 300 kB of JSON.
  /// - Beyond: the rest goes into the next request.
  static let requestSpansMax = 512
  /// The longest time that a span waits while there are few.
  static let interval = Duration.seconds(5)
  /// The time between two looks at the number of spans that wait.
  private static let lookInterval = DispatchTimeInterval.milliseconds(500)

  private let tracer: SpanTracer
  private let document: OTLPDocument
  private let exported: MetricFamily
  private let dropped: MetricFamily
  private let send: @Sendable ([UInt8]) throws -> Void
  private let tell: @Sendable (String?) -> Void
  private let isEnding = Atomic<Bool>(false)
  private let isFailing = Mutex(false)
  private let wake = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// Makes an exporter.
  ///
  /// - Parameters:
  ///   - tracer: Its spans are exported.
  ///   - service: The service in the collector: its name, its version, and the name of this process.
  ///   - metrics: Counts what is exported and dropped.
  ///   - send: Sends the bytes of one request, an `ExportTraceServiceRequest` in JSON, and returns when it is accepted or a time limit
  ///     has passed. Called on the exporter's thread.
  ///   - tell: Called with the error of the first request that fails, and with nil when one succeeds again.
  public init(
    of tracer: SpanTracer, service: (name: String, version: String, instance: String), metrics: SpanMetrics,
    send: @escaping @Sendable ([UInt8]) throws -> Void, tell: @escaping @Sendable (String?) -> Void
  ) {
    self.tracer = tracer
    document = OTLPDocument(service: service)
    exported = metrics.exported
    dropped = metrics.dropped
    self.send = send
    self.tell = tell
  }

  /// Starts the thread.
  public func start() {
    let thread = Thread { [self] in
      run()
      ended.signal()
    }
    thread.name = "rouse-spans"
    thread.start()
  }

  /// Exports what waits, until a request fails, and ends the thread.
  ///
  /// - Parameter timeout: The longest wait. The thread ends with the process at the latest.
  public func stop(timeout: Duration) {
    isEnding.store(true, ordering: .relaxed)
    wake.signal()
    _ = ended.wait(timeout: .now() + .milliseconds(Int(timeout / .milliseconds(1))))
  }

  private func run() {
    var last = ContinuousClock.now
    while !isEnding.load(ordering: .relaxed) {
      _ = wake.wait(timeout: .now() + Self.lookInterval)
      let now = ContinuousClock.now
      guard now - last >= Self.interval || tracer.queue.count >= Self.requestSpansMax else { continue }
      last = now
      exportAll()
    }
    exportAll()
  }

  /// Exports what waits, in requests of `requestSpansMax`, until a request fails.
  func exportAll() {
    while true {
      let (spans, lost) = tracer.queue.take(Self.requestSpansMax)
      if lost > 0 { dropped.add(lost, [SpanMetrics.tooMany]) }
      guard !spans.isEmpty, export(spans) else { return }
    }
  }

  /// Sends one request.
  ///
  /// - Returns: Whether it was accepted.
  private func export(_ spans: [FinishedSpan]) -> Bool {
    do {
      try send(document.bytes(of: spans))
      exported.add(spans.count)
      report(nil)
      return true
    } catch {
      dropped.add(spans.count, [SpanMetrics.notAccepted])
      report("\(error)")
      return false
    }
  }

  private func report(_ error: String?) {
    let changes = isFailing.withLock { isFailing in
      defer { isFailing = error != nil }
      return isFailing != (error != nil)
    }
    if changes { tell(error) }
  }
}

/// The metrics of the export of spans.
public struct SpanMetrics: Sendable {
  let exported, dropped: MetricFamily
  /// The values of the label `reason`.
  static let (tooMany, notAccepted) = ("queue", "export")

  /// The number of spans that the collector accepted so far, and of those that were lost.
  package var counts: (exported: Int, dropped: Int) { (Int(exported.total), Int(dropped.total)) }

  /// Adds the metrics to a registry.
  public init(_ registry: MetricRegistry) {
    exported = registry.counter(
      "rouse_trace_spans_exported_total", help: "Spans of traces that the collector accepted",
      advice: "None with `traces.endpoint`: no event is sampled, or see rouse_trace_spans_dropped_total.")
    dropped = registry.counter(
      "rouse_trace_spans_dropped_total",
      [MetricLabel("reason", upTo: 2, "`queue` if too many waited, `export` if the collector did not take them")],
      help: "Spans of traces that were lost",
      advice: "The collector is slow or gone; the log has its answer. Nothing else depends on it.")
  }
}
