import Synchronization

/// All metrics of a process. May be used from any thread.
///
/// Values come in two ways. Stages add what they did to families, once for each batch or commit. What is read and not counted
/// (memory, file descriptors, lag) is set by collectors, which run before each exposition, on the thread that asks for it.
///
/// Metrics of libraries come by `RegistryMetricsFactory`, with names that begin with `library_`. They are not described in
/// Rouse's tables, and their number is bounded here.
public final class MetricRegistry: Sendable {
  private struct State {
    var families: [MetricFamily] = []
    var collectors: [@Sendable () -> Void] = []
    var foreign: [String: MetricFamily] = [:]
  }

  private let state = Mutex(State())
  private let overflow = MetricFamily(MetricRegistry.overflowDescription)

  /// The prefix of the names of metrics that libraries make.
  public static let foreignPrefix = "library_"
  /// The largest number of metrics of libraries.
  /// - Beyond: what a library counts in a further metric is not kept.
  public static let foreignMax = 200
  /// The largest number of series of one metric of a library.
  /// - Beyond: as for `seriesMax` of a description.
  static let foreignSeriesMax = 100

  /// The metric of the registry itself.
  public static let overflowDescription = MetricDescription(
    "rouse_metrics_overflow_total", .counter,
    help: "Values that went to a series named other, because their metric had too many series",
    advice:
      "Look for a metric with the label value `other`. Usually a policy has very many kinds; totals are right all the same."
  )

  /// Makes a registry that holds only its own metric.
  public init() { state.withLock { $0.families.append(overflow) } }

  /// Adds a metric.
  ///
  /// - Parameter description: The description. No metric of the registry has its name.
  /// - Returns: The metric.
  public func add(_ description: MetricDescription) -> MetricFamily {
    let family = MetricFamily(description) { [overflow] in overflow.add(1) }
    state.withLock { state in
      precondition(!state.families.contains { $0.description.name == description.name }, "\(description.name) is there")
      state.families.append(family)
    }
    return family
  }

  /// Adds a closure that reads values and sets metrics.
  ///
  /// - Parameter collect: Called before each exposition. It must not block for long, and must not add to the registry.
  public func collect(_ collect: @escaping @Sendable () -> Void) {
    state.withLock { $0.collectors.append(collect) }
  }

  /// Returns the metric of a library, which is made if it is new.
  ///
  /// - Parameter description: The description. Its name begins with `foreignPrefix`.
  /// - Returns: The metric; nil if a metric of that name has another sort or other labels, or there are too many.
  func foreign(_ description: MetricDescription) -> MetricFamily? {
    state.withLock { state in
      if let known = state.foreign[description.name] {
        return known.description.kind == description.kind && known.description.labels == description.labels
          ? known : nil
      }
      guard state.foreign.count < Self.foreignMax else { return nil }
      let family = MetricFamily(description) { [overflow] in overflow.add(1) }
      state.foreign[description.name] = family
      return family
    }
  }

  /// Runs the collectors and returns all metrics: Rouse's in the order in which they were added, then those of libraries by name.
  func collected() -> [MetricFamily] {
    let (families, collectors, foreign) = state.withLock { ($0.families, $0.collectors, $0.foreign) }
    for collect in collectors { collect() }
    return families + foreign.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// Adding a metric by its parts.
extension MetricRegistry {
  /// The descriptions of all metrics but those of libraries, in the order in which they were added.
  public var descriptions: [MetricDescription] { state.withLock { $0.families.map(\.description) } }

  /// Adds a counter.
  ///
  /// - Parameters:
  ///   - name: The name, with the ending `_total`.
  ///   - labels: The labels.
  ///   - help: The meaning, as one sentence without a full stop.
  ///   - advice: The advice for a value that looks odd, as a sentence.
  /// - Returns: The metric.
  public func counter(_ name: String, _ labels: [MetricLabel] = [], help: String, advice: String) -> MetricFamily {
    add(MetricDescription(name, .counter, labels, help: help, advice: advice))
  }

  /// Adds a gauge.
  ///
  /// - Parameters:
  ///   - name: The name, with the unit at its end.
  ///   - labels: The labels.
  ///   - help: The meaning, as one sentence without a full stop.
  ///   - advice: The advice for a value that looks odd, as a sentence.
  /// - Returns: The metric.
  public func gauge(_ name: String, _ labels: [MetricLabel] = [], help: String, advice: String) -> MetricFamily {
    add(MetricDescription(name, .gauge, labels, help: help, advice: advice))
  }

  /// Adds a histogram.
  ///
  /// - Parameters:
  ///   - name: The name, with the unit at its end.
  ///   - bounds: The upper ends of the buckets, ascending.
  ///   - labels: The labels.
  ///   - help: The meaning, as one sentence without a full stop.
  ///   - advice: The advice for a value that looks odd, as a sentence.
  /// - Returns: The metric.
  public func histogram(
    _ name: String, _ bounds: [Double], _ labels: [MetricLabel] = [], help: String, advice: String
  ) -> MetricFamily {
    add(MetricDescription(name, .histogram(bounds), labels, help: help, advice: advice))
  }

  /// Adds an info.
  ///
  /// - Parameters:
  ///   - name: The name, with the ending `_info`.
  ///   - labels: The labels.
  ///   - help: The meaning, as one sentence without a full stop.
  ///   - advice: The advice for a value that looks odd, as a sentence.
  /// - Returns: The metric.
  public func info(_ name: String, _ labels: [MetricLabel], help: String, advice: String) -> MetricFamily {
    add(MetricDescription(name, .info, labels, help: help, advice: advice))
  }
}
