/// The description of one metric: all that a reader of its values has to know. Registries, the exposition and the page of
/// metrics are made from it, so a metric is described in one place.
///
/// Names follow the conventions of Prometheus and OpenMetrics: a prefix, the thing, the base unit, and `_total` for a count that
/// only grows. The name is that of the samples; only histograms add `_bucket`, `_sum` and `_count`.
public struct MetricDescription: Sendable, Equatable {
  /// The sorts of metrics.
  public enum Kind: Sendable, Equatable {
    /// A count or a sum that only grows while the process runs.
    case counter
    /// A value that goes up and down.
    case gauge
    /// A constant 1 whose labels carry texts.
    case info
    /// Observations, counted by size. The bounds are the upper ends of the buckets, ascending; a last bucket without an end
    /// is added.
    case histogram([Double])

    /// The name of the sort in the exposition of OpenMetrics.
    public var name: String {
      switch self {
      case .counter: "counter"
      case .gauge: "gauge"
      case .info: "info"
      case .histogram: "histogram"
      }
    }
  }

  /// The name of the samples, such as `rouse_decisions_total`.
  public let name: String
  /// The sort of metric.
  public let kind: Kind
  /// The labels, in the order in which values are given.
  public let labels: [MetricLabel]
  /// The largest number of series of the metric.
  /// - Beyond: further label values count towards one series whose label values are all `other`, and
  ///   `rouse_metrics_overflow_total` grows.
  public let seriesMax: Int
  /// The meaning, as one sentence without a full stop.
  public let help: String
  /// The advice for a value that looks odd, as a sentence.
  public let advice: String

  /// Describes a metric.
  ///
  /// - Parameters:
  ///   - name: The name of the samples: lower-case letters, digits and underscores. That of a counter ends in `_total`, that of
  ///     an info in `_info`.
  ///   - kind: The sort of metric.
  ///   - labels: The labels.
  ///   - help: The meaning, as one sentence without a full stop.
  ///   - advice: The advice for a value that looks odd, as a sentence.
  ///   - seriesMax: The largest number of series; nil for the product of the labels' bounds.
  public init(
    _ name: String, _ kind: Kind, _ labels: [MetricLabel] = [], seriesMax: Int? = nil, help: String, advice: String
  ) {
    precondition(kind != .counter || name.hasSuffix("_total"), "the name of the counter \(name) ends in _total")
    precondition(kind != .info || name.hasSuffix("_info"), "the name of the info \(name) ends in _info")
    self.name = name
    self.kind = kind
    self.labels = labels
    self.help = help
    self.advice = advice
    let product = labels.reduce(1) { min(Self.seriesMaxOfAny, $0 * $1.valuesMax) }
    self.seriesMax = min(Self.seriesMaxOfAny, seriesMax ?? product)
  }

  /// The largest number of series of any metric, whatever the bounds of its labels multiply to.
  /// - Beyond: as for `seriesMax`.
  public static let seriesMaxOfAny = 4096

  /// The unit of the values, by the end of the name: `seconds`, `bytes` or nothing.
  public var unit: String? { ["seconds", "bytes"].first { family.hasSuffix("_\($0)") } }

  /// The name without the ending that the sort of metric gives to its samples.
  var family: String {
    switch kind {
    case .counter: String(name.dropLast("_total".count))
    case .info: String(name.dropLast("_info".count))
    case .gauge, .histogram: name
    }
  }
}

/// A label of a metric.
public struct MetricLabel: Sendable, Equatable {
  /// The name, such as `partition`.
  public let name: String
  /// The largest number of different values that are expected.
  /// - Beyond: the metric may reach its `seriesMax`.
  public let valuesMax: Int
  /// The meaning of the values, as a phrase.
  public let meaning: String

  /// Describes a label.
  ///
  /// - Parameters:
  ///   - name: The name: lower-case letters and underscores.
  ///   - valuesMax: The largest number of different values that are expected.
  ///   - meaning: The meaning of the values, as a phrase.
  public init(_ name: String, upTo valuesMax: Int, _ meaning: String) {
    self.name = name
    self.valuesMax = valuesMax
    self.meaning = meaning
  }
}
