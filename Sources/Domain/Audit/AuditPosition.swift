/// The topics that an audit store is filled from.
public enum AuditTopic: String, Hashable, Sendable, CaseIterable {
  case decisions, commands
}

/// The place up to which one partition of a topic has been stored.
public struct AuditPosition: Hashable, Sendable {
  /// The topic.
  public var topic: AuditTopic
  /// The partition of the topic.
  public var partition: Int32
  /// The first offset that is not stored yet: the next one to read.
  public var next: Int64

  /// Creates a position.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition of the topic.
  ///   - next: The first offset that is not stored yet.
  public init(topic: AuditTopic, partition: Int32, next: Int64) {
    self.topic = topic
    self.partition = partition
    self.next = next
  }
}

/// A range of offsets of one topic partition whose records the store will never have, or one line of a record of decisions.
public struct AuditHole: Hashable, Sendable {
  /// The causes of a hole.
  public enum HoleCause: String, Hashable, Sendable, CaseIterable {
    /// The store refused the record for its content.
    case refused
    /// An operator ordered the store to pass over the records.
    case passedOver
    /// Kafka's retention removed the records from the topic before they were stored.
    case removed
  }

  /// The topic whose records are missing.
  public var topic: AuditTopic
  /// The partition of the topic.
  public var partition: Int32
  /// The offset of the first record.
  public var first: Int64
  /// The offset behind the last record.
  public var next: Int64
  /// The only line that is missing of the record at `first`, from 1; nil if whole records are missing.
  public var line: Int?
  /// The cause of the hole.
  public var cause: HoleCause
  /// The reason in words; empty if the cause says it all.
  public var reason: String

  /// Creates a hole.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - partition: The partition of the topic.
  ///   - offsets: The offsets of the records; not empty.
  ///   - line: The only line that is missing of the first record, from 1; nil if whole records are missing.
  ///   - cause: The cause.
  ///   - reason: The reason in words.
  public init(
    topic: AuditTopic, partition: Int32, offsets: Range<Int64>, line: Int? = nil, cause: HoleCause, reason: String = ""
  ) {
    self.topic = topic
    self.partition = partition
    first = offsets.lowerBound
    next = offsets.upperBound
    self.line = line
    self.cause = cause
    self.reason = reason
  }

  /// The number of missing records. A missing line counts as one.
  public var records: Int { Int(next.subtractingSaturating(first)) }
}
