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
