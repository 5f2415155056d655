import GRDB

extension AuditStore {
  /// Tells the story of one event on one device, or what is known of both where nothing was decided.
  /// - Throws: `AuditError` when the file cannot be read.
  public func why(_ question: WhyQuestion) throws(AuditError) -> WhyAnswer {
    try read { db in try WhyReader(db: db, names: NameReader(db), question: question).answer() }
  }
}
