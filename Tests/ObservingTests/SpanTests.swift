import Foundation
import JSON
import ServiceContextModule
import Synchronization
import Testing
import Tracing

@testable import Observing

@Suite("Spans and their export") struct SpanTests {
  /// A collector that keeps requests, or refuses them.
  private final class Collector: Sendable {
    let requests = Mutex<[[UInt8]]>([])
    let isGone = Atomic<Bool>(false)
    let told = Mutex<[String?]>([])

    func exporter(of tracer: SpanTracer, _ registry: MetricRegistry) -> SpanExporter {
      SpanExporter(
        of: tracer, service: ("rouse", "1.0", "host-1"), metrics: SpanMetrics(registry),
        send: { [self] bytes in
          if isGone.load(ordering: .relaxed) { throw Gone() }
          requests.withLock { $0.append(bytes) }
        }, tell: { [self] error in told.withLock { $0.append(error) } })
    }

    struct Gone: Error {}
  }

  private let place = TraceContext(traceHigh: 0xab, traceLow: 0xcd, span: 0xef, isSampled: true)
  private let tracer = SpanTracer()
  private let registry = MetricRegistry()
  private let collector = Collector()

  private func span(_ name: String, under place: TraceContext) -> TracedSpan {
    tracer.startSpan(name, context: .tracing(place), ofKind: .consumer, at: WallInstant(microseconds: 1_000))
  }

  private func value(_ name: String, _ labels: [String] = []) throws -> Double {
    let text = String(decoding: Exposition.bytes(of: registry, as: .prometheus), as: UTF8.self)
    let series = labels.isEmpty ? name : "\(name){reason=\"\(labels[0])\"}"
    let line = text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
    return try #require(line.flatMap { Double($0.dropFirst(series.count + 1)) } ?? (line == nil ? 0 : nil))
  }

  @Test("a span that is recorded when it is over is the same as one that was started and ended, but for its id")
  func recorded() throws {
    let started = span("plan", under: place)
    started.updateAttributes { $0["note"] = "n" }
    started.setStatus(SpanStatus(code: .ok))
    started.end(at: WallInstant(microseconds: 3_000))
    var attributes = SpanAttributes()
    attributes["note"] = "n"
    let recorded = tracer.record(
      "plan", under: place, ofKind: .consumer, from: WallInstant(microseconds: 1_000),
      to: WallInstant(microseconds: 3_000), attributes: attributes, status: SpanStatus(code: .ok))
    #expect(recorded.traceHigh == place.traceHigh && recorded.traceLow == place.traceLow && recorded.span != place.span)
    collector.exporter(of: tracer, registry).exportAll()
    let json = try JSONValue(
      parsing: String(decoding: try #require(collector.requests.withLock { $0.first }), as: UTF8.self))
    let spans = json["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]
    #expect(spans?[1]?["spanId"] == .string(recorded.spanID))
    for member in ["traceId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "status"] {
      #expect(spans?[0]?[member] != nil && spans?[0]?[member] == spans?[1]?[member], "\(member)")
    }
    #expect(spans?[0]?["attributes"] == spans?[1]?["attributes"])
  }

  @Test("the record that a span is about is exported as attributes, behind the others")
  func record() throws {
    var attributes = SpanAttributes()
    attributes["z"] = "n"
    tracer.record(
      "plan", under: place, ofKind: .consumer, from: WallInstant(microseconds: 1), to: WallInstant(microseconds: 2),
      attributes: attributes, about: SpanRecord(topic: "rouse.log", partition: 3, offset: 1 << 40))
    collector.exporter(of: tracer, registry).exportAll()
    let json = try JSONValue(
      parsing: String(decoding: try #require(collector.requests.withLock { $0.first }), as: UTF8.self))
    let list = json["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]?[0]?["attributes"]
    let expected = [
      ("z", "stringValue", "n"), ("messaging.destination.name", "stringValue", "rouse.log"),
      ("messaging.destination.partition.id", "stringValue", "3"),
      ("messaging.kafka.offset", "intValue", "1099511627776"), ("messaging.system", "stringValue", "kafka"),
    ]
    for (place, (key, sort, value)) in expected.enumerated() {
      #expect(list?[place] == .object([("key", .string(key)), ("value", .object([(sort, .string(value))]))]))
    }
    #expect(list?[expected.count] == nil)
  }

  @Test("a span is exported as OTLP in JSON: ids in hexadecimal, times as texts, attributes by type")
  func document() throws {
    let exporter = collector.exporter(of: tracer, registry)
    let parent = span("plan", under: place)
    parent.updateAttributes { attributes in
      attributes["messaging.kafka.offset"] = Int64(7)
      attributes["note"] = String(repeating: "é", count: 200)
    }
    parent.setStatus(SpanStatus(code: .error, message: "aborted"))
    parent.end(at: WallInstant(microseconds: 3_000))
    parent.end(at: WallInstant(microseconds: 9_000))
    parent.operationName = "late"
    exporter.exportAll()
    let requests = collector.requests.withLock { $0 }
    let json = try JSONValue(parsing: String(decoding: try #require(requests.first), as: UTF8.self))
    let resource = json["resourceSpans"]?[0]
    #expect(
      resource?["resource"]?["attributes"]?[0]
        == .object([("key", .string("service.name")), ("value", .object([("stringValue", .string("rouse"))]))]))
    let span = resource?["scopeSpans"]?[0]?["spans"]?[0]
    #expect(resource?["scopeSpans"]?[0]?["spans"]?[1] == nil)
    #expect(span?["traceId"] == .string("00000000000000ab00000000000000cd"))
    #expect(span?["parentSpanId"] == .string("00000000000000ef"))
    #expect(span?["spanId"] == .string(try #require(parent.context.trace).spanID))
    #expect(span?["name"] == .string("plan"))
    #expect(span?["kind"] == .number(5))
    #expect(span?["startTimeUnixNano"] == .string("1000000"))
    #expect(span?["endTimeUnixNano"] == .string("3000000"))
    #expect(
      span?["attributes"]?[0]
        == .object([
          ("key", .string("messaging.kafka.offset")), ("value", .object([("intValue", .string("7"))])),
        ]))
    #expect(
      span?["attributes"]?[1]?["value"]?["stringValue"]
        == .string(String(repeating: "é", count: OTLPDocument.textBytesMax / 2)))
    #expect(span?["status"] == .object([("code", .number(2)), ("message", .string("aborted"))]))
  }

  @Test("a child has its parent's trace, and a span outside of a trace or of one that is not sampled is not exported")
  func sampling() throws {
    let exporter = collector.exporter(of: tracer, registry)
    var unsampled = place
    unsampled.isSampled = false
    for span in [span("a", under: unsampled), tracer.startSpan("b", context: .topLevel)] {
      #expect(!span.isRecording)
      span.end()
    }
    let parent = span("c", under: place)
    let child = tracer.startSpan("d", context: parent.context)
    #expect(child.context.trace?.traceLow == place.traceLow)
    #expect(child.context.trace?.span != parent.context.trace?.span)
    var headers: [String: String] = [:]
    tracer.inject(parent.context, into: &headers, using: Headers())
    var read = ServiceContext.topLevel
    tracer.extract(headers, into: &read, using: Headers())
    #expect(read.trace == parent.context.trace)
    exporter.exportAll()
    #expect(collector.requests.withLock { $0.isEmpty }, "nothing that was exported has ended")
  }

  private struct Headers: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  }

  @Test("a collector that is gone costs the spans, which are counted, and is told of once; then export goes on")
  func gone() throws {
    let exporter = collector.exporter(of: tracer, registry)
    collector.isGone.store(true, ordering: .relaxed)
    for _ in 0..<3 {
      span("a", under: place).end()
      exporter.exportAll()
    }
    #expect(try value("rouse_trace_spans_dropped_total", ["export"]) == 3)
    collector.isGone.store(false, ordering: .relaxed)
    span("a", under: place).end()
    exporter.exportAll()
    #expect(try value("rouse_trace_spans_exported_total") == 1)
    #expect(collector.told.withLock { $0.map { $0 == nil } } == [false, true])
  }

  @Test("spans that wait are bounded, and requests, too")
  func bounded() throws {
    let exporter = collector.exporter(of: tracer, registry)
    for _ in 0..<SpanQueue.spansMax + 10 { span("a", under: place).end() }
    #expect(tracer.queue.count == SpanQueue.spansMax)
    exporter.exportAll()
    #expect(try value("rouse_trace_spans_dropped_total", ["queue"]) == 10)
    #expect(try value("rouse_trace_spans_exported_total") == Double(SpanQueue.spansMax))
    #expect(collector.requests.withLock { $0.count } == SpanQueue.spansMax / SpanExporter.requestSpansMax)
  }

  @Test("an exporter that is stopped exports what waits")
  func stopped() throws {
    let exporter = collector.exporter(of: tracer, registry)
    exporter.start()
    span("a", under: place).end()
    exporter.stop(timeout: .seconds(60))
    #expect(collector.requests.withLock { $0.count } == 1)
  }

  @Test("an error leaves its type in a trace, not its text")
  func error() throws {
    let exporter = collector.exporter(of: tracer, registry)
    let span = span("a", under: place)
    struct Leak: Error, CustomStringConvertible { let description = "secret-token" }
    span.recordError(Leak())
    span.end()
    exporter.exportAll()
    let text = String(decoding: try #require(collector.requests.withLock { $0.first }), as: UTF8.self)
    #expect(text.contains(#""exception.type""#) && text.contains("Leak"))
    #expect(!text.contains("secret-token"))
  }
}
