import Auditing
import Domain
import Pipeline

/// Writes the decisions and commands of the audit feed into the audit store, and keeps the store within its bounds. It
/// belongs to the thread of the audit feed.
final class AuditSink: DecisionSink {
  private let store: AuditStore
  private let retention: Retention
  private var batch = AuditBatch()

  /// Opens the store, or creates it.
  /// - Throws: `AuditError` when the file cannot be opened or is no audit store.
  init(path: String, retention: Retention) throws(AuditError) {
    store = try AuditStore.open(path: path)
    self.retention = retention
  }

  /// Whether users other than the owner can read or write the store's file.
  var isReadableByOthers: Bool { store.isReadableByOthers }

  func positions() throws -> [AuditPosition] {
    try store.positions().map { position in
      AuditPosition(
        topic: position.topic == .decisions ? .decisions : .commands, partition: position.partition, next: position.next
      )
    }
  }

  func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {
    batch.removeAll()
    for record in records {
      switch record.content {
      // The positions come from the feed: the block of a decision may not be complete.
      case .decision(let line): batch.append(line)
      case .command(let command): batch.append(command)
      }
    }
    advance(positions)
    try storeBatch()
  }

  func note(_ hole: AuditFeedHole, positions: [AuditPosition]) throws {
    let cause: AuditHole.HoleCause =
      switch hole.cause {
      case .refused: .refused
      case .passedOver: .passedOver
      case .removed: .removed
      }
    batch.removeAll()
    batch.append(
      AuditHole(
        topic: hole.topic == .decisions ? .decisions : .commands, partition: hole.partition,
        offsets: hole.first..<max(hole.first, hole.next), line: hole.line, cause: cause, reason: hole.reason))
    advance(positions)
    try storeBatch()
  }

  private func advance(_ positions: [AuditPosition]) {
    for position in positions {
      batch.advance(
        position.topic == .decisions ? .decisions : .commands, partition: position.partition, past: position.next - 1)
    }
  }

  /// Stores the batch.
  /// - Throws: `RecordRefusal` if SQLite refuses the content of a record, else `AuditError`.
  private func storeBatch() throws {
    do throws(AuditError) { _ = try store.store(batch) } catch {
      throw error.kind == .refusedContent ? RecordRefusal(reason: error.reason) : error as any Error
    }
  }

  func idle() throws { _ = try store.retain(retention) }
}
