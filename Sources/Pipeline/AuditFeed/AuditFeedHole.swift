/// Records of one partition that the audit store will never have.
public struct AuditFeedHole: Hashable, Sendable {
  /// The causes of a hole.
  public enum FeedHoleCause: String, Sendable {
    /// The store refused the record for its content.
    case refused
    /// An operator ordered to pass over the records.
    case passedOver
    /// Retention removed the records before they were stored.
    case removed
  }

  /// The topic.
  public var topic: AuditPosition.Topic
  /// The partition.
  public var partition: Int32
  /// The offset of the first record.
  public var first: Int64
  /// The offset behind the last record.
  public var next: Int64
  /// The cause.
  public var cause: FeedHoleCause
  /// The reason in words; empty if the cause says it all.
  public var reason = ""
}
