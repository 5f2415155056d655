import CLibrdkafka

/// Applies the group's assignments and calls the listener. Used by the consumer's thread only.
final class RebalanceState {
  var listener: (any KafkaRebalanceListener)?
  /// Whether a rebalance callback is running.
  private(set) var isRunning = false
  /// Whether the group has given an assignment, even an empty one.
  private(set) var wasAssigned = false
  /// Whether the group hands over single partitions, by the last answer of librdkafka.
  private var cooperative = false
  /// A failure to apply an assignment; becomes an event of the poll that ran the callback.
  private var failure: KafkaError?

  init(listener: (any KafkaRebalanceListener)? = nil) {
    self.listener = listener
  }

  /// Returns the failure of the newest rebalance and forgets it; `nil` if there was none.
  func takeFailure() -> KafkaError? {
    guard failure != nil else { return nil }
    defer { failure = nil }
    return failure
  }

  /// Handles a rebalance event. `partitions` is librdkafka's own list, valid for the call; its offsets may be written
  /// before it is assigned.
  func perform(
    _ code: rd_kafka_resp_err_t, _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
    client: OpaquePointer, callbacks: ClientCallbacks
  ) {
    isRunning = true
    defer { isRunning = false }
    let named = unsafe PartitionEntry.read(partitions).map(\.partition)
    // `rd_kafka_rebalance_protocol` returns a static string, the protocol of the present generation; NULL for a client that has left
    // its group for good by now.
    if let name = unsafe rd_kafka_rebalance_protocol(client) {
      cooperative = unsafe String(cString: name) == "COOPERATIVE"
    }
    switch code {
    case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
      wasAssigned = true
      for (partition, offset) in listener?.assigned(named) ?? [:] where named.contains(partition) {
        // Finds the partition in librdkafka's list and writes its entry there.
        unsafe _ = rd_kafka_topic_partition_list_set_offset(
          partitions, partition.topic, partition.partition, offset.raw)
      }
      unsafe apply(cooperative, "assigning") {
        unsafe rd_kafka_incremental_assign(client, partitions)
      } eager: {
        unsafe rd_kafka_assign(client, partitions)
      }
    case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
      if unsafe rd_kafka_assignment_lost(client) != 0 {
        listener?.lost(named)
      } else {
        listener?.revoked(named)
      }
      unsafe apply(cooperative, "revoking") {
        unsafe rd_kafka_incremental_unassign(client, partitions)
      } eager: {
        unsafe rd_kafka_assign(client, nil)
      }
    default:
      callbacks.add(.error(KafkaError(code, operation: "rebalancing the consumer group")))
      // librdkafka requires this call, which unassigns everything, to synchronise its state.
      unsafe _ = rd_kafka_assign(client, nil)
    }
  }

  /// Tells the listener of a revocation that arrives when the consumer has been closed. The partitions are unassigned
  /// already, so this method only tells; it ignores every other code.
  func note(_ code: rd_kafka_resp_err_t, _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) {
    guard code == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS else { return }
    isRunning = true
    defer { isRunning = false }
    listener?.revoked(unsafe PartitionEntry.read(partitions).map(\.partition))
  }

  /// Applies an assignment as the group's protocol requires.
  private func apply(
    _ cooperative: Bool, _ what: String, incremental: () -> OpaquePointer?, eager: () -> rd_kafka_resp_err_t
  ) {
    let operation = "\(what) partitions in a rebalance"
    if cooperative {
      guard let error = unsafe incremental() else { return }
      failure = unsafe KafkaError(consuming: error, operation: operation)
    } else {
      let code = eager()
      if code != RD_KAFKA_RESP_ERR_NO_ERROR { failure = KafkaError(code, operation: operation) }
    }
  }
}
