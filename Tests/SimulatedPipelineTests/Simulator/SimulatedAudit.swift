import Domain
import KafkaClient

@testable import Installation
@testable import Pipeline

/// The audit store of one machine, which outlives its processes. A batch and its positions are stored together or not at
/// all.
final class SimulatedAudit {
  struct Stored: Equatable {
    var offset: Int64
    /// The id of the decision or the command.
    var id: Identifier
  }

  struct Place: Hashable {
    var topic: AuditTopic
    var partition: Int32
  }

  private(set) var records: [Place: [Stored]] = [:]
  private var positions: [Place: Int64] = [:]

  fileprivate func known() -> [AuditPosition] {
    positions.map { AuditPosition(topic: $0.key.topic, partition: $0.key.partition, next: $0.value) }
      .sorted { ($0.topic.rawValue, $0.partition) < ($1.topic.rawValue, $1.partition) }
  }

  fileprivate func store(_ batch: [AuditRecord], _ positions: [AuditPosition]) {
    for record in batch {
      let (topic, id): (AuditTopic, Identifier) =
        switch record.content {
        case .decision(let line): (.decisions, line.identifier(line.id))
        case .command(let command): (.commands, command.command)
        }
      let place = Place(topic: topic, partition: record.partition)
      guard record.offset >= self.positions[place, default: 0] else { continue }
      records[place, default: []].append(Stored(offset: record.offset, id: id))
    }
    for position in positions {
      let place = Place(topic: position.topic, partition: position.partition)
      self.positions[place] = max(self.positions[place] ?? 0, position.next)
    }
  }
}

/// The connection of a process to the store. Its calls fail and crash as calls of the cluster do.
final class SimulatedAuditSink: DecisionSink {
  private let audit: SimulatedAudit
  private let process: SimulatedProcess
  private let stop: StopSignal

  init(audit: SimulatedAudit, process: SimulatedProcess, stop: StopSignal) {
    self.audit = audit
    self.process = process
    self.stop = stop
  }

  func positions() throws -> [AuditPosition] { try call(.auditPositions) { audit.known() } }

  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
    try call(.auditStore) { audit.store(batch, positions) }
  }

  func idle() {}

  /// Makes a call. A feed retries for ever, so a feed whose process has died is asked to stop.
  private func call<Result>(_ call: PortCall, _ body: () -> Result) throws(KafkaError) -> Result {
    defer { if process.isDead { stop.ask() } }
    return try process.perform(call) { () throws(KafkaError) in body() }
  }
}
