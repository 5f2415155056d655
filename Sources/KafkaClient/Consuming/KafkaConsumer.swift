/// A consumer, of a group or of partitions given by hand. Every method is to be called on one thread, the one that
/// polls.
public final class KafkaConsumer {
  private var handle: ConsumerHandle?
  /// Events taken along by ``poll(maxMessages:timeout:)`` or waiting for ``takeEvents()``.
  private let callbacks: ClientCallbacks

  /// Room for a common batch, so that it does not grow step by step.
  private static let messagesReserved = 512

  /// How long local calls that need librdkafka's own threads may take.
  private static let localTimeout = Duration.seconds(5)

  /// Makes a consumer; it connects in the background.
  /// - Parameters:
  ///   - configuration: librdkafka's properties. `group.id` is needed, also without a subscription.
  ///   - rebalanceListener: is told of the partitions that the group gives and takes.
  ///   - logSink: takes librdkafka's log; without it nothing is logged.
  public init(
    _ configuration: KafkaConfiguration, rebalanceListener: (any KafkaRebalanceListener)? = nil,
    logSink: KafkaLogSink? = nil
  ) throws(KafkaError) {
    callbacks = ClientCallbacks(logSink: logSink, rebalance: RebalanceState(listener: rebalanceListener))
    handle = try ConsumerHandle(configuration, callbacks: callbacks)
  }

  private func open(_ operation: @autoclosure () -> String) throws(KafkaError) -> ConsumerHandle {
    guard let handle else {
      throw KafkaError(
        code: .closed, message: "the consumer has been closed", operation: operation(), isRetriable: false)
    }
    return handle
  }

  /// Waits for a message for at most this time, then takes those that are already here, at most `maxMessages`.
  ///
  /// Runs the rebalance listener. To stay in its group a consumer polls at least every `max.poll.interval.ms`, also
  /// when its partitions are paused. Throws fatal errors only, after what was read before them; others are
  /// events of the batch.
  public func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch {
    precondition(maxMessages > 0, "a poll needs room for a message")
    var messages: [KafkaMessage] = []
    _ = try open("polling").poll(max: maxMessages, timeout: timeout) { message in
      if messages.isEmpty { messages.reserveCapacity(min(maxMessages, Self.messagesReserved)) }
      messages.append(message.copy())
    }
    return KafkaBatch(messages: messages, events: callbacks.takeEvents())
  }

  /// Like ``poll(maxMessages:timeout:)`` without copying: lends each message to `body`, one after the other. How many
  /// there were; events wait for ``takeEvents()``.
  ///
  /// When `body` throws, the loop ends. The message it was given counts as read, those behind it come with the next
  /// poll: to read it again, seek.
  @discardableResult
  public func forEachMessage(
    maxMessages: Int, timeout: Duration, _ body: (borrowing KafkaMessageView) throws(KafkaError) -> Void
  ) throws(KafkaError) -> Int {
    precondition(maxMessages > 0, "a poll needs room for a message")
    return try open("polling").poll(max: maxMessages, timeout: timeout, body)
  }

  /// Like ``forEachMessage(maxMessages:timeout:_:)``, with each message queued again for the same partition number of
  /// `topic`, key and value as they are: a plain copy of records as a C program makes it, the yardstick of benchmarks.
  /// Headers and time-stamps are left behind.
  @discardableResult
  public func forward(
    maxMessages: Int, timeout: Duration, to producer: KafkaProducer, topic: String
  ) throws(KafkaError) -> Int {
    precondition(maxMessages > 0, "a poll needs room for a message")
    return try open("polling").forward(
      max: maxMessages, timeout: timeout, to: producer.handle, topic: topic,
      queueFullTimeout: producer.queueFullTimeout)
  }

  /// What happened besides messages since the last call; the newest 256 at most.
  public func takeEvents() -> [KafkaEvent] {
    callbacks.takeEvents()
  }

  /// Leaves the group and lets go of everything, for at most this time. Whether the group was left in order; if not,
  /// it finds out by `session.timeout.ms`. The listener is told of the partitions that are given up. Calling it again
  /// does nothing. A consumer that is let go without it closes itself and takes 2 s at most.
  @discardableResult
  public func close(timeout: Duration = .seconds(10)) -> Bool {
    guard let handle else { return true }
    precondition(!handle.isInCallback, "a rebalance listener must not close its consumer")
    let leftInOrder = handle.close(timeout)
    self.handle = nil
    return leftInOrder
  }
}

/// Which partitions to read, and from where.
extension KafkaConsumer {
  /// Joins the group for these topics; a name that begins with `^` is a regular expression.
  public func subscribe(_ topics: [String]) throws(KafkaError) {
    try open("subscribing").subscribe(topics)
  }

  /// Ends the subscription; the partitions are revoked in a poll.
  public func unsubscribe() throws(KafkaError) {
    try open("unsubscribing").unsubscribe()
  }

  /// Reads exactly these partitions, without the group.
  public func assign(_ partitions: KeyValuePairs<KafkaTopicPartition, KafkaOffset>) throws(KafkaError) {
    try open("assigning").assign(partitions.map { ($0.key, $0.value) })
  }

  /// Reads exactly these partitions, without the group.
  public func assign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    try open("assigning").assign(partitions.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  /// Reads these partitions too, without the group.
  public func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    try open("assigning").incrementalAssign(partitions.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }

  /// Reads these partitions no more, without the group.
  public func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("unassigning").incrementalUnassign(partitions)
  }

  /// The partitions that are read now, by the group or by hand.
  public func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
    try open("asking for the assignment").assignment()
  }

  /// Reads these partitions not for now. They stay assigned; keep on polling.
  public func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("pausing").pause(partitions)
  }

  /// Reads paused partitions on, from where they were.
  public func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try open("resuming").resume(partitions)
  }

  /// Reads an assigned partition on from there.
  public func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
    try open("seeking").seek(partition, offset, Self.localTimeout)
  }
}

/// Where the consumer and its group are.
extension KafkaConsumer {
  /// The offset of the next message to be polled of each partition; those not read from yet are left out.
  public func positions(_ partitions: [KafkaTopicPartition]) throws(KafkaError) -> [KafkaPosition] {
    try open("asking for positions").positions(partitions)
  }

  /// The group's committed offsets; partitions without one are left out.
  public func committed(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaPosition] {
    try open("asking for committed offsets").committed(partitions, timeout)
  }

  /// Commits positions, or what is stored when `nil`, and waits for the answer for at most this time.
  public func commit(_ positions: [KafkaPosition]? = nil, timeout: Duration) throws(KafkaError) {
    try open("committing").commit(positions, timeout)
  }

  /// Commits positions, or what is stored when `nil`, without waiting; a failure becomes an event.
  public func commitInBackground(_ positions: [KafkaPosition]? = nil) throws(KafkaError) {
    try open("committing").commitInBackground(positions)
  }

  /// The ends of a partition, as the broker has them.
  public func watermarks(
    of partition: KafkaTopicPartition, timeout: Duration
  ) throws(KafkaError) -> KafkaWatermarks {
    try open("asking for watermarks").watermarks(partition, timeout)
  }

  /// The ends of an assigned partition as of its last fetch, without asking; `nil` before the first. The low end is
  /// only kept up to date with `statistics.interval.ms`.
  public func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks? {
    try open("asking for watermarks").cachedWatermarks(partition)
  }

  /// The consumer's place in its group now, for ``KafkaProducer/sendOffsetsToTransaction(_:group:timeout:)``.
  public func groupMetadata() throws(KafkaError) -> KafkaGroupMetadata {
    KafkaGroupMetadata(handle: try open("asking for the consumer group").groupMetadata())
  }
}

/// A consumer's place in its group: which group, generation and member.
public final class KafkaGroupMetadata {
  let handle: GroupMetadataHandle

  init(handle: GroupMetadataHandle) {
    self.handle = handle
  }
}
