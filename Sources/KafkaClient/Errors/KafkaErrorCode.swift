/// An error code of librdkafka: positive codes come from a broker, negative ones from the client itself.
///
/// The constants name every code that this project compares or makes; librdkafka may give others, whose number is kept.
public struct KafkaErrorCode: RawRepresentable, Sendable, Hashable {
  /// The number, as in `rd_kafka_resp_err_t`.
  public var rawValue: Int32

  /// Wraps a number, known or not.
  /// - Parameter rawValue: A value of `rd_kafka_resp_err_t`; every number is accepted.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Whether the same call may succeed when it is repeated unchanged, judged by the code alone.
  var isTransient: Bool { Self.transient.contains(self) }

  /// Whether the code says that a record was refused for its own size or content. The same record is refused each time, and
  /// other records are not. A broker refuses a whole batch with such a code when one record of the batch is bad.
  public var refusesRecord: Bool { Self.recordRefusals.contains(self) }

  /// Whether the code says that a record was refused for its timestamp. Unless the sender chose it, the timestamp is the time of
  /// the process's clock: then the clock is wrong, and every record of the process is refused until the clock is set.
  public var refusesTime: Bool { self == .invalidTimestamp }

  /// Whether the code says that the principal lacks a permission. Only an administrator of the cluster can change that.
  public var refusesPrincipal: Bool { Self.principalRefusals.contains(self) }

  /// Whether the code says why a connection could not be made or was lost.
  var endsConnection: Bool {
    [.transportFailed, .resolutionFailed, .tlsFailed, .authenticationFailed].contains(self)
  }

  private static let principalRefusals: Set<KafkaErrorCode> = [
    .topicAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
    .transactionalIDAuthorizationFailed,
  ]

  private static let recordRefusals: Set<KafkaErrorCode> = [
    .messageTooLarge, .recordListTooLarge, .invalidRecord, .policyViolation,
  ]

  /// The failures of connections, elections and overload that the Kafka protocol marks as retriable.
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

/// The codes that brokers give, in the order of their numbers.
extension KafkaErrorCode {
  /// The request succeeded: there is no failure.
  static let noError = Self(rawValue: 0)
  /// The offset lies before the oldest record of the partition or behind its end.
  public static let offsetOutOfRange = Self(rawValue: 1)
  /// A record's checksum is wrong, or its content is invalid.
  public static let corruptMessage = Self(rawValue: 2)
  /// The broker does not know the topic or the partition.
  public static let unknownTopicOrPartition = Self(rawValue: 3)
  /// The partition has no leader at the moment.
  public static let leaderNotAvailable = Self(rawValue: 5)
  /// The broker is not the partition's leader.
  public static let notLeader = Self(rawValue: 6)
  /// The broker could not finish the request in time.
  public static let requestTimedOut = Self(rawValue: 7)
  /// The broker is not available.
  public static let brokerNotAvailable = Self(rawValue: 8)
  /// The replica is not available.
  public static let replicaNotAvailable = Self(rawValue: 9)
  /// A message is larger than the broker or the client takes.
  public static let messageTooLarge = Self(rawValue: 10)
  /// The broker disconnected before it had answered.
  public static let networkException = Self(rawValue: 13)
  /// The coordinator is still loading.
  public static let coordinatorLoading = Self(rawValue: 14)
  /// The group or the transactional id has no coordinator at the moment.
  public static let coordinatorNotAvailable = Self(rawValue: 15)
  /// The broker is not the coordinator.
  public static let notCoordinator = Self(rawValue: 16)
  /// A batch of records is larger than a segment of the broker.
  public static let recordListTooLarge = Self(rawValue: 18)
  /// Too few replicas are in sync; nothing was written.
  public static let notEnoughReplicas = Self(rawValue: 19)
  /// The records were written to fewer replicas than `min.insync.replicas`.
  public static let notEnoughReplicasAfterAppend = Self(rawValue: 20)
  /// The group has moved on to another generation.
  public static let illegalGeneration = Self(rawValue: 22)
  /// The group does not know this member.
  public static let unknownMember = Self(rawValue: 25)
  /// The group is being rebalanced.
  public static let rebalanceInProgress = Self(rawValue: 27)
  /// The principal may not use the topic.
  public static let topicAuthorizationFailed = Self(rawValue: 29)
  /// The principal may not use the group.
  public static let groupAuthorizationFailed = Self(rawValue: 30)
  /// The principal may not use the cluster.
  public static let clusterAuthorizationFailed = Self(rawValue: 31)
  /// A record's timestamp is further from the broker's clock than the topic allows.
  public static let invalidTimestamp = Self(rawValue: 32)
  /// The broker is too old, or too new, for the version of the request.
  public static let unsupportedVersion = Self(rawValue: 35)
  /// A topic of that name exists.
  public static let topicExists = Self(rawValue: 36)
  /// The broker is not the cluster's controller.
  public static let notController = Self(rawValue: 41)
  /// The request breaks a policy of the cluster.
  public static let policyViolation = Self(rawValue: 44)
  /// A record came before its turn, because one before it was refused (`OUT_OF_ORDER_SEQUENCE_NUMBER`).
  public static let outOfOrderSequence = Self(rawValue: 45)
  /// The producer's epoch is out of date.
  public static let invalidProducerEpoch = Self(rawValue: 47)
  /// The transaction is in a state that does not allow the request.
  public static let invalidTransactionState = Self(rawValue: 48)
  /// An earlier transaction of the same id is still being ended.
  public static let concurrentTransactions = Self(rawValue: 51)
  /// The principal may not use the transactional id.
  public static let transactionalIDAuthorizationFailed = Self(rawValue: 53)
  /// The broker's disk failed.
  public static let storageFailed = Self(rawValue: 56)
  /// Another consumer with the same `group.instance.id` has joined the group.
  public static let fencedInstance = Self(rawValue: 82)
  /// The broker's checks of records refused the record, for example because a compacted topic got one without a key.
  public static let invalidRecord = Self(rawValue: 87)
  /// A transaction that commits offsets of the partition is still open.
  public static let unstableOffsetCommit = Self(rawValue: 88)
  /// The client has used up its quota.
  public static let throttlingQuotaExceeded = Self(rawValue: 89)
  /// Another producer with the same transactional id took over.
  public static let producerFenced = Self(rawValue: 90)
}

/// The codes that librdkafka itself gives, in the order of their numbers.
extension KafkaErrorCode {
  /// A response or a batch of records is not what the protocol prescribes (`_BAD_MSG`).
  public static let badMessage = Self(rawValue: -199)
  /// A batch of records could not be decompressed, or uses an unknown codec (`_BAD_COMPRESSION`).
  public static let badCompression = Self(rawValue: -198)
  /// The client, or the consumer, has been closed.
  public static let closed = Self(rawValue: -197)
  /// The connection to a broker failed.
  public static let transportFailed = Self(rawValue: -195)
  /// A broker's host name could not be resolved.
  public static let resolutionFailed = Self(rawValue: -193)
  /// A message was not delivered within `message.timeout.ms`.
  public static let messageTimedOut = Self(rawValue: -192)
  /// The end of a partition was reached.
  public static let partitionEnd = Self(rawValue: -191)
  /// The partition does not exist.
  public static let unknownPartition = Self(rawValue: -190)
  /// The topic does not exist.
  public static let unknownLocalTopic = Self(rawValue: -188)
  /// No broker can be reached.
  public static let allBrokersDown = Self(rawValue: -187)
  /// An argument or a property is invalid.
  public static let invalidArgument = Self(rawValue: -186)
  /// The call did not finish in the time it was given.
  public static let timedOut = Self(rawValue: -185)
  /// The producer's queue is full.
  public static let queueFull = Self(rawValue: -184)
  /// A connection with TLS could not be made, for example because of a certificate (`_SSL`).
  public static let tlsFailed = Self(rawValue: -181)
  /// The group's coordinator is not known yet.
  public static let waitingForCoordinator = Self(rawValue: -180)
  /// An operation of the same kind is still in progress.
  public static let inProgress = Self(rawValue: -178)
  /// Another call of the same producer is still in progress, and must be finished first (`_CONFLICT`).
  public static let conflict = Self(rawValue: -173)
  /// The call is not allowed in the present state.
  public static let wrongState = Self(rawValue: -172)
  /// The broker does not accept the name and password, or the token (`_AUTHENTICATION`).
  public static let authenticationFailed = Self(rawValue: -169)
  /// The group has no committed offset, or the client has none stored.
  public static let noOffset = Self(rawValue: -168)
  /// Waiting in a queue of the client took too long.
  public static let localQueueTimedOut = Self(rawValue: -166)
  /// The broker does not have the feature that the call needs.
  public static let unsupportedFeature = Self(rawValue: -165)
  /// A response or a batch of records ends before it is complete (`_UNDERFLOW`).
  public static let underflow = Self(rawValue: -155)
  /// The call failed for the moment and should be repeated.
  public static let retry = Self(rawValue: -153)
  /// A message was given up before it was sent.
  public static let purgedFromQueue = Self(rawValue: -152)
  /// A message was given up after it was sent; it may have arrived.
  public static let purgedInFlight = Self(rawValue: -151)
  /// The client met an error that it cannot recover from.
  public static let fatal = Self(rawValue: -150)
  /// A gapless producer stopped for good, because a message failed that others were to follow (`_GAPLESS_GUARANTEE`).
  public static let gaplessGuarantee = Self(rawValue: -148)
  /// The consumer was not polled within `max.poll.interval.ms` and left its group.
  public static let pollIntervalExceeded = Self(rawValue: -147)
  /// Another producer with the same transactional id took over, or another consumer with the same `group.instance.id`.
  public static let fenced = Self(rawValue: -144)
  /// The position is no longer in the partition, and `auto.offset.reset` does not allow to choose another.
  public static let offsetResetForbidden = Self(rawValue: -140)
}
