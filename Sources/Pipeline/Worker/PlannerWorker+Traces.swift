import Domain
import Installation
import KafkaClient
import Observing
import Tracing

/// A sampled event that was planned and is not committed yet.
struct TracedEvent {
  /// The place of its span `plan`.
  var plan: TraceContext
  /// Its own time; nil if it is not known.
  var time: Timestamp?

  /// Returns the exemplar of its age.
  ///
  /// - Parameters:
  ///   - span: The span to which the exemplar leads.
  ///   - now: The wall clock, in µs since 1970.
  func age(_ span: TraceContext, at now: Int64) -> MetricExemplar? {
    guard let time else { return nil }
    return MetricExemplar(
      value: Double(max(0, now - time.microseconds)) / 1_000_000, trace: span, instant: now)
  }
}

/// The spans of planned events, and the exemplars that lead to them from the histograms of ages and commits.
extension PlannerWorker {
  /// Makes the span of the stage `plan` of an event whose log record is done, and remembers the event for the span of its commit.
  ///
  /// - Parameters:
  ///   - message: The log record.
  ///   - place: The place of the event in its trace.
  ///   - time: The event's own time.
  ///   - began: The wall clock before its first step, in µs since 1970.
  func notePlanned(_ message: KafkaMessage, _ place: TraceContext, of time: Timestamp?, from began: Int64) {
    guard let traces = counters.traces, traced.count < PipelineTraces.spansMax else { return }
    let now = clock.wallMicroseconds
    let plan = traces.tracer.record(
      "plan", under: place, ofKind: .consumer, from: WallInstant(microseconds: began),
      to: WallInstant(microseconds: now),
      about: SpanRecord(topic: message.topic, partition: message.partition, offset: message.offset))
    let event = TracedEvent(plan: plan, time: time)
    if let age = event.age(event.plan, at: now) { counters.commits.eventToDecision.show(age) }
    traced.append(event)
  }

  /// Makes the spans of the stage `commit` of the events planned since the last commit.
  ///
  /// - Parameters:
  ///   - began: The instant when the commit or the abort began.
  ///   - isCommitted: Whether the transaction was committed, not aborted. An aborted event is planned and committed again.
  func endTraces(since began: Duration, isCommitted: Bool) {
    guard let traces = counters.traces, !traced.isEmpty else { return }
    let now = clock.wallMicroseconds
    let start = now - Int64((clock.elapsed - began) / .microseconds(1))
    let status = isCommitted ? SpanStatus(code: .ok) : SpanStatus(code: .error, message: "aborted")
    var last: TraceContext?
    for event in traced {
      let span = traces.tracer.record(
        "commit", under: event.plan, ofKind: .producer, from: WallInstant(microseconds: start),
        to: WallInstant(microseconds: now), status: status)
      last = span
      // Records of an aborted transaction did not become visible.
      guard isCommitted, let age = event.age(span, at: now) else { continue }
      counters.commits.eventToCommit.show(age)
    }
    if let last {
      let outcome = isCommitted ? CommitMetrics.committed : CommitMetrics.aborted
      let seconds = Double(now - start) / 1_000_000
      counters.commits.duration.show(MetricExemplar(value: seconds, trace: last, instant: now), [outcome])
    }
    traced.removeAll(keepingCapacity: true)
  }
}
