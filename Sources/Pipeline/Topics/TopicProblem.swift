/// One difference between the plan and the cluster.
public struct TopicProblem: Equatable, Sendable {
  /// The name of the topic.
  public var topic: String
  /// The thing that differs: `topic`, `partitions` or the name of a setting.
  public var what: String
  /// The planned value.
  public var expected: String
  /// The value on the cluster.
  public var found: String
}
