import Synchronization

/// One metric of a registry with all its series. May be used from any thread.
///
/// A call takes a lock and, with labels, looks their values up. So a stage counts on its own thread, and adds what it has
/// counted once for each batch or commit.
public final class MetricFamily: Sendable {
  /// The values of one combination of label values.
  struct Series: Sendable {
    var labels: [String]
    /// The count, the value, or the sum of all observations.
    var value = 0.0
    /// The number of observations in each bucket of a histogram; empty for other sorts.
    var buckets: [UInt64] = []
    /// The newest exemplar of each bucket of a histogram that has any; empty before the first.
    var exemplars: [MetricExemplar?] = []
  }

  private struct State {
    var series: [Series] = []
    var places: [[String]: Int] = [:]
    /// The last value of each combination of label values that shares the series `other` of a gauge.
    var shared: [[String]: Double] = [:]
  }

  /// The description of the metric.
  public let description: MetricDescription
  private let bounds: [Double]
  private let state: Mutex<State>
  private let overflow: (@Sendable () -> Void)?

  /// The label value of the series that takes what is beyond the bound.
  static let other = "other"

  /// The value of the series `other` of a gauge, made from the values of all series that are beyond the bound.
  public enum Beyond: Sendable {
    /// Their sum: for numbers of things.
    case sum
    /// The largest: for lags, ages and durations, of which the worst one matters.
    case maximum
    /// The smallest: for positions and instants, of which the oldest one matters.
    case minimum

    func combined(_ first: Double, _ second: Double) -> Double {
      switch self {
      case .sum: first + second
      case .maximum: max(first, second)
      case .minimum: min(first, second)
      }
    }
  }

  /// Makes the metric. Without labels its only series is there from the start, at 0.
  ///
  /// - Parameters:
  ///   - description: The description of the metric.
  ///   - overflow: Called for each value that went to the series `other` because there are too many series.
  init(_ description: MetricDescription, overflow: (@Sendable () -> Void)? = nil) {
    self.description = description
    self.overflow = overflow
    if case .histogram(let bounds) = description.kind { self.bounds = bounds } else { bounds = [] }
    state = Mutex(State())
    if description.labels.isEmpty { state.withLock { _ = place(of: [], in: &$0) } }
  }

  /// Adds to a counter or a gauge.
  ///
  /// - Parameters:
  ///   - amount: The amount; not negative for a counter.
  ///   - labels: The label values, in the order of the description.
  public func add(_ amount: Double, _ labels: [String] = []) {
    assert(description.kind != .counter || amount >= 0, "a count never falls")
    change(labels) { $0.value += amount }
  }

  /// Adds to a counter or a gauge.
  ///
  /// - Parameters:
  ///   - amount: The amount; not negative for a counter.
  ///   - labels: The label values, in the order of the description.
  public func add(_ amount: Int, _ labels: [String] = []) { add(Double(amount), labels) }

  /// Sets a gauge without labels, or such a counter that another part of the process keeps.
  ///
  /// - Parameter value: The value.
  public func set(_ value: Double) {
    precondition(description.labels.isEmpty, "\(description.name) has labels: say how values beyond its bound combine")
    change([]) { $0.value = value }
  }

  /// Sets one series of a gauge with labels. The series `other` combines the last values of the combinations that share it, of as many as the
  /// metric may have series; those after them count as overflow, and change nothing.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - labels: The label values, in the order of the description.
  ///   - beyond: The value of the series `other` for those for which there is no room. Give the same for each call.
  public func set(_ value: Double, _ labels: [String], beyond: Beyond) {
    let isBeyond = state.withLock { state in
      let (place, isBeyond) = place(of: labels, in: &state)
      guard !labels.isEmpty, state.series[place].labels.allSatisfy({ $0 == Self.other }) else {
        state.series[place].value = value
        return isBeyond
      }
      if state.shared[labels] != nil || state.shared.count < description.seriesMax { state.shared[labels] = value }
      if let first = state.shared.values.first {
        state.series[place].value = state.shared.values.dropFirst().reduce(first, beyond.combined)
      }
      return isBeyond
    }
    if isBeyond { overflow?() }
  }

  /// Adds an observation to a histogram.
  ///
  /// - Parameters:
  ///   - value: The value that was observed, in the unit of the metric.
  ///   - labels: The label values, in the order of the description.
  public func observe(_ value: Double, _ labels: [String] = []) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    change(labels) {
      $0.value += value
      $0.buckets[bucket] += 1
    }
  }

  /// Sets the exemplar of the bucket in which its value lies. Nothing is counted: an exemplar may stand for observations that are counted
  /// by batch.
  ///
  /// - Parameters:
  ///   - exemplar: The exemplar, which replaces the one before it.
  ///   - labels: The label values, in the order of the description.
  public func show(_ exemplar: MetricExemplar, _ labels: [String] = []) {
    let bucket = bounds.firstIndex { exemplar.value <= $0 } ?? bounds.count
    change(labels) {
      precondition(!$0.buckets.isEmpty, "\(description.name) is no histogram")
      if $0.exemplars.isEmpty { $0.exemplars = Array(repeating: nil, count: $0.buckets.count) }
      $0.exemplars[bucket] = exemplar
    }
  }

  /// Adds observations to a histogram that were counted elsewhere.
  ///
  /// - Parameters:
  ///   - counts: The number of observations in each bucket: one for each bound of the description, and one beyond.
  ///   - sum: The sum of the values that were observed.
  ///   - labels: The label values, in the order of the description.
  public func add(buckets counts: [UInt64], sum: Double, _ labels: [String] = []) {
    precondition(counts.count == bounds.count + 1, "\(description.name) has \(bounds.count + 1) buckets")
    change(labels) {
      $0.value += sum
      for bucket in counts.indices { $0.buckets[bucket] += counts[bucket] }
    }
  }

  /// Replaces all series of a gauge or an info at once, so that what is gone is not shown any longer.
  ///
  /// - Parameters:
  ///   - values: The label values of each series with its value. The first ones get series of their own.
  ///   - beyond: The value of the series `other` for those for which there is no room.
  public func replace(with values: [(labels: [String], value: Double)], beyond: Beyond = .sum) {
    var (new, overflows) = (State(), 0)
    for (labels, value) in values {
      let known = new.series.count
      let (place, isBeyond) = place(of: labels, in: &new)
      // A label value may be `other` by itself, too.
      let isShared = new.series.count == known && new.series[place].labels.allSatisfy { $0 == Self.other }
      new.series[place].value = isShared ? beyond.combined(new.series[place].value, value) : value
      if isBeyond { overflows += 1 }
    }
    state.withLock { $0 = new }
    for _ in 0..<overflows { overflow?() }
  }

  /// The sum over all series: of counts and values, or of all observations.
  public var total: Double { state.withLock { $0.series.reduce(0) { $0 + $1.value } } }

  /// Returns the count or the value of one series.
  ///
  /// - Parameter labels: The label values, in the order of the description.
  /// - Returns: The value; 0 if there is no such series.
  public func value(_ labels: [String]) -> Double {
    state.withLock { state in state.places[labels].map { state.series[$0].value } ?? 0 }
  }

  /// The series in the order of their label values.
  var series: [Series] {
    let series = state.withLock(\.series)
    return series.count < 2 ? series : series.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
  }

  private func change(_ labels: [String], _ body: (inout Series) -> Void) {
    let isBeyond = state.withLock { state in
      let (place, isBeyond) = place(of: labels, in: &state)
      body(&state.series[place])
      return isBeyond
    }
    if isBeyond { overflow?() }
  }

  /// Returns the place of a series, which is made if there is room for it, and whether there was none.
  private func place(of labels: [String], in state: inout State) -> (place: Int, isBeyond: Bool) {
    precondition(
      labels.count == description.labels.count, "\(description.name) takes \(description.labels.count) labels")
    if labels.isEmpty, !state.series.isEmpty { return (0, false) }
    if let place = state.places[labels] { return (place, false) }
    var (key, isBeyond) = (labels, false)
    if !labels.isEmpty, state.series.count >= description.seriesMax {
      (key, isBeyond) = (labels.map { _ in Self.other }, true)
      if let place = state.places[key] { return (place, true) }
    }
    var series = Series(labels: key)
    if case .histogram = description.kind { series.buckets = Array(repeating: 0, count: bounds.count + 1) }
    state.series.append(series)
    state.places[key] = state.series.count - 1
    return (state.series.count - 1, isBeyond)
  }
}

/// A sampled operation that stands for the observations of a bucket: it leads from a histogram to a trace.
public struct MetricExemplar: Sendable, Equatable {
  /// The value of the operation, in the unit of the metric.
  public var value: Double
  /// The span of the operation.
  public var trace: TraceContext
  /// The wall clock at which the value was taken, in µs since 1970.
  public var instant: Int64

  /// Makes an exemplar.
  ///
  /// - Parameters:
  ///   - value: The value of the operation, in the unit of the metric.
  ///   - trace: The span of the operation, whose trace is sampled.
  ///   - instant: The wall clock at which the value was taken, in µs since 1970.
  public init(value: Double, trace: TraceContext, instant: Int64) {
    self.value = value
    self.trace = trace
    self.instant = instant
  }

  /// The exemplar as OpenMetrics writes it behind the sample of a bucket. The names and values of its labels have 63 characters; the
  /// format allows 128.
  var text: String {
    let labels = #"trace_id="\#(trace.traceID)",span_id="\#(trace.spanID)""#
    return " # {\(labels)} \(Exposition.text(value)) \(Exposition.text(Double(instant / 1000) / 1000))"
  }
}
