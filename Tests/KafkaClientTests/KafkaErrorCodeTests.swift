import Testing

@testable import KafkaClient

@Suite("Error codes")
struct KafkaErrorCodeTests {
  @Test(
    "every named code has the number that librdkafka gives this name",
    arguments: [
      (KafkaErrorCode.badMessage, "_BAD_MSG"),
      (KafkaErrorCode.badCompression, "_BAD_COMPRESSION"),
      (KafkaErrorCode.closed, "_DESTROY"),
      (KafkaErrorCode.transportFailed, "_TRANSPORT"),
      (KafkaErrorCode.resolutionFailed, "_RESOLVE"),
      (KafkaErrorCode.messageTimedOut, "_MSG_TIMED_OUT"),
      (KafkaErrorCode.partitionEnd, "_PARTITION_EOF"),
      (KafkaErrorCode.unknownPartition, "_UNKNOWN_PARTITION"),
      (KafkaErrorCode.unknownLocalTopic, "_UNKNOWN_TOPIC"),
      (KafkaErrorCode.allBrokersDown, "_ALL_BROKERS_DOWN"),
      (KafkaErrorCode.invalidArgument, "_INVALID_ARG"),
      (KafkaErrorCode.timedOut, "_TIMED_OUT"),
      (KafkaErrorCode.queueFull, "_QUEUE_FULL"),
      (KafkaErrorCode.tlsFailed, "_SSL"),
      (KafkaErrorCode.authenticationFailed, "_AUTHENTICATION"),
      (KafkaErrorCode.waitingForCoordinator, "_WAIT_COORD"),
      (KafkaErrorCode.inProgress, "_IN_PROGRESS"),
      (KafkaErrorCode.conflict, "_CONFLICT"),
      (KafkaErrorCode.wrongState, "_STATE"),
      (KafkaErrorCode.noOffset, "_NO_OFFSET"),
      (KafkaErrorCode.localQueueTimedOut, "_TIMED_OUT_QUEUE"),
      (KafkaErrorCode.unsupportedFeature, "_UNSUPPORTED_FEATURE"),
      (KafkaErrorCode.underflow, "_UNDERFLOW"),
      (KafkaErrorCode.retry, "_RETRY"),
      (KafkaErrorCode.purgedFromQueue, "_PURGE_QUEUE"),
      (KafkaErrorCode.purgedInFlight, "_PURGE_INFLIGHT"),
      (KafkaErrorCode.fatal, "_FATAL"),
      (KafkaErrorCode.gaplessGuarantee, "_GAPLESS_GUARANTEE"),
      (KafkaErrorCode.pollIntervalExceeded, "_MAX_POLL_EXCEEDED"),
      (KafkaErrorCode.fenced, "_FENCED"),
      (KafkaErrorCode.offsetResetForbidden, "_AUTO_OFFSET_RESET"),
      (KafkaErrorCode.noError, "NO_ERROR"),
      (KafkaErrorCode.offsetOutOfRange, "OFFSET_OUT_OF_RANGE"),
      (KafkaErrorCode.corruptMessage, "INVALID_MSG"),
      (KafkaErrorCode.unknownTopicOrPartition, "UNKNOWN_TOPIC_OR_PART"),
      (KafkaErrorCode.leaderNotAvailable, "LEADER_NOT_AVAILABLE"),
      (KafkaErrorCode.notLeader, "NOT_LEADER_FOR_PARTITION"),
      (KafkaErrorCode.requestTimedOut, "REQUEST_TIMED_OUT"),
      (KafkaErrorCode.brokerNotAvailable, "BROKER_NOT_AVAILABLE"),
      (KafkaErrorCode.replicaNotAvailable, "REPLICA_NOT_AVAILABLE"),
      (KafkaErrorCode.messageTooLarge, "MSG_SIZE_TOO_LARGE"),
      (KafkaErrorCode.networkException, "NETWORK_EXCEPTION"),
      (KafkaErrorCode.coordinatorLoading, "COORDINATOR_LOAD_IN_PROGRESS"),
      (KafkaErrorCode.coordinatorNotAvailable, "COORDINATOR_NOT_AVAILABLE"),
      (KafkaErrorCode.notCoordinator, "NOT_COORDINATOR"),
      (KafkaErrorCode.recordListTooLarge, "RECORD_LIST_TOO_LARGE"),
      (KafkaErrorCode.notEnoughReplicas, "NOT_ENOUGH_REPLICAS"),
      (KafkaErrorCode.notEnoughReplicasAfterAppend, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
      (KafkaErrorCode.illegalGeneration, "ILLEGAL_GENERATION"),
      (KafkaErrorCode.unknownMember, "UNKNOWN_MEMBER_ID"),
      (KafkaErrorCode.rebalanceInProgress, "REBALANCE_IN_PROGRESS"),
      (KafkaErrorCode.topicAuthorizationFailed, "TOPIC_AUTHORIZATION_FAILED"),
      (KafkaErrorCode.groupAuthorizationFailed, "GROUP_AUTHORIZATION_FAILED"),
      (KafkaErrorCode.clusterAuthorizationFailed, "CLUSTER_AUTHORIZATION_FAILED"),
      (KafkaErrorCode.transactionalIDAuthorizationFailed, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
      (KafkaErrorCode.invalidTimestamp, "INVALID_TIMESTAMP"),
      (KafkaErrorCode.unsupportedVersion, "UNSUPPORTED_VERSION"),
      (KafkaErrorCode.topicExists, "TOPIC_ALREADY_EXISTS"),
      (KafkaErrorCode.notController, "NOT_CONTROLLER"),
      (KafkaErrorCode.policyViolation, "POLICY_VIOLATION"),
      (KafkaErrorCode.invalidProducerEpoch, "INVALID_PRODUCER_EPOCH"),
      (KafkaErrorCode.invalidTransactionState, "INVALID_TXN_STATE"),
      (KafkaErrorCode.concurrentTransactions, "CONCURRENT_TRANSACTIONS"),
      (KafkaErrorCode.storageFailed, "KAFKA_STORAGE_ERROR"),
      (KafkaErrorCode.fencedInstance, "FENCED_INSTANCE_ID"),
      (KafkaErrorCode.invalidRecord, "INVALID_RECORD"),
      (KafkaErrorCode.unstableOffsetCommit, "UNSTABLE_OFFSET_COMMIT"),
      (KafkaErrorCode.throttlingQuotaExceeded, "THROTTLING_QUOTA_EXCEEDED"),
      (KafkaErrorCode.producerFenced, "PRODUCER_FENCED"),
    ] as [(KafkaErrorCode, String)])
  func names(code: KafkaErrorCode, name: String) {
    #expect(code.name == name)
    #expect(code.description == name)
  }

  @Test("a number that librdkafka does not know has a name all the same")
  func unknown() {
    #expect(KafkaErrorCode(rawValue: 12345).name == "ERR_12345?")
  }
}
