/// An error code of librdkafka: positive ones come from a broker, negative ones from the client itself.
public struct KafkaErrorCode: RawRepresentable, Sendable, Hashable {
  /// The number, as in `rd_kafka_resp_err_t`.
  public var rawValue: Int32

  /// Wraps a number, known or not.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Whether the same call may succeed when repeated as it is, going by the code alone.
  var isTransient: Bool { Self.transient.contains(self) }

  /// Failures of connections, elections and overload, as the Kafka protocol marks them retriable.
  private static let transient: Set<KafkaErrorCode> = [
    .transportFailed, .allBrokersDown, .timedOut, .localQueueTimedOut, .messageTimedOut, .waitingForCoordinator,
    .queueFull, .retry, .inProgress, .resolutionFailed, .leaderNotAvailable, .notLeader, .requestTimedOut,
    .brokerNotAvailable, .replicaNotAvailable, .networkException, .coordinatorLoading, .coordinatorNotAvailable,
    .notCoordinator, .notEnoughReplicas, .notEnoughReplicasAfterAppend, .rebalanceInProgress, .notController,
    .storageFailed, .concurrentTransactions, .unstableOffsetCommit, .throttlingQuotaExceeded,
  ]
}

extension KafkaErrorCode: CustomStringConvertible {
  /// librdkafka's name of the code, such as `_TIMED_OUT` or `PRODUCER_FENCED`.
  public var description: String { name }
}

/// Codes of the client itself.
extension KafkaErrorCode {
  /// The connection to a broker failed.
  public static let transportFailed = Self(rawValue: -195)
  /// A message was not delivered within `message.timeout.ms`.
  public static let messageTimedOut = Self(rawValue: -192)
  /// The end of a partition was reached.
  public static let partitionEnd = Self(rawValue: -191)
  /// There is no such partition.
  public static let unknownPartition = Self(rawValue: -190)
  /// There is no such topic.
  public static let unknownLocalTopic = Self(rawValue: -188)
  /// No broker can be reached.
  public static let allBrokersDown = Self(rawValue: -187)
  /// An argument or a property is invalid.
  public static let invalidArgument = Self(rawValue: -186)
  /// The time given was up.
  public static let timedOut = Self(rawValue: -185)
  /// The producer's queue is full.
  public static let queueFull = Self(rawValue: -184)
  /// A broker's host name could not be resolved.
  static let resolutionFailed = Self(rawValue: -193)
  /// The group's coordinator is not known yet.
  static let waitingForCoordinator = Self(rawValue: -180)
  /// An operation of the same kind is still under way.
  static let inProgress = Self(rawValue: -178)
  /// The call is not allowed in the present state.
  public static let wrongState = Self(rawValue: -172)
  /// Waiting in a queue of the client took too long.
  static let localQueueTimedOut = Self(rawValue: -166)
  /// A message was given up before it was sent.
  public static let purgedFromQueue = Self(rawValue: -152)
  /// A message was given up after it was sent; it may have arrived.
  public static let purgedInFlight = Self(rawValue: -151)
  /// The call should be repeated.
  static let retry = Self(rawValue: -153)
  /// The client met an error that it cannot recover from.
  public static let fatal = Self(rawValue: -150)
  /// The consumer was not polled within `max.poll.interval.ms` and left its group.
  public static let pollIntervalExceeded = Self(rawValue: -147)
  /// There is no committed offset.
  public static let noOffset = Self(rawValue: -168)
  /// Another producer with the same transactional id took over.
  public static let fenced = Self(rawValue: -144)
  /// The client, or the consumer, has been closed.
  public static let closed = Self(rawValue: -197)
}

/// Codes of brokers.
extension KafkaErrorCode {
  /// The broker does not know the topic or the partition.
  public static let unknownTopicOrPartition = Self(rawValue: 3)
  /// The partition has no leader at the moment.
  public static let leaderNotAvailable = Self(rawValue: 5)
  /// The broker is not the partition's leader.
  public static let notLeader = Self(rawValue: 6)
  /// The broker could not do it in time.
  public static let requestTimedOut = Self(rawValue: 7)
  static let brokerNotAvailable = Self(rawValue: 8)
  static let replicaNotAvailable = Self(rawValue: 9)
  /// A message is larger than the broker or the client takes.
  public static let messageTooLarge = Self(rawValue: 10)
  static let networkException = Self(rawValue: 13)
  /// The coordinator is still loading.
  public static let coordinatorLoading = Self(rawValue: 14)
  /// There is no coordinator at the moment.
  public static let coordinatorNotAvailable = Self(rawValue: 15)
  /// The broker is not the coordinator.
  public static let notCoordinator = Self(rawValue: 16)
  /// Too few replicas are in sync.
  public static let notEnoughReplicas = Self(rawValue: 19)
  static let notEnoughReplicasAfterAppend = Self(rawValue: 20)
  /// The group has moved on to another generation.
  public static let illegalGeneration = Self(rawValue: 22)
  /// The group does not know this member.
  public static let unknownMember = Self(rawValue: 25)
  /// The group is being rebalanced.
  public static let rebalanceInProgress = Self(rawValue: 27)
  /// The principal may not use the topic.
  public static let topicAuthorizationFailed = Self(rawValue: 29)
  /// A topic of that name exists.
  public static let topicExists = Self(rawValue: 36)
  static let notController = Self(rawValue: 41)
  /// The producer's epoch is out of date.
  public static let invalidProducerEpoch = Self(rawValue: 47)
  /// The transaction is in another state.
  public static let invalidTransactionState = Self(rawValue: 48)
  /// An earlier transaction of the same id is still being ended.
  public static let concurrentTransactions = Self(rawValue: 51)
  static let storageFailed = Self(rawValue: 56)
  static let unstableOffsetCommit = Self(rawValue: 88)
  static let throttlingQuotaExceeded = Self(rawValue: 89)
  /// Another producer with the same transactional id took over.
  public static let producerFenced = Self(rawValue: 90)
}
