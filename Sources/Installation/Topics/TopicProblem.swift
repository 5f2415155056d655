/// One difference between the plan and the cluster.
public struct TopicProblem: Equatable, Sendable {
  /// The name of the topic.
  public var topic: String
  /// The thing that differs: `topic`, `partitions`, the name of a setting, or a text that begins with `compaction`.
  public var what: String
  /// The planned value.
  public var expected: String
  /// The value on the cluster.
  public var found: String

  /// States a difference.
  package init(topic: String, what: String, expected: String, found: String) {
    self.topic = topic
    self.what = what
    self.expected = expected
    self.found = found
  }

  /// The beginning of `what` where the cleaner does not keep up (`CompactedTopic`).
  package static let compaction = "compaction"
  /// Whether the cleaner does not keep up.
  public var isCompaction: Bool { what.hasPrefix(Self.compaction) }
}
