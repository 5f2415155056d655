public import Domain

/// The store that the audit feed writes to. The feed does not depend on a particular store.
public protocol DecisionSink: AnyObject {
  /// Returns the position at which to resume in each partition, as stored together with the records.
  ///
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed tries again.
  func positions() throws -> [AuditPosition]

  /// Stores records and positions atomically. Storing the same records again must change nothing.
  ///
  /// - Parameters:
  ///   - batch: The records, in the order of their partitions.
  ///   - positions: The positions to store with them: in each partition the offset after the last of these records, or the offset of
  ///     the last record itself if further decisions of its block are still to come.
  /// - Throws: `RecordRefusal` if trying again cannot help; after three equal refusals of a single record the feed sets
  ///   that record aside. `UnusableStore` ends the feed. After any other error the feed keeps the records and tries again.
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws

  /// Notes records that will never be stored, and stores positions, atomically. Noting the same hole again must change nothing.
  /// A store without a place for holes only stores the positions.
  ///
  /// - Parameters:
  ///   - hole: The place of the missing records, and the cause.
  ///   - positions: The position after the hole; empty if records before the hole may still come.
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed tries again.
  func note(_ hole: AuditHole, positions: [AuditPosition]) throws

  /// Does housekeeping. Called at most every 10 s, while there is nothing to store.
  ///
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed logs it.
  func idle() throws
}

extension DecisionSink {
  public func note(_ hole: AuditHole, positions: [AuditPosition]) throws { try store([], positions: positions) }
}
