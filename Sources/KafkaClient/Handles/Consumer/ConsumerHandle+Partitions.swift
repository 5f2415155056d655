import CLibrdkafka

/// Assignment, positions and offsets. librdkafka copies each list, or uses it only during the call.
extension ConsumerHandle {
  func subscribe(_ topics: [String]) throws(KafkaError) {
    let list = PartitionListHandle(topics: topics)
    let code = unsafe rd_kafka_subscribe(client.pointer, list.pointer)
    try client.check(code, "subscribing to \(topics.joined(separator: ", "))")
    isSubscribed = true
  }

  func unsubscribe() throws(KafkaError) {
    try client.check(unsafe rd_kafka_unsubscribe(client.pointer), "unsubscribing")
  }

  func assign(_ partitions: [(KafkaTopicPartition, KafkaOffset)]) throws(KafkaError) {
    let list = PartitionListHandle(partitions.map { ($0, $1.raw) })
    let code = unsafe rd_kafka_assign(client.pointer, list.pointer)
    try client.check(code, "assigning \(partitions.map { "\($0.0)" }.joined(separator: ", "))")
  }

  func incrementalAssign(_ partitions: [(KafkaTopicPartition, KafkaOffset)]) throws(KafkaError) {
    let list = PartitionListHandle(partitions.map { ($0, $1.raw) })
    let error = unsafe rd_kafka_incremental_assign(client.pointer, list.pointer)
    unsafe try client.check(error, "adding \(partitions.map { "\($0.0)" }.joined(separator: ", "))")
  }

  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    let list = PartitionListHandle(partitions)
    let error = unsafe rd_kafka_incremental_unassign(client.pointer, list.pointer)
    unsafe try client.check(error, "removing \(partitions.map(\.description).joined(separator: ", "))")
  }

  func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
    var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    let code = unsafe rd_kafka_assignment(client.pointer, &list)
    try client.check(code, "asking for the assignment")
    // The caller owns the returned list.
    guard let list = unsafe list else { return [] }
    return unsafe PartitionListHandle(owning: list).entries.map(\.partition)
  }

  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    let list = PartitionListHandle(partitions)
    let code = unsafe rd_kafka_pause_partitions(client.pointer, list.pointer)
    try client.check(code, "pausing partitions")
    if let failure = list.firstFailure("pausing") { throw failure }
  }

  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    let list = PartitionListHandle(partitions)
    let code = unsafe rd_kafka_resume_partitions(client.pointer, list.pointer)
    try client.check(code, "resuming partitions")
    if let failure = list.firstFailure("resuming") { throw failure }
  }

  func seek(_ partition: KafkaTopicPartition, _ offset: KafkaOffset, _ timeout: Duration) throws(KafkaError) {
    let list = PartitionListHandle([(partition, offset.raw)])
    let error = unsafe rd_kafka_seek_partitions(client.pointer, list.pointer, timeout.wholeMilliseconds)
    unsafe try client.check(error, "seeking in \(partition)")
    if let failure = list.firstFailure("seeking in") { throw failure }
  }

  func positions(_ partitions: [KafkaTopicPartition]) throws(KafkaError) -> [KafkaPosition] {
    let list = PartitionListHandle(partitions)
    try client.check(unsafe rd_kafka_position(client.pointer, list.pointer), "asking for positions")
    return list.entries.compactMap(\.position)
  }

  /// Asks the brokers for the ends of partitions, each broker once.
  func ends(_ partitions: [KafkaTopicPartition], _ timeout: Duration) throws(KafkaError) -> [KafkaPosition] {
    let list = try offsets(partitions, Int64(RD_KAFKA_OFFSET_END), timeout)
    return list.entries.filter { $0.code == RD_KAFKA_RESP_ERR_NO_ERROR }.compactMap(\.position)
  }

  /// Asks the brokers for one end of partitions. Unlike `rd_kafka_query_watermark_offsets` of librdkafka 2.0.2, which serves its queue
  /// until every broker has answered, it ends in time whatever the brokers do.
  private func offsets(
    _ partitions: [KafkaTopicPartition], _ end: Int64, _ timeout: Duration
  ) throws(KafkaError) -> PartitionListHandle {
    // The times that are asked for stand in the place of the offsets, and the answers replace them.
    let list = PartitionListHandle(partitions.map { ($0, end) })
    let code = unsafe rd_kafka_offsets_for_times(client.pointer, list.pointer, timeout.wholeMilliseconds)
    try client.check(code, "asking for the ends of partitions")
    return list
  }

  func committed(_ partitions: [KafkaTopicPartition], _ timeout: Duration) throws(KafkaError) -> [KafkaPosition] {
    try committedOffsets(partitions, timeout).map(\.position)
  }

  func committedOffsets(
    _ partitions: [KafkaTopicPartition], _ timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset] {
    let list = PartitionListHandle(partitions)
    let code = unsafe rd_kafka_committed(client.pointer, list.pointer, timeout.wholeMilliseconds)
    try client.check(code, "asking for committed offsets")
    if let failure = list.firstFailure("asking for the committed offset of") { throw failure }
    return list.entries.compactMap { entry in
      entry.position.map { KafkaCommittedOffset($0, metadata: entry.metadata) }
    }
  }

  /// Commits offsets with their remarks without waiting; a failure arrives as an event.
  func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError) {
    let list = PartitionListHandle(offsets)
    try client.check(unsafe rd_kafka_commit(client.pointer, list.pointer, 1), "committing offsets")
  }

  /// Commits positions, and waits for the broker's answer for at most `timeout`. `nil` commits the offsets that
  /// librdkafka has stored.
  func commit(_ positions: [KafkaPosition]?, _ timeout: Duration) throws(KafkaError) {
    try commit(positions?.map { KafkaCommittedOffset($0, metadata: "") }, timeout)
  }

  /// Commits offsets with their remarks, and waits for the broker's answer for at most `timeout`. `nil` commits the
  /// offsets that librdkafka has stored.
  func commit(_ offsets: [KafkaCommittedOffset]?, _ timeout: Duration) throws(KafkaError) {
    // A separate queue bounds the wait; the synchronous `rd_kafka_commit` would wait for ever. A reply that comes
    // after the queue was destroyed is dropped by librdkafka, which holds another reference.
    let queue = unsafe rd_kafka_queue_new(client.pointer)
    defer { unsafe rd_kafka_queue_destroy(queue) }
    let code: rd_kafka_resp_err_t
    if let offsets {
      let list = PartitionListHandle(offsets)
      code = unsafe rd_kafka_commit_queue(client.pointer, list.pointer, queue, nil, nil)
    } else {
      code = unsafe rd_kafka_commit_queue(client.pointer, nil, queue, nil, nil)
    }
    try client.check(code, "committing offsets")
    guard let event = unsafe rd_kafka_queue_poll(queue, timeout.wholeMilliseconds) else {
      throw client.failure(RD_KAFKA_RESP_ERR__TIMED_OUT, "committing offsets")
    }
    defer { unsafe rd_kafka_event_destroy(event) }
    // The list belongs to the event.
    let result = unsafe rd_kafka_event_error(event)
    let failed = unsafe PartitionEntry.read(rd_kafka_event_topic_partition_list(event))
      .first { $0.code != RD_KAFKA_RESP_ERR_NO_ERROR }
    if let failed { throw KafkaError(failed.code, operation: "committing the offset of \(failed.partition)") }
    if result != RD_KAFKA_RESP_ERR__NO_OFFSET { try client.check(result, "committing offsets") }
  }

  func watermarks(_ partition: KafkaTopicPartition, _ timeout: Duration) throws(KafkaError) -> KafkaWatermarks {
    let deadline = ContinuousClock.now + timeout
    let low = try offset(of: partition, Int64(RD_KAFKA_OFFSET_BEGINNING), timeout)
    let high = try offset(of: partition, Int64(RD_KAFKA_OFFSET_END), max(.zero, deadline - .now))
    return KafkaWatermarks(low: low, high: high)
  }

  private func offset(of partition: KafkaTopicPartition, _ end: Int64, _ timeout: Duration) throws(KafkaError) -> Int64
  {
    let list = try offsets([partition], end, timeout)
    if let failure = list.firstFailure("asking for the ends of") { throw failure }
    guard let position = list.entries.first?.position else {
      throw client.failure(RD_KAFKA_RESP_ERR__TIMED_OUT, "asking for the ends of \(partition)")
    }
    return position.offset
  }

  /// Returns the two ends of a partition's log as of the newest fetch; `nil` when none is known yet.
  func cachedWatermarks(_ partition: KafkaTopicPartition) -> KafkaWatermarks? {
    var low: Int64 = -1
    var high: Int64 = -1
    let code = unsafe rd_kafka_get_watermark_offsets(
      client.pointer, partition.topic, partition.partition, &low, &high)
    // An unknown end is `RD_KAFKA_OFFSET_INVALID`. Only statistics refresh the low end.
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
    return KafkaWatermarks(low: max(0, low), high: high)
  }

  func groupMetadata() throws(KafkaError) -> GroupMetadataHandle {
    // NULL without a `group.id`; else the caller owns the object.
    guard let pointer = unsafe rd_kafka_consumer_group_metadata(client.pointer) else {
      throw KafkaError(
        code: .invalidArgument, message: "the consumer has no group: give a \"group.id\"",
        operation: "asking for the consumer group", isRetriable: false)
    }
    let metadata = unsafe GroupMetadataHandle(owning: pointer)
    // A broker takes a generation of -1 without a member for a consumer outside of the group, and checks nothing. Metadata of a
    // member that the group has expelled looks the same until the member's next poll. Membership is asked for after the metadata:
    // a consumer joins again in a poll at the earliest, so one that is a member now was a member then.
    if isSubscribed, !isMember {
      throw KafkaError(
        code: .unknownMember, message: "the consumer is not a member of its group, or no longer",
        operation: "asking for the consumer group", isRetriable: false, isAbortable: true)
    }
    return metadata
  }

  /// Whether the group knows this consumer and has not taken its partitions away.
  private var isMember: Bool {
    if unsafe rd_kafka_assignment_lost(client.pointer) != 0 { return false }
    return hasMemberID
  }

  /// Whether the group has given this consumer an id that is still valid.
  var hasMemberID: Bool {
    // A copy that the caller owns; NULL or empty outside of the group.
    guard let id = unsafe rd_kafka_memberid(client.pointer) else { return false }
    defer { unsafe rd_kafka_mem_free(client.pointer, id) }
    return unsafe id.pointee != 0
  }
}

/// Owns an `rd_kafka_consumer_group_metadata_t`, which does not depend on the consumer: the consumer may be released first.
@safe final class GroupMetadataHandle {
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) {
    unsafe self.pointer = unsafe pointer
  }

  deinit {
    // This handle owns the pointer.
    unsafe rd_kafka_consumer_group_metadata_destroy(pointer)
  }
}
