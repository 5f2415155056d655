public import CoreMetrics

/// Puts the metrics that libraries make with swift-metrics into a registry.
///
/// Names get the prefix `library_` and the endings of Prometheus, and characters that Prometheus does not allow become underscores.
/// Timers are histograms in seconds. What does not fit the bounds of the registry is not kept.
public struct RegistryMetricsFactory: MetricsFactory {
  private let registry: MetricRegistry
  /// The upper ends of the buckets of timers, in seconds, and of other observations.
  private static let (seconds, amounts): ([Double], [Double]) = (
    [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10], [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
  )

  /// Makes a factory for a registry.
  ///
  /// - Parameter registry: Gets the metrics.
  public init(_ registry: MetricRegistry) { self.registry = registry }

  /// Makes a counter.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    handler(label, "_total", .counter, dimensions)
  }

  /// Makes a histogram, or a gauge if observations are not to be aggregated.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(label, "", aggregate ? .histogram(Self.amounts) : .gauge, dimensions)
  }

  /// Makes a gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    handler(label, "", .gauge, dimensions)
  }

  /// Makes a histogram of durations in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    handler(label, "_seconds", .histogram(Self.seconds), dimensions)
  }

  /// Does nothing: counts stay until the process ends.
  public func destroyCounter(_ handler: any CounterHandler) {}
  /// Does nothing: observations stay until the process ends.
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  /// Does nothing: the last value stays until the process ends.
  public func destroyMeter(_ handler: any MeterHandler) {}
  /// Does nothing: observations stay until the process ends.
  public func destroyTimer(_ handler: any TimerHandler) {}

  private func handler(
    _ label: String, _ ending: String, _ kind: MetricDescription.Kind, _ dimensions: [(String, String)]
  ) -> RegistryMetric {
    let name = MetricRegistry.foreignPrefix + Self.name(label) + ending
    let labels = dimensions.map { MetricLabel(Self.name($0.0), upTo: MetricRegistry.foreignSeriesMax, "") }
    let description = MetricDescription(
      name, kind, labels, seriesMax: MetricRegistry.foreignSeriesMax, help: "Metric of a library", advice: "")
    return RegistryMetric(registry.foreign(description), dimensions.map(\.1))
  }

  private static func name(_ label: String) -> String {
    String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }).lowercased()
  }
}

/// One series of a metric that a library makes.
private final class RegistryMetric: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
  private let family: MetricFamily?
  private let labels: [String]

  /// Makes the series; without a metric it keeps nothing.
  init(_ family: MetricFamily?, _ labels: [String]) {
    self.family = family
    self.labels = labels
  }

  func increment(by amount: Int64) { family?.add(max(0, Double(amount)), labels) }
  func increment(by amount: Double) { family?.add(amount, labels) }
  func decrement(by amount: Double) { family?.add(-amount, labels) }
  func set(_ value: Int64) { set(Double(value)) }
  /// The meaning of a library's gauge is not known. The largest value of those without a series of their own is at least a value of one.
  func set(_ value: Double) { family?.set(value, labels, beyond: .maximum) }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) {
    if case .histogram = family?.description.kind { family?.observe(value, labels) } else { set(value) }
  }
  func recordNanoseconds(_ duration: Int64) { family?.observe(Double(duration) / 1e9, labels) }
  /// Does nothing: counts stay until the process ends.
  func reset() {}
}
