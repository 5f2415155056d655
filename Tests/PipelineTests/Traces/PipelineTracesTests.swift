import Domain
import Foundation
import Testing
import Tracing

@testable import Observing
@testable import Pipeline

@Suite("Traces of the pipeline") struct PipelineTracesTests {
  private static let publishers = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

  private func event(_ id: Identifier, traceparent: String? = nil) -> DomainEvent {
    DomainEvent(
      id: id, source: "/test", type: "t", subject: "s", time: Timestamp(milliseconds: 0), traceparent: traceparent)
  }

  @Test("an event has a span of each stage, under its publisher's or under the one with which its trace begins")
  func stages() throws {
    let fixture = try PipelineFixture(traces: PipelineTraces(share: 1))
    let done = try fixture.run(
      sink: KeepingSink(), fixture.registering(3),
      fixture.phase(.decisions, plus: 9) {
        try fixture.delay(30, id: "own", after: 60)
        try fixture.delay(60, id: "sampled", after: 200, traceparent: Self.publishers + "-01")
        try fixture.delay(90, id: "unsampled", after: 400, traceparent: Self.publishers + "-00")
      },
      // The audit may have stored them before this phase begins.
      PipelineFixture.Phase(publish: {}, until: { fixture.counters[.auditedDecisions] >= 9 }))
    #expect(done)
    let traces = try #require(fixture.counters.traces)
    let spans = traces.tracer.queue.take(.max).spans
    let traceparents = Dictionary(
      try fixture.decisions().values.map { ($0.event, $0.traceparent) }, uniquingKeysWith: { first, _ in first })
    let begun = try #require(traceparents["own"] ?? nil)
    let own = try #require(TraceContext(traceparent: begun))
    let sampled = try #require(TraceContext(traceparent: Self.publishers + "-01"))
    #expect(traceparents["sampled"] == sampled.traceparent)
    for place in [own, sampled] {
      let ofTrace = spans.filter { ($0.place.traceHigh, $0.place.traceLow) == (place.traceHigh, place.traceLow) }
      let names = Dictionary(grouping: ofTrace, by: \.name).mapValues(\.count)
      // Two partitions of the log.
      #expect(names["intake"] == 1 && names["plan"] == 2 && names["commit"] == 2)
      #expect((1...2).contains(names["audit"] ?? 0), "a batch may hold the decisions of one partition, or of both")
      for span in ofTrace where span.name != "intake" && span.name != "commit" { #expect(span.parent == place.span) }
      for span in ofTrace { #expect(span.start <= span.end) }
      let plans = ofTrace.filter { $0.name == "plan" }.map(\.place.span)
      for commit in ofTrace where commit.name == "commit" {
        let parent = try #require(commit.parent)
        #expect(plans.contains(parent))
        #expect(commit.status?.code == .ok)
      }
    }
    let intake = spans.filter { $0.name == "intake" }
    #expect(intake.first { $0.place.traceLow == own.traceLow }?.parent == nil)
    #expect(intake.first { $0.place.traceLow == own.traceLow }?.place.span == own.span)
    #expect(intake.first { $0.place.traceLow == sampled.traceLow }?.parent == sampled.span)
    #expect(Set(spans.map(\.place.traceLow)) == [own.traceLow, sampled.traceLow])
    try expectExemplars(fixture.counters.registry, spans)
  }

  /// Checks that the histograms of ages and commits lead to spans of their stage, and that the value lies in the bucket.
  private func expectExemplars(_ registry: MetricRegistry, _ spans: [FinishedSpan]) throws {
    let text = String(decoding: Exposition.bytes(of: registry, as: .openMetrics), as: UTF8.self)
    for (metric, stage) in [
      ("rouse_event_to_decision_seconds", "plan"), ("rouse_event_to_commit_seconds", "commit"),
      ("rouse_transaction_duration_seconds", "commit"),
    ] {
      let places = Set(spans.filter { $0.name == stage }.map { "\($0.place.traceID) \($0.place.spanID)" })
      var (below, found) = (0.0, 0)
      for line in text.split(separator: "\n") where line.hasPrefix("\(metric)_bucket") {
        let bound = try #require(line.firstMatch(of: /le="([^"]+)"/)).1
        let end = bound == "+Inf" ? Double.infinity : try #require(Double(bound))
        if let match = line.firstMatch(of: /# \{trace_id="(\w+)",span_id="(\w+)"\} (\S+) \d+(\.\d+)?$/) {
          found += 1
          #expect(places.contains("\(match.1) \(match.2)"), "\(line)")
          let value = try #require(Double(match.3))
          #expect(value <= end && (value > below || value == 0), "\(line)")
        }
        below = end == .infinity ? 0 : end
      }
      #expect(found > 0, "\(metric) has no exemplar")
    }
  }

  @Test("the ids of a new trace follow from the event, and the share of the events that begin one is as set")
  func share() throws {
    let tenth = PipelineTraces(share: 0.1)
    var begun = 0
    for number in 0..<10_000 {
      let event = event("e\(number)")
      let place = tenth.begin(event)
      #expect(place == PipelineTraces(share: 0.1).begin(event))
      if place != nil { begun += 1 }
    }
    // Five standard deviations around a tenth.
    #expect((850...1150).contains(begun))
    #expect(PipelineTraces(share: 0).begin(event("e")) == nil)
    #expect(PipelineTraces(share: 1).begin(event("e")) != nil)
    #expect(PipelineTraces(share: 1).begin(event("e")) != PipelineTraces(share: 1).begin(event("f")))
  }

  @Test("a traceparent that is none is carried on and traces nothing")
  func invalid() {
    let traces = PipelineTraces(share: 1)
    var record = LogRecord(origin: nil, content: .event(event("e", traceparent: "nonsense")))
    let before = record
    #expect(traces.takeIn(&record, at: 0) == nil)
    #expect(record == before)
    var tick = LogRecord(origin: nil, content: .tick)
    #expect(traces.takeIn(&tick, at: 0) == nil)
  }
}

private final class KeepingSink: DecisionSink, Sendable {
  func positions() throws -> [AuditPosition] { [] }
  func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {}
  func note(_ hole: AuditHole, positions: [AuditPosition]) throws {}
  func idle() throws {}
}
