/// A kind of request of the Kafka protocol, identified by its API key.
public struct KafkaRequest: RawRepresentable, Sendable, Hashable {
  /// The API key of the Kafka protocol.
  public var rawValue: Int16

  /// Wraps an API key.
  /// - Parameter rawValue: The key; every number is accepted.
  public init(rawValue: Int16) {
    self.rawValue = rawValue
  }

  /// Writes messages.
  public static let produce = Self(rawValue: 0)
  /// Reads messages.
  public static let fetch = Self(rawValue: 1)
  /// Tells the coordinator that a member of a group is alive.
  public static let heartbeat = Self(rawValue: 12)
  /// Distributes the partitions among a group's members.
  public static let syncGroup = Self(rawValue: 14)
  /// Adds partitions to a transaction.
  public static let addPartitionsToTransaction = Self(rawValue: 24)
  /// Commits or aborts a transaction.
  public static let endTransaction = Self(rawValue: 26)
  /// Commits a group's offsets in a transaction.
  public static let transactionOffsetCommit = Self(rawValue: 28)
}
