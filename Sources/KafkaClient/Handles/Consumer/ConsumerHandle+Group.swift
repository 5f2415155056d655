import CLibrdkafka

/// The consumer's group as a whole, and leaving it.
extension ConsumerHandle {
  /// Asks the coordinator for the members of the group and their partitions.
  ///
  /// The request names the broker that it goes to. Without a broker, librdkafka 2.0.2 looks for the coordinator itself, and
  /// aborts the process if it finds it after the time-out (issue 4605 of librdkafka); see `AdminHandle`.
  func describeGroup(_ timeout: Duration) throws(KafkaError) -> KafkaGroup {
    let deadline = Deadline(in: timeout)
    if let known = coordinator {
      coordinator = nil
      do throws(KafkaError) {
        return try describeGroup(asking: [known], timeout)
      } catch {
        guard error.code == .notCoordinator else { throw error }
      }
    }
    return try describeGroup(asking: brokers(deadline.remaining), deadline.remaining)
  }

  /// Asks several brokers at once, and remembers the one that answered as the coordinator.
  private func describeGroup(asking brokers: [Int32], _ timeout: Duration) throws(KafkaError) -> KafkaGroup {
    let operation = "describing the consumer group \(group)"
    return unsafe try client.ask(
      RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout, operation, answersMax: brokers.count
    ) { options, queue in
      unsafe group.withCString { name in
        var names: [UnsafePointer<CChar>?] = unsafe [name]
        for broker in brokers {
          // A broker id from 0. The names and the options are copied into the request.
          unsafe _ = rd_kafka_AdminOptions_set_broker(options, broker, nil, 0)
          unsafe rd_kafka_DescribeConsumerGroups(client.pointer, &names, names.count, options, queue)
        }
      }
    } read: { (event: OpaquePointer) throws(KafkaError) in
      // One group was asked for. NULL for an event of another type, which does not come. What is read belongs to the event.
      guard let result = unsafe rd_kafka_event_DescribeConsumerGroups_result(event) else {
        throw client.failure(RD_KAFKA_RESP_ERR__BAD_MSG, operation)
      }
      var count = 0
      guard let groups = unsafe rd_kafka_DescribeConsumerGroups_result_groups(result, &count), count > 0,
        let described = unsafe groups[0]
      else { throw client.failure(RD_KAFKA_RESP_ERR__BAD_MSG, operation) }
      // NULL without an error; the error belongs to the description.
      if let error = unsafe rd_kafka_ConsumerGroupDescription_error(described) {
        let text = unsafe rd_kafka_error_string(error).map { unsafe String(cString: $0) }
        throw unsafe client.explained(KafkaError(rd_kafka_error_code(error), operation: operation, message: text))
      }
      // NULL with an error only.
      coordinator = unsafe rd_kafka_ConsumerGroupDescription_coordinator(described).map { unsafe rd_kafka_Node_id($0) }
      return unsafe Self.group(described)
    }
  }

  /// Asks for the ids of the brokers.
  private func brokers(_ timeout: Duration) throws(KafkaError) -> [Int32] {
    var metadata: UnsafePointer<rd_kafka_metadata>?
    // The topics that this client knows already.
    let code = unsafe rd_kafka_metadata(client.pointer, 0, nil, &metadata, timeout.wholeMilliseconds)
    try client.check(code, "asking for the cluster's brokers")
    guard let metadata = unsafe metadata else { return [] }
    // The caller destroys it. The array is followed by its length.
    defer { unsafe rd_kafka_metadata_destroy(metadata) }
    return unsafe UnsafeBufferPointer(start: metadata.pointee.brokers, count: Int(metadata.pointee.broker_cnt)).map(
      \.id)
  }

  private static func group(_ described: OpaquePointer) -> KafkaGroup {
    let state = unsafe rd_kafka_ConsumerGroupDescription_state(described)
    let count = unsafe rd_kafka_ConsumerGroupDescription_member_count(described)
    // Members and their NUL-terminated names belong to the description. The instance is NULL for a dynamic member.
    let members = (0..<count).compactMap { index -> KafkaGroupMember? in
      guard let member = unsafe rd_kafka_ConsumerGroupDescription_member(described, index) else { return nil }
      let id = unsafe rd_kafka_MemberDescription_consumer_id(member).map { unsafe String(cString: $0) }
      let instance = unsafe rd_kafka_MemberDescription_group_instance_id(member).map { unsafe String(cString: $0) }
      let assignment = unsafe rd_kafka_MemberDescription_assignment(member)
      let list = unsafe assignment.flatMap { unsafe rd_kafka_MemberAssignment_partitions($0) }
      return KafkaGroupMember(
        id: id ?? "", instance: instance?.isEmpty == false ? instance : nil,
        partitions: unsafe PartitionEntry.read(list).map(\.partition).sorted())
    }
    return KafkaGroup(isStable: state == RD_KAFKA_CONSUMER_GROUP_STATE_STABLE, members: members)
  }

  /// Ends the subscription and waits until the group has been told, also as a static member: librdkafka keeps a static
  /// member in its group when it closes it, but not when the member ends its subscription first. Messages that arrive
  /// meanwhile are dropped. Returns whether the member left in time.
  @discardableResult
  func leave(_ timeout: Duration) -> Bool {
    guard isSubscribed, hasMemberID else { return true }
    let deadline = Deadline(in: timeout)
    do throws(KafkaError) {
      try unsubscribe()
      // The revocation comes in a poll; the request to leave goes out once everything has been released.
      while hasMemberID, !deadline.hasPassed {
        _ = try poll(max: 100, timeout: min(deadline.remaining, .milliseconds(20))) { _ throws(KafkaError) in }
      }
    } catch {
      client.callbacks.add(.error(error))
      return false
    }
    return !hasMemberID
  }
}
