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
  /// Asks for the first and last offsets of partitions.
  public static let listOffsets = Self(rawValue: 2)
  /// Asks for topics and brokers.
  public static let metadata = Self(rawValue: 3)
  /// Commits offsets of a group.
  public static let offsetCommit = Self(rawValue: 8)
  /// Asks for committed offsets.
  public static let offsetFetch = Self(rawValue: 9)
  /// Finds the coordinator of a group or of a transactional id.
  public static let findCoordinator = Self(rawValue: 10)
  /// Joins a group.
  public static let joinGroup = Self(rawValue: 11)
  /// Tells the coordinator that a member of a group is alive.
  public static let heartbeat = Self(rawValue: 12)
  /// Distributes the partitions among a group's members.
  public static let syncGroup = Self(rawValue: 14)
  /// Gets the id and epoch of an idempotent or transactional producer.
  public static let initProducerId = Self(rawValue: 22)
  /// Adds partitions to a transaction.
  public static let addPartitionsToTransaction = Self(rawValue: 24)
  /// Adds a group to a transaction.
  public static let addOffsetsToTransaction = Self(rawValue: 25)
  /// Commits or aborts a transaction.
  public static let endTransaction = Self(rawValue: 26)
  /// Commits a group's offsets in a transaction.
  public static let transactionOffsetCommit = Self(rawValue: 28)
}
