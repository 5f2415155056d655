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
