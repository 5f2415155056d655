package import Auditing
package import Domain
package import Pipeline

/// Writes the decisions and commands of the audit feed into the audit store, and keeps the store within its bounds. It
/// belongs to the thread of the audit feed.
package final class AuditSink: DecisionSink {
  private let store: AuditStore
  private let retention: Retention
  private var watch: StoreWatch
  private let now: () -> ContinuousClock.Instant
  /// Whether the file became unusable while it was open. SQLite must not open it again: it would mix what is in the file with its
  /// write-ahead log.
  package private(set) var isDamaged = false
  private var batch = AuditBatch()

  /// Opens the store, or creates it.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - retention: The bounds of the store.
  ///   - now: Tells the time.
  /// - Throws: `AuditError` when the file cannot be opened or is no audit store.
  package init(
    path: String, retention: Retention, now: @escaping () -> ContinuousClock.Instant = { .now }
  ) throws(AuditError) {
    store = try AuditStore.open(path: path)
    watch = try StoreWatch(path: path, now: now())
    self.retention = retention
    self.now = now
  }

  /// Whether users other than the owner can read or write the store's file.
  package var isReadableByOthers: Bool { store.isReadableByOthers }

  package func positions() throws -> [AuditPosition] {
    try use { store throws(AuditError) in try store.positions() }
  }

  package func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {
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

  package func note(_ hole: AuditHole, positions: [AuditPosition]) throws {
    batch.removeAll()
    batch.append(hole)
    advance(positions)
    try storeBatch()
  }

  private func advance(_ positions: [AuditPosition]) {
    for position in positions {
      batch.advance(position.topic, partition: position.partition, past: position.next - 1)
    }
  }

  private func storeBatch() throws {
    _ = try use { store throws(AuditError) in try store.store(batch) }
  }

  package func idle() throws { _ = try use { store throws(AuditError) in try store.retain(retention) } }

  /// Uses the store, if its file is still the one that was opened.
  /// - Throws: `RecordRefusal` if SQLite refuses the content of a record, `UnusableStore` if a person must do something about the
  ///   store, else `AuditError`.
  private func use<Result>(_ body: (AuditStore) throws(AuditError) -> Result) throws -> Result {
    do throws(AuditError) {
      try watch.look(now: now())
      return try body(store)
    } catch {
      switch error.kind {
      case .refusedContent: throw RecordRefusal(reason: error.reason)
      case .diskFull, .diskFailure, .locked, .other: throw error
      case .corrupt, .overwritten:
        isDamaged = true
        throw UnusableStore(reason: error.description)
      case .cannotOpen, .newerVersion, .olderFormat, .notAStore, .replaced, .readOnly:
        throw UnusableStore(reason: error.description)
      }
    }
  }
}
