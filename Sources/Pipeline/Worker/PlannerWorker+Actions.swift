import Installation
import KafkaClient

extension PlannerWorker {
  /// Applies an input within a turn, and performs the actions that follow from it.
  ///
  /// - Parameter input: The event that happened.
  /// - Throws: `PipelineError` of an action; the later actions are not performed then.
  func take(_ input: WorkerPhase<PlannerClients>.Input, _ clients: PlannerClients) throws(PipelineError) {
    for action in phase.take(input) { try perform(action, clients) }
  }

  /// Applies an input where no error can be thrown, such as in a rebalance callback. If an action fails, its error is
  /// applied as the input `handOverFailed`; then the remaining actions are performed.
  ///
  /// - Parameter input: The event that happened.
  func follow(_ input: WorkerPhase<PlannerClients>.Input) {
    let clients = phase.clients
    for action in phase.take(input) {
      guard let clients else { preconditionFailure("a planner thread without clients cannot \(action)") }
      do throws(PipelineError) {
        try perform(action, clients)
      } catch {
        report.handOverFailed(error)
        follow(.handOverFailed(error))
      }
    }
  }

  private func perform(_ action: WorkerAction, _ clients: PlannerClients) throws(PipelineError) {
    switch action {
    case .subscribe:
      try PipelineError.ofKafka { () throws(KafkaError) in try clients.consumer.subscribe([settings.topics.log]) }
    case .wait(let partitions):
      for partition in partitions { wait(for: partition, clients) }
    case .pause: try PipelineError.ofKafka { () throws(KafkaError) in try pauseAssigned(clients) }
    case .commit: try PipelineError.ofKafka { () throws(KafkaError) in try commit(clients) }
    case .abort(let cause):
      abort(clients, because: cause)
      if clients.transaction.state != .idle { follow(.abortFailed(.kafka(cause ?? Self.lostBeforeAbort))) }
    case .release(let partitions):
      for partition in partitions { release(partition, clients) }
    case .leave: leave(clients)
    case .end(let error): throw replacement(behind: error, clients) ?? error
    case .close:
      clients.consumer.close(timeout: .seconds(5))
      abort(clients, because: nil)
      clients.reader.close()
    }
  }

  private static let lostBeforeAbort = KafkaError(
    code: .rebalanceInProgress, message: "the records planned since the last commit could not be aborted",
    operation: "handing over partitions", isRetriable: true)

  private func release(_ partition: Int32, _ clients: PlannerClients) {
    cancelRestore(of: partition, clients)
    partitions.release(partition)
    snapshots?.release(partition)
    published.restores[partition] = nil
  }

  /// Leaves the group, also as a static member, so that others take over while the snapshots are written.
  ///
  /// The partitions may have other owners already, which this thread has not learnt of, as after a long stop of the process.
  /// Then what it has in memory is older than the ends of `rouse.state`. So the ends are asked first, then the broker
  /// confirms that the partitions were still owned: a snapshot of a former owner would be taken for the newest state.
  private func leave(_ clients: PlannerClients) {
    let processors = partitions.processors
    var ends: [Int64?] = []
    if snapshots != nil, !processors.isEmpty, clients.transaction.state == .idle {
      ends = processors.map { stateEnd(of: $0.partition, clients) }
      do throws(KafkaError) {
        try clients.transaction.confirm(offsets(of: processors)) { () throws(KafkaError) in
          try clients.consumer.membership()
        }
      } catch {
        ends = []
        report.noSnapshots(of: processors.map(\.partition), error)
        if let failure = clients.transaction.abort() { report.abortFailed(failure) }
      }
    }
    clients.consumer.leave(timeout: .seconds(5))
    for (processor, end) in zip(processors, ends) {
      if let end { snapshots?.writeWhole(processor, stateOffset: end) }
    }
  }
}

extension PlannerWorker {
  /// Checks what must hold between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    guard let clients = phase.clients else {
      return partitions.lives.isEmpty ? [] : ["a worker without clients owns partitions \(partitions.numbers)"]
    }
    var violations = partitions.checkInvariants() + batch.checkInvariants()
    if !batch.isEmpty { violations.append("\(batch.readyBytes) bytes of records are not queued") }
    let restoring = partitions.lives.filter { if case .restoring = $0.value { true } else { false } }.keys.sorted()
    if clients.reader.partitions != restoring {
      violations.append("partitions \(restoring) restore, and the state of \(clients.reader.partitions) is read")
    }
    violations += clients.reader.checkInvariants()
    let planning = partitions.processors.map(\.partition)
    if let written = snapshots?.partitions, !written.allSatisfy(planning.contains) {
      violations.append("snapshots of \(written) are written while only \(planning) plan")
    }
    if case .working = phase, clients.transaction.state == .failed || clients.transaction.state == .unknown {
      violations.append("a working worker keeps a transaction that is \(clients.transaction.state)")
    }
    return violations
  }
}
