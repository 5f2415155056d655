import CoreMetrics
import Foundation
import Testing

@testable import Observing

@Suite("Registry of metrics") struct MetricRegistryTests {
  private let registry = MetricRegistry()
  private let kind = MetricLabel("kind", upTo: 2, "the kind")

  @Test("a metric with too many series counts further ones as other, and the registry counts how often")
  func overflow() {
    let counter = registry.counter("test_events_total", [kind], help: "", advice: "")
    for name in ["a", "b", "c", "d", "a"] { counter.add(1, [name]) }
    #expect(counter.value(["a"]) == 2)
    #expect(counter.value(["other"]) == 2)
    #expect(counter.value(["c"]) == 0)
    #expect(counter.total == 5)
    #expect(counter.series.count == 3)
    #expect(text().contains("rouse_metrics_overflow_total 2\n"))
  }

  @Test("a metric without labels is shown from the start")
  func zero() {
    _ = registry.counter("test_events_total", help: "", advice: "")
    #expect(text().contains("\ntest_events_total 0\n"))
  }

  @Test("what is replaced is not shown any longer")
  func replaced() {
    let gauge = registry.gauge("test_lag_records", [kind], help: "", advice: "")
    gauge.replace(with: [(["a"], 1), (["b"], 2)])
    gauge.replace(with: [(["b"], 3)])
    #expect(!text().contains(#"test_lag_records{kind="a"}"#))
    #expect(text().contains(#"test_lag_records{kind="b"} 3"#))
  }

  @Test(
    "beyond its bound a gauge shows the sum, the largest or the smallest of the further values, also beside a value named other",
    arguments: [(MetricFamily.Beyond.sum, 12.0), (.maximum, 7), (.minimum, 2)], [false, true])
  func beyond(_ beyond: (kind: MetricFamily.Beyond, value: Double), isNamed: Bool) {
    let gauge = registry.gauge("test_lag_seconds", [kind], help: "", advice: "")
    gauge.replace(
      with: [(["a"], 1), ([isNamed ? "other" : "b"], 3), (["c"], 7), (["d"], 2), (["e"], 3)], beyond: beyond.kind)
    #expect(gauge.value(["a"]) == 1)
    #expect(gauge.value(["other"]) == beyond.value + (isNamed && beyond.kind == .sum ? 3 : 0))
    #expect(text().contains("rouse_metrics_overflow_total 3\n"))
  }

  @Test(
    "a gauge that is set series by series combines the last values beyond its bound, and no value counts twice",
    arguments: [(MetricFamily.Beyond.sum, 9.0), (.maximum, 7), (.minimum, 2)])
  func beyondBySet(_ beyond: MetricFamily.Beyond, value: Double) {
    let gauge = registry.gauge("test_lag_seconds", [kind], help: "", advice: "")
    for (name, value) in [("a", 1.0), ("b", 3), ("c", 90), ("d", 2), ("c", 7), ("d", 2), ("a", 4)] {
      gauge.set(value, [name], beyond: beyond)
    }
    #expect(gauge.value(["a"]) == 4 && gauge.value(["b"]) == 3)
    #expect(gauge.value(["other"]) == value)
    // There is room for the last values of two more.
    gauge.set(1000, ["e"], beyond: beyond)
    #expect(gauge.value(["other"]) == value)
    #expect(text().contains("rouse_metrics_overflow_total 5\n"))
    gauge.replace(with: [])
    gauge.set(5, ["f"], beyond: beyond)
    #expect(gauge.value(["f"]) == 5 && gauge.value(["other"]) == 0)
  }

  @Test("a gauge with labels cannot be set without saying how values beyond its bound combine")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      MetricRegistry().gauge("test_lag_seconds", [MetricLabel("kind", upTo: 2, "")], help: "", advice: "").set(1)
    }
  }

  @Test("observations that were counted elsewhere are added bucket by bucket")
  func buckets() {
    let histogram = registry.histogram("test_age_seconds", [1, 10], [kind], help: "", advice: "")
    histogram.observe(5, ["a"])
    histogram.add(buckets: [2, 0, 1], sum: 30, ["a"])
    for line in [
      #"test_age_seconds_bucket{kind="a",le="1.0"} 2"#, #"test_age_seconds_bucket{kind="a",le="10.0"} 3"#,
      #"test_age_seconds_bucket{kind="a",le="+Inf"} 4"#, #"test_age_seconds_sum{kind="a"} 35"#,
    ] { #expect(text().contains("\(line)\n"), "\(line) is missing") }
  }

  @Test("collectors run before each exposition")
  func collectors() {
    let gauge = registry.gauge("test_queue", help: "", advice: "")
    registry.collect { gauge.add(1) }
    #expect(text().contains("test_queue 1\n"))
    #expect(text().contains("test_queue 2\n"))
  }

  @Test("additions of many threads are all counted")
  func threads() {
    let counter = registry.counter("test_events_total", [kind], help: "", advice: "")
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<1000 { counter.add(1, ["\(thread % 2)"]) }
    }
    #expect(counter.value(["0"]) == 4000)
    #expect(counter.total == 8000)
  }

  @Test("the metrics of a library get a prefix, and lie in the same registry")
  func libraries() {
    let factory = RegistryMetricsFactory(registry)
    Counter(label: "hb.requests", dimensions: [("path", "/x")], factory: factory).increment(by: 2)
    Timer(label: "hb.request.duration", dimensions: [], factory: factory).recordMilliseconds(30)
    Gauge(label: "hb.open", factory: factory).record(5)
    #expect(text().contains(#"library_hb_requests_total{path="/x"} 2"#))
    #expect(text().contains(#"library_hb_request_duration_seconds_bucket{le="0.025"} 0"#))
    #expect(text().contains(#"library_hb_request_duration_seconds_bucket{le="0.1"} 1"#))
    #expect(text().contains("library_hb_open 5\n"))
  }

  @Test("a library cannot make more than a bounded number of metrics, nor give one other labels")
  func bounds() {
    let factory = RegistryMetricsFactory(registry)
    for number in 0..<(MetricRegistry.foreignMax + 10) {
      Counter(label: "c\(number)", factory: factory).increment()
    }
    Counter(label: "c0", dimensions: [("a", "b")], factory: factory).increment()
    let names = registry.collected().map(\.description.name).filter { $0.hasPrefix(MetricRegistry.foreignPrefix) }
    #expect(names.count == MetricRegistry.foreignMax)
    #expect(text().contains("library_c0_total 1\n"))
    #expect(!text().contains("library_c0_total{"))
  }

  @Test("the process tells its start, processor time, memory and descriptors")
  func process() throws {
    ProcessMetrics.add(to: registry)
    func value(_ name: String) throws -> Double {
      let line = try #require(text().split(separator: "\n").first { $0.hasPrefix("\(name) ") })
      return try #require(Double(line.dropFirst(name.count + 1)))
    }
    let started = try value("process_start_time_seconds")
    #expect(started <= Date().timeIntervalSince1970 + 1)
    #expect(started > Date().timeIntervalSince1970 - 86_400)
    #expect(try value("process_cpu_seconds_total") > 0)
    #expect(try value("process_resident_memory_bytes") > 1_000_000)
    #expect(try value("process_open_fds") >= 3)
    #expect(try value("process_max_fds") >= value("process_open_fds"))
  }

  private func text() -> String { String(decoding: Exposition.bytes(of: registry, as: .prometheus), as: UTF8.self) }
}
