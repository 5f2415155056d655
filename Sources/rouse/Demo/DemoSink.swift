import Domain
import Pipeline
import Storing

/// Writes to the audit store, and shows every decision to ``DemoStories``.
final class DemoSink: DecisionSink {
  private let sink: AuditSink
  private let stories: DemoStories

  init(_ sink: AuditSink, _ stories: DemoStories) {
    self.sink = sink
    self.stories = stories
  }

  func positions() throws -> [AuditPosition] { try sink.positions() }

  func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {
    try sink.store(records, positions: positions)
    for case .decision(let line) in records.map(\.content) { stories.see(line.decision) }
  }

  func note(_ hole: AuditHole, positions: [AuditPosition]) throws { try sink.note(hole, positions: positions) }

  func idle() throws { try sink.idle() }
}
