import Testing

@testable import Observing

/// The texts are compared as a whole, because scrapers read every byte of them.
@Suite("Exposition of metrics") struct ExpositionTests {
  private let registry = MetricRegistry()

  private func text(_ format: ExpositionFormat) -> String {
    String(decoding: Exposition.bytes(of: registry, as: format), as: UTF8.self)
  }

  /// The lines about metrics whose names contain a word.
  private func lines(_ format: ExpositionFormat, _ word: String = "test") -> [String] {
    text(format).split(separator: "\n").map(String.init).filter { $0.contains(word) }
  }

  @Test("a counter keeps its ending in both formats, and loses it in the family of OpenMetrics")
  func counter() {
    registry.counter("test_events_total", [MetricLabel("kind", upTo: 3, "")], help: "Events", advice: "").add(3, ["a"])
    #expect(
      lines(.openMetrics) == [
        "# HELP test_events Events", "# TYPE test_events counter", #"test_events_total{kind="a"} 3"#,
      ])
    #expect(
      lines(.prometheus) == [
        "# HELP test_events_total Events", "# TYPE test_events_total counter", #"test_events_total{kind="a"} 3"#,
      ])
  }

  @Test("a histogram counts each observation in its bucket and in all larger ones")
  func histogram() {
    let histogram = registry.histogram("test_duration_seconds", [0.5, 1], help: "Time", advice: "")
    for value in [0.25, 0.5, 0.75, 8] { histogram.observe(value) }
    #expect(
      lines(.openMetrics) == [
        "# HELP test_duration_seconds Time", "# TYPE test_duration_seconds histogram",
        "# UNIT test_duration_seconds seconds", #"test_duration_seconds_bucket{le="0.5"} 2"#,
        #"test_duration_seconds_bucket{le="1.0"} 3"#, #"test_duration_seconds_bucket{le="+Inf"} 4"#,
        "test_duration_seconds_sum 9.5", "test_duration_seconds_count 4",
      ])
    #expect(lines(.prometheus) == lines(.openMetrics).filter { !$0.hasPrefix("# UNIT") })
  }

  @Test("a bucket has the newest exemplar whose value lies in it, in OpenMetrics only")
  func exemplars() {
    let label = MetricLabel("outcome", upTo: 2, "")
    let histogram = registry.histogram("test_duration_seconds", [0.5, 1], [label], help: "Time", advice: "")
    func show(_ value: Double, _ number: UInt64) {
      let trace = TraceContext(traceHigh: 1, traceLow: number, span: 0xabc, isSampled: true)
      histogram.show(
        MetricExemplar(value: value, trace: trace, instant: 1_782_907_200_123_456), ["committed"])
    }
    for (number, value) in [0.5, 0.75, 0.6, 8].enumerated() { show(value, UInt64(number)) }
    func bucket(_ bound: String, _ trace: String, _ value: String) -> String {
      #"test_duration_seconds_bucket{outcome="committed",le="\#(bound)"} 0 # {trace_id="0000000000000001000000000000000\#(trace)","#
        + #"span_id="0000000000000abc"} \#(value) 1782907200.123"#
    }
    let open = lines(.openMetrics)
    #expect(open[3...5] == [bucket("0.5", "0", "0.5"), bucket("1.0", "2", "0.6"), bucket("+Inf", "3", "8")])
    #expect(
      open[6...] == [
        #"test_duration_seconds_sum{outcome="committed"} 0"#, #"test_duration_seconds_count{outcome="committed"} 0"#,
      ])
    #expect(!text(.prometheus).contains(" # "))
    histogram.observe(0.7, ["aborted"])
    #expect(lines(.openMetrics).contains(#"test_duration_seconds_bucket{outcome="aborted",le="1.0"} 1"#))
  }

  @Test("the labels of an exemplar have at most 128 characters, as OpenMetrics demands")
  func exemplarLabels() throws {
    let trace = TraceContext(traceHigh: .max, traceLow: .max, span: .max, isSampled: true)
    let text = MetricExemplar(value: 1, trace: trace, instant: .max).text
    let labels = try #require(text.firstMatch(of: /\{(.*)\}/)).1
    #expect(labels.filter { !"=,\"".contains($0) }.count == 63)
  }

  @Test("an info is a gauge in the older format")
  func info() {
    registry.info("test_policy_info", [MetricLabel("version", upTo: 2, "")], help: "Policy", advice: "")
      .replace(with: [(["1"], 1)])
    #expect(lines(.openMetrics)[1] == "# TYPE test_policy info")
    #expect(lines(.prometheus)[1] == "# TYPE test_policy_info gauge")
    #expect(lines(.openMetrics)[2] == #"test_policy_info{version="1"} 1"#)
  }

  @Test("label values and help texts are escaped")
  func escaping() {
    registry.gauge("test_gauge", [MetricLabel("kind", upTo: 9, "")], help: "a \"b\"\\\nc", advice: "")
      .set(1, ["x\"y\\z\nü"], beyond: .sum)
    #expect(lines(.openMetrics)[0] == #"# HELP test_gauge a \"b\"\\\nc"#)
    #expect(lines(.prometheus)[0] == #"# HELP test_gauge a "b"\\\nc"#)
    #expect(lines(.prometheus)[2] == #"test_gauge{kind="x\"y\\z\nü"} 1"#)
  }

  @Test(
    "numbers are written as both formats read them",
    arguments: [
      (0.0, "0"), (-3, "-3"), (1.5, "1.5"), (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ])
  func numbers(value: Double, text: String) { #expect(Exposition.text(value) == text) }

  @Test("OpenMetrics ends with a line that says so")
  func end() {
    #expect(text(.openMetrics).hasSuffix("\n# EOF\n"))
    #expect(!text(.prometheus).contains("# EOF"))
  }

  @Test(
    "the format follows the header Accept",
    arguments: [
      (nil, ExpositionFormat.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
      ("application/openmetrics-text", .openMetrics), ("application/openmetrics-text; version=1.0.0", .openMetrics),
      ("application/openmetrics-text;version=0.0.1", .prometheus),
      ("application/openmetrics-text;version=1.0.0;q=0.2, text/plain;q=0.5", .prometheus),
      ("application/openmetrics-text;q=0", .prometheus),
      // As Prometheus 2.42 sends it.
      (
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        .openMetrics
      ),
    ] as [(String?, ExpositionFormat)])
  func accept(header: String?, format: ExpositionFormat) { #expect(ExpositionFormat(accept: header) == format) }
}
