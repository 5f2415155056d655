/// The store that the audit feed writes to. The protocol belongs to the feed, which knows no store.
public protocol DecisionSink: AnyObject {
  /// Returns where to go on in each partition: the positions that were stored together with the records.
  ///
  /// - Throws: Any error. The feed tries again.
  func positions() throws -> [AuditPosition]

  /// Stores records and positions as one. Storing the same again must change nothing.
  ///
  /// - Parameters:
  ///   - batch: The records, in the order of their partitions.
  ///   - positions: The positions behind them.
  /// - Throws: Any error. The feed keeps the records and tries again.
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws

  /// Does housekeeping. Called at most every 10 s, while there is nothing to store.
  ///
  /// - Throws: Any error. The feed logs it.
  func idle() throws
}
