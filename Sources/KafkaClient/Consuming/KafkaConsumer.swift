/// A consumer, either of a group or of partitions that are assigned by hand.
///
/// Call every method on one thread, the thread that polls. After ``close(timeout:)`` every throwing method throws
/// ``KafkaErrorCode/closed``.
public final class KafkaConsumer {
  private var handle: ConsumerHandle?
  /// Holds the events that the next ``poll(maxMessages:timeout:)`` or ``takeEvents()`` returns.
  private let callbacks: ClientCallbacks

  /// The capacity reserved for the messages of a poll, so that an ordinary batch does not grow step by step.
  private static let messagesReserved = 512

  /// The longest wait for calls that ask no broker but need an answer of librdkafka's own threads, such as a seek.
  ///
  /// They answer within milliseconds; on a machine that is much too busy one was seen to take more than 5 s. To give up early gains
  /// nothing: the same thread sends the heartbeats, and a call that was given up may still take effect.
  /// A transaction that is open meanwhile may be ended by the broker; its records are then decided again.
  static let localTimeout = Duration.seconds(60)

  /// Makes a consumer, which connects in the background.
  /// - Parameters:
  ///   - configuration: librdkafka's properties. `group.id` is needed, also without a subscription.
  ///   - rebalanceListener: Learns which partitions the group gives and takes.
  ///   - logSink: Receives librdkafka's log; without it nothing is logged.
  ///   - statisticsSink: Receives librdkafka's statistics; without it none are made.
  /// - Throws: A ``KafkaError`` that names the property which librdkafka refuses.
  public init(
    _ configuration: KafkaConfiguration, rebalanceListener: (any KafkaRebalanceListener)? = nil,
    logSink: KafkaLogSink? = nil, statisticsSink: KafkaStatisticsSink? = nil
  ) throws(KafkaError) {
    callbacks = ClientCallbacks(
      logSink: logSink, statisticsSink: statisticsSink, rebalance: RebalanceState(listener: rebalanceListener))
    handle = try ConsumerHandle(configuration, callbacks: callbacks)
  }

  /// Returns the handle of the open consumer, for one call of librdkafka. Throws ``KafkaErrorCode/closed`` if the
  /// consumer has been closed; the error names `operation` as what failed.
  func open(_ operation: @autoclosure () -> String) throws(KafkaError) -> ConsumerHandle {
    guard let handle else {
      throw KafkaError(
        code: .closed, message: "the consumer has been closed", operation: operation(), isRetriable: false)
    }
    return handle
  }

  /// Waits for a message, then takes all messages that have already arrived, up to `maxMessages`.
  ///
  /// Runs the rebalance listener. To stay in its group a consumer polls at least every `max.poll.interval.ms`, also when its
  /// partitions are paused.
  /// - Parameters:
  ///   - maxMessages: The largest number of messages to return; at least 1.
  ///   - timeout: The longest wait for the first message.
  /// - Returns: The messages and the events; both may be empty.
  /// - Throws: A fatal ``KafkaError``, after the messages that were read before it have been returned. All other failures are
  ///   events of the batch.
  public func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch {
    precondition(maxMessages > 0, "a poll needs room for a message")
    var messages: [KafkaMessage] = []
    _ = try open("polling").poll(max: maxMessages, timeout: timeout) { message in
      if messages.isEmpty { messages.reserveCapacity(min(maxMessages, Self.messagesReserved)) }
      messages.append(message.copy())
    }
    return KafkaBatch(messages: messages, events: callbacks.takeEvents())
  }

  /// Works like ``poll(maxMessages:timeout:)`` without copying: lends each message to a closure, one after the other.
  ///
  /// Events wait for ``takeEvents()``. When `body` throws, the loop ends. The message that `body` was given counts as read, and
  /// the messages behind it come with the next poll. To read the message again, seek to it.
  /// - Parameters:
  ///   - maxMessages: The largest number of messages to lend; at least 1.
  ///   - timeout: The longest wait for the first message.
  ///   - body: Receives a message, which is valid for the call.
  /// - Returns: The number of messages that were lent.
  /// - Throws: A fatal ``KafkaError`` as ``poll(maxMessages:timeout:)`` does, or the error that `body` threw.
  @discardableResult
  public func forEachMessage(
    maxMessages: Int, timeout: Duration, _ body: (borrowing KafkaMessageView) throws(KafkaError) -> Void
  ) throws(KafkaError) -> Int {
    precondition(maxMessages > 0, "a poll needs room for a message")
    return try open("polling").poll(max: maxMessages, timeout: timeout, body)
  }

  /// Takes the events that have arrived since the last call.
  /// - Returns: The events in the order of their arrival. At most 256 are kept; when more arrive, the oldest 64 are
  ///   dropped.
  public func takeEvents() -> [KafkaEvent] {
    callbacks.takeEvents()
  }

  /// Leaves the group and releases everything. Tells the listener of the partitions that are given up.
  ///
  /// Calling it again does nothing. A consumer that is released without this call closes itself, for 2 s at most.
  /// - Parameter timeout: The longest wait for the group.
  /// - Returns: Whether the group was left in order. If not, the group notices the absence after `session.timeout.ms`.
  @discardableResult
  public func close(timeout: Duration = .seconds(10)) -> Bool {
    guard let handle else { return true }
    precondition(!handle.isInCallback, "a rebalance listener must not close its consumer")
    let leftInOrder = handle.close(timeout)
    self.handle = nil
    return leftInOrder
  }

  /// Closes the consumer as ``close(timeout:)`` does, and leaves the group also as a static member, which a close keeps in its
  /// group until its session ends. For a process that does not come back soon.
  /// - Parameter timeout: The longest wait for the group.
  /// - Returns: Whether the group was left in order. If not, the group notices the absence after `session.timeout.ms`.
  @discardableResult
  public func leave(timeout: Duration = .seconds(10)) -> Bool {
    guard let handle else { return true }
    precondition(!handle.isInCallback, "a rebalance listener must not close its consumer")
    let left = !handle.isStaticMember || handle.leave(timeout)
    return close(timeout: timeout) && left
  }

  /// Leaves the group, also as a static member, and joins it again. The group is rebalanced twice. Messages that have arrived and
  /// were not returned yet are dropped.
  /// - Parameters:
  ///   - topics: The topics to subscribe to.
  ///   - timeout: The longest wait for leaving. The listener learns of the revocation before the call returns.
  /// - Throws: A ``KafkaError`` if the subscription is refused.
  public func rejoin(_ topics: [String], timeout: Duration) throws(KafkaError) {
    let handle = try open("joining the group again")
    precondition(!handle.isInCallback, "a rebalance listener must not make its consumer leave")
    handle.leave(timeout)
    try handle.subscribe(topics)
  }

  /// Asks the coordinator for the members of the consumer's group, and their partitions.
  /// - Parameter timeout: The longest wait for the answer.
  /// - Returns: The group as its coordinator sees it now.
  /// - Throws: A ``KafkaError``; the embedded broker does not know the request.
  public func describeGroup(timeout: Duration) throws(KafkaError) -> KafkaGroup {
    try open("describing the group").describeGroup(timeout)
  }
}

extension KafkaConsumer {
  /// Copies records to another topic as plainly as a C program can: each message is queued again with the same partition
  /// number, key and value. Headers and timestamps are not copied. Benchmarks compare themselves with it.
  /// - Parameters:
  ///   - maxMessages: The largest number of messages to copy; at least 1.
  ///   - timeout: The longest wait for the first message.
  ///   - producer: The producer that queues the copies.
  ///   - topic: The topic of the copies; it needs as many partitions as the source.
  /// - Returns: The number of messages that were queued.
  /// - Throws: The ``KafkaError`` of a copy that could not be queued.
  @discardableResult
  package func forward(
    maxMessages: Int, timeout: Duration, to producer: KafkaProducer, topic: String
  ) throws(KafkaError) -> Int {
    precondition(maxMessages > 0, "a poll needs room for a message")
    return try open("polling").forward(
      max: maxMessages, timeout: timeout, to: producer.handle, topic: topic,
      queueFullTimeout: producer.queueFullTimeout)
  }
}
