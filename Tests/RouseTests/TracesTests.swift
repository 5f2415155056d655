import Foundation
import Installation
import JSON
import KafkaClient
import Logging
import Observing
import Pipeline
import Testing
import Tracing

@testable import rouse

@Suite("Traces of a run") struct TracesTests {
  @Test("a run sends the spans of a traced event to the collector, at its end at the latest")
  func run() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 1) }
    let collector = try RequestServer()
    let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers])
    let event =
      #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"s","time":"2026-01-01T00:00:00Z","#
      + #""traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","data":{"secret":"hush"}}"#
    try producer.send(topic: "events", partition: 0, key: nil, value: Array(event.utf8))
    #expect(try producer.flush(timeout: .seconds(60)))
    let place = try Workplace()
    let process = Process()
    process.executableURL = Workplace.program
    process.arguments = [
      "run", "--bootstrap", broker.bootstrapServers, "--set", "http.listen=off", "--set", "roles=intake,planner",
      "--set", "topics.events=events", "--set", "traces.endpoint=http://127.0.0.1:\(collector.port)/v1/traces",
    ]
    process.currentDirectoryURL = place.folder
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { process.terminate() }
    let request = try #require(collector.wait(seconds: 180), "no request came")
    #expect(request.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
    #expect(request.lowercased().contains("content-type: application/json"))
    #expect(!request.contains("hush"))
    let body = try #require(request.firstRange(of: "\r\n\r\n"))
    let json = try JSONValue(parsing: String(request[body.upperBound...]))
    let span = json["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]?[0]
    #expect(span?["name"] == .string("intake"))
    #expect(span?["traceId"] == .string("4bf92f3577b34da6a3ce929d0e0e4736"))
    #expect(span?["parentSpanId"] == .string("00f067aa0ba902b7"))
  }

  @Test("an endpoint that is no address is refused", arguments: ["collector:4318", "ftp://h/x", "http://"])
  func endpoint(_ text: String) throws {
    let outcome = try Workplace().rouse("run", "--set", "traces.endpoint=\(text)")
    #expect(outcome.status == 2)
    #expect(outcome.err.contains("traces.endpoint: expected an address such as http://127.0.0.1:4318/v1/traces"))
  }

  @Test(
    "an endpoint with a user or a password is refused, and not repeated",
    arguments: ["http://rouse:hunter2@h:4318/v1/traces", "http://hunter2@h/", "htp://a:hunter2@h", "a:hunter2@h"])
  func endpointWithPassword(_ text: String) throws {
    for arguments in [["run"], ["run", "--print-config"], ["run", "--print-config", "--format", "json"]] {
      let outcome = try Workplace().rouse(list: arguments + ["--set", "traces.endpoint=\(text)"])
      #expect(outcome.status == 2)
      #expect(outcome.err.contains("traces.endpoint: an address with an @ is refused"), "\(outcome.err)")
      #expect(outcome.err.contains("name it with traces.headersFile"), "\(outcome.err)")
      #expect(!(outcome.out + outcome.err).contains("hunter2"), "\(outcome.out)\(outcome.err)")
    }
  }

  @Test("a file of header fields is read by line, and named but not shown")
  func headers() throws {
    let place = try Workplace()
    try place.put("# key\n\n Authorization :\tBearer a:b=hunter2 \r\nX-Tenant: t\n", "headers")
    let fields = try HeadersFile.read(place.path("headers"))
    #expect(fields.map(\.name) == ["Authorization", "X-Tenant"])
    #expect(fields.map(\.value) == ["Bearer a:b=hunter2", "t"])
    #expect(!"\(fields) \(SpanCollector(endpoint: place.folder, headers: fields))".contains("hunter2"))
    for format in ["text", "json"] {
      let shown = try place.rouse(list: ["run", "--print-config", "--format", format] + Self.settings)
      #expect(shown.status == 0)
      #expect(shown.out.contains("headers") && !(shown.out + shown.err).contains("hunter2"), "\(shown.out)")
    }
  }

  private static let settings = ["traces.endpoint=http://127.0.0.1:1/v1/traces", "traces.headersFile=headers"]
    .flatMap { ["--set", $0] }

  @Test(
    "a file that holds something else is refused with its line alone",
    arguments: [
      ("X-A: 1\nhunter2", "headers:2: expected name: value"), ("A hunter2: 1", "headers:1: expected name: value"),
      ("A: hunter2é", "headers:1: expected name: value"), (": hunter2", "headers:1: expected name: value"),
      ("A:", "headers:1: expected name: value"), ("A: hunter2\u{1}", "headers:1: expected name: value"),
      ("content-type: hunter2", "headers:1: Rouse sets this header field itself"),
      ("A: 1\na: hunter2", "headers:2: the header field is in the file twice"),
    ])
  func refusedHeaders(_ text: String, _ words: String) throws {
    let place = try Workplace()
    try place.put(text, "headers")
    let outcome = try place.rouse(list: ["run", "--print-config"] + Self.settings)
    #expect(outcome.status == 2)
    #expect(outcome.err.contains("traces.headersFile: \(words)"), "\(outcome.err)")
    #expect(!(outcome.out + outcome.err).contains("hunter2"), "\(outcome.err)")
  }

  @Test("a file of header fields that is missing or too long is refused")
  func unusableHeaders() throws {
    let place = try Workplace()
    #expect(throws: SettingRefusal.self) { try HeadersFile.read(place.path("headers")) }
    try place.put("A: " + String(repeating: "x", count: HeadersFile.fileBytesMax), "headers")
    #expect(throws: SettingRefusal.self) { try HeadersFile.read(place.path("headers")) }
    try place.put("A: " + String(repeating: "x", count: HeadersFile.fileBytesMax - 3), "headers")
    #expect(try HeadersFile.read(place.path("headers")).count == 1)
  }
}

/// The export of the spans of a process to a collector that works, or does not.
@Suite("The collector of spans") struct SpanCollectorTests {
  private let counters = PipelineCounters(traces: PipelineTraces(share: 1))

  /// Starts to export to a server, with one span that waits.
  private func start(_ server: RequestServer, timeLimit: TimeInterval) throws -> SpanExporter {
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1/traces"))
    let collector = SpanCollector(endpoint: url, headers: [.init(name: "Authorization", value: "Bearer hunter2")])
    try #require(counters.traces).tracer.record(
      "intake", under: TraceContext(traceHigh: 1, traceLow: 2, span: 3, isSampled: true), ofKind: .consumer,
      from: WallInstant(microseconds: 1), to: WallInstant(microseconds: 2))
    return try #require(
      collector.start(
        instance: "test", counters, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, timeLimit: timeLimit))
  }

  private var metrics: String {
    String(decoding: Exposition.bytes(of: counters.registry, as: .prometheus), as: UTF8.self)
  }

  @Test("each request has the header fields of the settings")
  func headers() throws {
    let server = try RequestServer()
    try start(server, timeLimit: 300).stop(timeout: .seconds(300))
    let request = try #require(server.requests.first)
    #expect(request.contains("\r\nAuthorization: Bearer hunter2\r\n"), "\(request)")
    #expect(request.contains("\r\nContent-Type: application/json\r\n"), "\(request)")
    #expect(counters.spans.counts == (1, 0))
  }

  @Test("a redirection is not followed, so header fields go to no other address")
  func redirection() throws {
    let other = try RequestServer()
    let server = try RequestServer(.redirects(to: "http://127.0.0.1:\(other.port)/"))
    try start(server, timeLimit: 300).stop(timeout: .seconds(300))
    #expect(server.requests.count == 1)
    #expect(other.requests.isEmpty)
    #expect(counters.spans.counts == (0, 1))
  }

  @Test("a collector that never answers costs the spans, once the time limit of the request is over")
  func hanging() throws {
    let server = try RequestServer(.neverAnswers)
    try start(server, timeLimit: 0.2).stop(timeout: .seconds(300))
    #expect(counters.spans.counts == (0, 1))
    #expect(metrics.contains("rouse_trace_spans_dropped_total{reason=\"export\"} 1\n"), "\(metrics)")
  }

  @Test("the end of a process does not wait for a collector that never answers")
  func bounded() throws {
    let server = try RequestServer(.neverAnswers)
    let exporter = try start(server, timeLimit: 3600)
    let began = ContinuousClock.now
    exporter.stop(timeout: .milliseconds(100))
    #expect(ContinuousClock.now - began < .seconds(600))
    try #require(server.wait(seconds: 180) != nil, "no request came")
    #expect(counters.spans.counts == (0, 0), "the request goes on")
  }
}
