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
