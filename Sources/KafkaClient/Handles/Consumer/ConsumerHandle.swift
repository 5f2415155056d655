import CLibrdkafka

/// The calls of a consumer that poll it and close it. Used by one thread.
@safe final class ConsumerHandle {
  let client: ClientHandle
  private var isClosed = false
  /// Whether the consumer has subscribed, so that the group gives the partitions.
  var isSubscribed = false
  private let isSticky: Bool
  let isStaticMember: Bool
  /// The name of the consumer's group; empty without one.
  let group: String
  /// The id of the broker that described the group last; nil if none did, or if it failed since.
  var coordinator: Int32?

  /// The longest wait for the group if the owner did not close the consumer.
  private static let forgottenCloseTimeout = Duration.seconds(2)

  init(_ configuration: KafkaConfiguration, callbacks: ClientCallbacks) throws(KafkaError) {
    isSticky = configuration["partition.assignment.strategy"]?.contains("cooperative-sticky") == true
    isStaticMember = configuration["group.instance.id"] != nil
    group = configuration["group.id"] ?? ""
    client = try ClientHandle(RD_KAFKA_CONSUMER, configuration, callbacks: callbacks, operation: "making a consumer")
    // Sends callbacks of the main queue to the consumer's, so that one poll serves both.
    unsafe _ = rd_kafka_poll_set_consumer(client.pointer)
  }

  /// Whether a rebalance callback is running.
  var isInCallback: Bool { client.callbacks.rebalance.isRunning }

  /// Waits for a message, then takes the messages that have already arrived and lends them to `body` one after the
  /// other. Returns their number.
  func poll(
    max: Int, timeout: Duration, _ body: (borrowing KafkaMessageView) throws(KafkaError) -> Void
  ) throws(KafkaError) -> Int {
    let callbacks = client.callbacks
    var wait = timeout.wholeMilliseconds
    var count = 0
    // Errors count too, so that a flood of them ends the loop.
    for _ in 0..<max {
      // The caller must destroy each message that `rd_kafka_consumer_poll` returns; NULL means that none came.
      guard let message = unsafe rd_kafka_consumer_poll(client.pointer, wait) else { break }
      wait = 0
      if unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
        count += 1
        let topic = unsafe callbacks.names.name(of: message.pointee.rkt)
        try body(unsafe KafkaMessageView(owning: message, topic: topic))
      } else {
        unsafe note(message)
        unsafe rd_kafka_message_destroy(message)
      }
    }
    if let failure = callbacks.rebalance.takeFailure() { callbacks.add(.error(failure)) }
    // Messages that were read are returned first. The next poll finds none and throws.
    if count == 0, let fatal = callbacks.fatal ?? client.fatalCause(operation: "polling the consumer") { throw fatal }
    return count
  }

  /// Turns an error that librdkafka returned in place of a message into an event.
  func note(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
    let code = unsafe message.pointee.err
    // `name(of:)` returns an empty name for an error that belongs to no topic.
    let partition = unsafe KafkaTopicPartition(
      topic: client.callbacks.names.name(of: message.pointee.rkt), partition: message.pointee.partition)
    let position = unsafe KafkaPosition(partition, offset: message.pointee.offset)
    if code == RD_KAFKA_RESP_ERR__PARTITION_EOF { return client.callbacks.add(.partitionEnd(position)) }
    // `rd_kafka_message_errstr` returns a string that lives as long as the message.
    let text = unsafe rd_kafka_message_errstr(message).map { unsafe String(cString: $0) }
    var error = KafkaError(
      code, operation: partition.topic.isEmpty ? "consuming" : "consuming \(partition)", message: text)
    // An error without a place has a negative offset (`RD_KAFKA_OFFSET_INVALID`).
    if !partition.topic.isEmpty, partition.partition >= 0, position.offset >= 0 { error.position = position }
    client.callbacks.add(.error(error))
  }

  /// Commits the stored offsets and leaves the group, and waits for both at most `timeout`. Returns whether both were
  /// done. If not, the group notices the absence after its session time-out.
  @discardableResult
  func close(_ timeout: Duration) -> Bool {
    guard !isClosed else { return true }
    isClosed = true
    let leftInOrder = leaveGroup(timeout)
    if isSubscribed, isSticky, !client.callbacks.rebalance.wasAssigned {
      // librdkafka 2.0.2 makes the state of this assignor with the first assignment, and asserts that the state exists when it
      // destroys a member that has joined. Destroying a member that joined and has no assignment yet would end the process.
      client.abandon()
    } else if !leftInOrder {
      client.leaveBehind()
    }
    client.callbacks.rebalance.listener = nil
    return leftInOrder
  }

  private func leaveGroup(_ timeout: Duration) -> Bool {
    let deadline = Deadline(in: timeout)
    leaveWithoutPartitions()
    // A separate queue makes the close asynchronous, so that the wait can be bounded; `rd_kafka_consumer_close` would wait
    // for ever. The queue is destroyed before the client.
    let queue = unsafe rd_kafka_queue_new(client.pointer)
    defer { unsafe rd_kafka_queue_destroy(queue) }
    if let error = unsafe rd_kafka_consumer_close_queue(client.pointer, queue) {
      // Either there is no group to leave, or a fatal error prevents leaving it.
      defer { unsafe rd_kafka_error_destroy(error) }
      return unsafe rd_kafka_error_is_fatal(error) == 0
    }
    while unsafe rd_kafka_consumer_closed(client.pointer) == 0 {
      guard !deadline.hasPassed else { return false }
      unsafe _ = serve(queue, min(deadline.remaining, .milliseconds(50))) { code, partitions in
        unsafe client.callbacks.rebalance.perform(
          code, partitions, client: client.pointer, callbacks: client.callbacks)
      }
    }
    // librdkafka takes the first answer to a rebalance for the last one: if an assignment was waiting when the close began, it is
    // closed while the revocation that followed still waits in the queue. It has unassigned everything by itself.
    while unsafe serve(
      queue, .zero,
      { code, partitions in
        unsafe client.callbacks.rebalance.note(code, partitions)
      })
    {}
    return true
  }

  /// Waits for the next event of a close that is in progress, and handles it. Returns whether one came.
  private func serve(
    _ queue: OpaquePointer?, _ timeout: Duration,
    _ rebalance: (rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> Void
  ) -> Bool {
    // The returned event must be destroyed here, after its list has been read.
    guard let event = unsafe rd_kafka_queue_poll(queue, timeout.wholeMilliseconds) else { return false }
    defer { unsafe rd_kafka_event_destroy(event) }
    if unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE {
      unsafe rebalance(rd_kafka_event_error(event), rd_kafka_event_topic_partition_list(event))
    }
    return true
  }

  /// Leaves the group if this member has no partition. librdkafka 2.0.2 sends no request to leave when it closes a member of a
  /// cooperative group that has none; the group would wait for that member until its session time-out, and assign nothing. A
  /// static member must stay in the group.
  private func leaveWithoutPartitions() {
    guard isSubscribed, isSticky, !isStaticMember else { return }
    do throws(KafkaError) {
      if try assignment().isEmpty { try unsubscribe() }
    } catch { client.callbacks.add(.error(error)) }
  }

  deinit {
    close(Self.forgottenCloseTimeout)
  }
}
