import Installation
import KafkaClient
import Observing

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
