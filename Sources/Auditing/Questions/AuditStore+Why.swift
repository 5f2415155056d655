import GRDB

extension AuditStore {
  /// Explains one event on one device; without a decision, returns what is known of each.
  /// - Throws: `AuditError` when the file cannot be read.
  public func why(_ question: WhyQuestion) throws(AuditError) -> WhyAnswer {
    try read { db in try WhyReader(db: db, names: NameReader(db), question: question).answer() }
  }
}
