import Foundation
import Installation
import Observing
import Pipeline
import Synchronization

/// The work for metrics and traces during a run.
package struct ObservedFigures: Sendable, Equatable {
  /// The number of scrapes.
  package var scrapes = 0
  /// The size of the largest scrape, in bytes.
  package var scrapeBytesMax = 0
  /// The longest time that making the text of a scrape took, in seconds.
  package var scrapeSecondsMax = 0.0
  /// The number of spans that were handed to the sink.
  package var spansExported = 0
  /// The number of spans that were lost, because too many waited.
  package var spansDropped = 0
  /// The size of all requests to the sink, in bytes.
  package var spanBytes = 0

  /// Adds the figures of another round: sums, and maxima of what has a maximum.
  mutating func add(_ other: ObservedFigures) {
    scrapes += other.scrapes
    scrapeBytesMax = max(scrapeBytesMax, other.scrapeBytesMax)
    scrapeSecondsMax = max(scrapeSecondsMax, other.scrapeSecondsMax)
    spansExported += other.spansExported
    spansDropped += other.spansDropped
    spanBytes += other.spanBytes
  }
}

/// Observes a stage of a benchmark as monitoring does: it scrapes the metrics after each 15 seconds in which the stage works, and takes the spans.
///
/// Everything happens in this process, so it counts towards the cost. No HTTP is spoken: the text of a scrape, and the requests with
/// spans, are made and dropped.
final class StageObserver {
  private let counters: PipelineCounters
  private let scraper = BenchmarkThread(name: "bench-scraper")
  private let exporter: SpanExporter?
  private let figures: SharedFigures

  /// The time between two scrapes in which the stage works, in seconds: the interval that the page about observability recommends.
  private static let interval = 15.0

  private final class SharedFigures: Sendable {
    let values = Mutex(ObservedFigures())
  }

  /// Begins to observe.
  /// - Parameters:
  ///   - counters: the metrics and the traces of the stage.
  ///   - isWorking: whether the stage works now; scrapes wait until it does.
  init(_ counters: PipelineCounters, isWorking: @escaping @Sendable () -> Bool) {
    self.counters = counters
    let figures = SharedFigures()
    self.figures = figures
    ProcessMetrics.add(to: counters.registry)
    exporter = counters.traces.map { traces in
      SpanExporter(
        of: traces.tracer, service: ("rouse", "bench", "bench"), metrics: counters.spans,
        send: { bytes in figures.values.withLock { $0.spanBytes += bytes.count } }, tell: { _ in })
    }
    exporter?.start()
    scraper.start { [scraper, registry = counters.registry] in
      // At the begin, so that a short run has a scrape, too.
      var (wait, last) = (0.0, MonotonicClock.seconds())
      while !scraper.isAsked {
        let now = MonotonicClock.seconds()
        if isWorking() {
          wait -= now - last
          if wait <= 0 {
            wait += Self.interval
            Self.scrape(registry, figures)
          }
        }
        last = now
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  private static func scrape(_ registry: MetricRegistry, _ figures: SharedFigures) {
    let began = MonotonicClock.seconds()
    let bytes = Exposition.bytes(of: registry, as: .openMetrics)
    let seconds = MonotonicClock.seconds() - began
    figures.values.withLock {
      $0.scrapes += 1
      $0.scrapeBytesMax = max($0.scrapeBytesMax, bytes.count)
      $0.scrapeSecondsMax = max($0.scrapeSecondsMax, seconds)
    }
  }

  /// Ends the observation. The spans that wait are exported first.
  /// - returns: the work for metrics and traces.
  func end() throws -> ObservedFigures {
    try scraper.end()
    exporter?.stop(timeout: .seconds(10))
    var all = figures.values.withLock { $0 }
    (all.spansExported, all.spansDropped) = counters.spans.counts
    return all
  }
}
