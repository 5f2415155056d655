/// Records of one partition, or one line of a block, that the audit store will never have.
public struct AuditFeedHole: Hashable, Sendable {
  /// The causes of a hole.
  public enum FeedHoleCause: String, Sendable {
    /// The store refused the decision or the command for its content.
    case refused
    /// An operator ordered the feed to pass over the records.
    case passedOver
    /// Retention removed the records before they were stored.
    case removed
  }

  /// The topic that the records were in.
  public var topic: AuditPosition.Topic
  /// The partition that the records were in.
  public var partition: Int32
  /// The offset of the first record.
  public var first: Int64
  /// The offset after the last record.
  public var next: Int64
  /// The only line that is missing of the record at `first`, from 1; nil if whole records are missing.
  public var line: Int?
  /// The cause.
  public var cause: FeedHoleCause
  /// The reason in words; empty unless the store refused the record.
  public var reason = ""
}
