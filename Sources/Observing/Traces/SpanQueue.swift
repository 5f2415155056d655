import Synchronization

/// The spans that wait for their export. Bounded: when the exporter falls behind, new spans are dropped and counted. May be used from
/// any thread.
final class SpanQueue: Sendable {
  private struct WaitingSpans {
    var spans: [FinishedSpan] = []
    var dropped = 0
  }

  /// The number of spans that may wait, some megabytes.
  /// - Beyond: a span that ends is dropped, and counted in `rouse_trace_spans_dropped_total`.
  static let spansMax = 4096

  private let waiting = Mutex(WaitingSpans())

  /// Adds a span, or drops it if too many wait.
  func add(_ span: FinishedSpan) {
    waiting.withLock { waiting in
      if waiting.spans.count < Self.spansMax { waiting.spans.append(span) } else { waiting.dropped += 1 }
    }
  }

  /// Removes the oldest spans.
  ///
  /// - Parameter most: The largest number to remove.
  /// - Returns: The spans, oldest first, and the number of spans that were dropped since the last call.
  func take(_ most: Int) -> (spans: [FinishedSpan], dropped: Int) {
    waiting.withLock { waiting in
      let spans = Array(waiting.spans.prefix(most))
      waiting.spans.removeFirst(spans.count)
      defer { waiting.dropped = 0 }
      return (spans, waiting.dropped)
    }
  }

  /// The number of spans that wait.
  var count: Int { waiting.withLock { $0.spans.count } }
}
