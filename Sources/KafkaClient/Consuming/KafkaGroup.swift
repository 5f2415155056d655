/// A consumer group as its coordinator sees it.
public struct KafkaGroup: Sendable, Hashable {
  /// Whether every member has its assignment, and no rebalance is in progress.
  public var isStable: Bool
  /// The members, in the order in which the coordinator names them.
  public var members: [KafkaGroupMember]

  /// Makes the description of a group.
  /// - Parameters:
  ///   - isStable: Whether no rebalance is in progress.
  ///   - members: The members.
  public init(isStable: Bool, members: [KafkaGroupMember]) {
    self.isStable = isStable
    self.members = members
  }
}

/// A member of a consumer group.
public struct KafkaGroupMember: Sendable, Hashable {
  /// The id that the coordinator gave the member.
  public var id: String
  /// The member's `group.instance.id`; nil for a dynamic member.
  public var instance: String?
  /// The partitions of the member in ascending order; empty unless the group is stable.
  public var partitions: [KafkaTopicPartition]

  /// Makes a member.
  /// - Parameters:
  ///   - id: The id that the coordinator gave.
  ///   - instance: The `group.instance.id` of a static member.
  ///   - partitions: The partitions of the member.
  public init(id: String, instance: String?, partitions: [KafkaTopicPartition]) {
    self.id = id
    self.instance = instance
    self.partitions = partitions
  }
}

/// A consumer's place in its group: the group, the generation and the member. It stays valid after the consumer is closed, and
/// the broker refuses it once the group has moved on to another generation.
public final class KafkaGroupMetadata {
  let handle: GroupMetadataHandle

  init(handle: GroupMetadataHandle) {
    self.handle = handle
  }
}
