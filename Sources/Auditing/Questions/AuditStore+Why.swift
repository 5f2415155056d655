import GRDB

extension AuditStore {
  /// Explains the decisions about one event on one device. If there are none, the answer says what the store knows of
  /// the device and of the event.
  /// - Throws: `AuditError` when the file cannot be read.
  public func why(_ question: WhyQuestion) throws(AuditError) -> WhyAnswer {
    try read { db in try WhyReader(db: db, words: WordReader(db), question: question).answer() }
  }
}
