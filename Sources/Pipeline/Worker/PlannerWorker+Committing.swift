import Domain
import Installation
import KafkaClient
import Observing
import Tracing

extension PlannerWorker {
  /// Queues the records of `batch` that are ready in the transaction, and removes them.
  ///
  /// - Throws: `KafkaError`; everything planned since the last commit must then be aborted.
  func sendBatch(_ clients: PlannerClients) throws(KafkaError) {
    guard !batch.isEmpty else { return }
    if !clients.transaction.isOpen { addFirstRecords() }
    try clients.transaction.send(batch)
    counters.add(.decisions, batch.decisions)
    counters.add(.commands, batch.commands)
    counters.add(.stateRecords, batch.stateRecords)
    counters.planning.bytesSent.add(batch.bytes.count)
    batch.removeReady()
  }

  /// Adds a record for each topic partition that a new transaction will have records for: the decisions so far, and for the state the
  /// position that was committed last, which the commit replaces.
  ///
  /// A client names the partitions of a transaction to the cluster with the first record for each of them, and what follows
  /// waits for the answer. Named at the beginning they cost one request, and the commit waits for none. Besides, librdkafka 2.0.2 keeps a
  /// core busy for the millisecond before each of these requests.
  private func addFirstRecords() {
    batch.closeBlocks()
    for processor in partitions.processors { processor.repeatPosition(into: &batch) }
  }

  /// Writes the open blocks of decisions, the changed state and the positions of all planning partitions, then commits the transaction.
  ///
  /// - Throws: `KafkaError`; everything planned since the last commit must then be aborted.
  func commit(_ clients: PlannerClients) throws(KafkaError) {
    let began = clock.elapsed
    // A commit of nothing does not count, so that the first event after a pause is committed at once.
    if partitions.areUncommitted || clients.transaction.isOpen { schedule.commits(at: began) }
    batch.closeBlocks()
    try sendBatch(clients)
    let processors = partitions.processors
    for processor in processors {
      processor.takeState(into: &batch)
      try sendBatch(clients)
    }
    guard clients.transaction.isOpen else { return }
    try claims.deliver(partitions: clients.partitionCount)
    try clients.transaction.commit(offsets(of: processors)) { () throws(KafkaError) in try clients.consumer.membership()
    }
    schedule.committed(at: clock.elapsed)
    counters.add(.transactionsCommitted)
    noteCommitted(since: began)
    for processor in processors {
      processor.committed()
      processor.flushTally(into: counters.planning)
      snapshots?.committed(processor) { self.stateEnd(of: processor.partition, clients) }
    }
  }

  /// Returns the offsets that the group shall have for partitions: the next ones of `rouse.log`.
  ///
  /// - Parameter processors: The partitions.
  func offsets(of processors: [PartitionProcessor]) -> [KafkaPosition] {
    processors.map { KafkaPosition(topic($0.partition), offset: $0.position.nextOffset) }
  }

  /// Aborts all planning since the last commit, and moves every owned partition that is not stopped back to its first
  /// state, `waiting`. Its planner in memory is ahead of what was committed, and must not be committed later.
  ///
  /// - Parameter error: The reason, for the log; nil if it was logged already.
  func abort(_ clients: PlannerClients, because error: KafkaError?) {
    let began = clock.elapsed
    defer { endTraces(since: began, isCommitted: false) }
    batch.removeAll()
    claims.removeAll()
    eventTimes.removeAll()
    snapshots?.discardAll()
    for partition in partitions.numbers {
      // A partition that its state stops has nothing in memory.
      if let stop = partitions.lives[partition]?.stop, stop.processor == nil { continue }
      wait(for: partition, clients)
    }
    guard clients.transaction.state != .idle else { return }
    counters.add(.transactionsAborted)
    if let error { report.aborted(error) }
    if let failure = clients.transaction.abort() { report.abortFailed(failure) }
    counters.commits.duration.observe((clock.elapsed - began) / .seconds(1), [CommitMetrics.aborted])
  }
}

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
