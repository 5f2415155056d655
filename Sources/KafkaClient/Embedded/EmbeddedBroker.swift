/// A Kafka endpoint inside this process, for tests and demonstrations: librdkafka's mock cluster.
///
/// It listens on 127.0.0.1 at a random port, and any client of this machine can use it. It lives as long as this
/// object, and so does all that was written to it. Its limits, with librdkafka 2.0.2:
/// - Transactions go through their states, but isolation is not kept: what a transaction writes is visible at once,
///   also when it is aborted, and offsets sent to a transaction are lost. Nobody is fenced.
/// - Sequence numbers of idempotent producers are not checked: it takes a request behind one that was made to fail, and
///   the client then holds both for written. `max.in.flight.requests.per.connection` 1 keeps such a test honest.
/// - A partition keeps about its last 5 MB or 100,000 messages; older ones are gone.
/// - Topics are made with ``createTopic(_:partitions:replicas:)`` or by being used (then with 4 partitions);
///   ``KafkaAdmin/createTopics(_:timeout:)`` and ``KafkaAdmin/describeTopicConfiguration(_:timeout:)`` are not answered.
/// - There is no compaction, no static membership across restarts, and no look-up of offsets by time.
/// - The first join of a group takes about 3 s, and a killed member blocks its group for `session.timeout.ms`.
///
/// Used by one thread at a time.
public final class EmbeddedBroker {
  private let handle: MockClusterHandle

  /// Starts a cluster of this many brokers, with ids from 1.
  public init(brokers: Int = 1, logSink: KafkaLogSink? = nil) throws(KafkaError) {
    precondition(brokers > 0, "an embedded cluster needs at least one broker")
    handle = try MockClusterHandle(brokers: brokers, logSink: logSink)
  }

  /// The value for `bootstrap.servers`.
  public var bootstrapServers: String { handle.bootstrapServers }

  /// Makes a topic; replicas cannot exceed the brokers.
  public func createTopic(_ name: String, partitions: Int, replicas: Int = 1) throws(KafkaError) {
    try handle.createTopic(name, partitions: partitions, replicas: replicas)
  }

  /// Makes the next requests of this kind fail, each with one of the codes, in order. ``KafkaErrorCode/transportFailed``
  /// makes the broker drop the connection instead.
  public func pushRequestErrors(_ request: KafkaRequest, _ codes: [KafkaErrorCode]) {
    handle.pushErrors(request.rawValue, codes)
  }

  /// Forgets the errors that were pushed for this kind of request and did not happen yet.
  public func clearRequestErrors(_ request: KafkaRequest) {
    handle.clearErrors(request.rawValue)
  }

  /// Makes requests about a topic's metadata, and its part in transactions, fail until `nil` is set.
  public func setTopicError(_ topic: String, _ code: KafkaErrorCode?) {
    handle.setTopicError(topic, code)
  }

  /// Drops the broker's connections and takes no new ones; its partitions keep their leader. `nil` is every broker.
  public func setBrokerDown(_ broker: Int32? = nil) throws(KafkaError) {
    try handle.setUp(false, broker: broker ?? -1)
  }

  /// Takes connections again. `nil` is every broker.
  public func setBrokerUp(_ broker: Int32? = nil) throws(KafkaError) {
    try handle.setUp(true, broker: broker ?? -1)
  }

  /// Delays each answer by this time, in whole milliseconds. `nil` is every broker.
  public func setRoundTripTime(_ time: Duration, broker: Int32? = nil) throws(KafkaError) {
    try handle.setRoundTripTime(time, broker: broker ?? -1)
  }

  /// Moves a partition to another leader; `nil` leaves it without one.
  public func setLeader(of partition: KafkaTopicPartition, to broker: Int32?) throws(KafkaError) {
    try handle.setLeader(partition, broker: broker ?? -1)
  }
}

/// A kind of request of the Kafka protocol, by its API key.
public struct KafkaRequest: RawRepresentable, Sendable, Hashable {
  /// The API key.
  public var rawValue: Int16

  /// Wraps an API key.
  public init(rawValue: Int16) {
    self.rawValue = rawValue
  }

  /// Writes messages.
  public static let produce = Self(rawValue: 0)
  /// Reads messages.
  public static let fetch = Self(rawValue: 1)
  /// Asks for the ends of partitions.
  public static let listOffsets = Self(rawValue: 2)
  /// Asks for topics and brokers.
  public static let metadata = Self(rawValue: 3)
  /// Commits offsets of a group.
  public static let offsetCommit = Self(rawValue: 8)
  /// Asks for committed offsets.
  public static let offsetFetch = Self(rawValue: 9)
  /// Looks for a group's or a transactional id's coordinator.
  public static let findCoordinator = Self(rawValue: 10)
  /// Joins a group.
  public static let joinGroup = Self(rawValue: 11)
  /// Stays in a group.
  public static let heartbeat = Self(rawValue: 12)
  /// Shares out a group's partitions.
  public static let syncGroup = Self(rawValue: 14)
  /// Begins an idempotent or transactional producer.
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
