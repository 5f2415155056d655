extension AuditStore {
  /// Removes what the limits do not allow, the oldest first, in short transactions, and gives free pages back to the disk.
  /// - Throws: `AuditError` when the file cannot be read or written. Transactions before the failure stay done.
  public func retain(_ retention: Retention) throws(AuditError) -> Retention.Report {
    var run = RetentionRun(store: self, retention: retention)
    return try self.run { try run.run() }
  }
}
