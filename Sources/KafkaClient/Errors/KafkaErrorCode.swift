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
