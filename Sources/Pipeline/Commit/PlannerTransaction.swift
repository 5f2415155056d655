import KafkaClient

/// The commit protocol of a planner thread: one transaction holds decisions, commands, changed state, the positions and
/// the group's offsets.
///
///                    send                 commit: state, position, offsets, EndTxn
///       ┌────────┐ ────────► ┌────────┐ ──────────────────────────────────► ┌────────┐
///       │  idle  │           │  open  │ ─┐ send                             │  idle  │
///       └────────┘           └────────┘ ◄┘                                  └────────┘
///            ▲                   │ a call failed
///            │       abort       ▼
///            └────────────── ┌────────┐  abort failed, or the answer to EndTxn  ┌─────────┐
///                            │ failed │ ──────────────────────────────────────► │ unknown │
///                            └────────┘  never came                             └─────────┘
///
/// `unknown` has no way out: a new producer of the same transactional id asks the broker how it ended, and ends it.
///
/// What a process finds that takes the partition over (a restart with the same transactional id, or another one), when
/// this one stops existing:
///
/// | stopped | the broker has | who takes over |
/// | --- | --- | --- |
/// | idle | state and position of the last commit | goes on behind the position |
/// | open, before or after any `send` | records that no reader sees | a restart ends them by `initTransactions`; another worker waits until the read-committed end of `rouse.state` has reached its real end, at most the transaction time-out. The position is the old one: the same records are decided again, with the same ids |
/// | after state and position, before the offsets | the same | the same |
/// | after the offsets, before EndTxn | the same; the group's offset counts as unstable | waits for stable offsets first, then the same. An owner that lost the partition before cannot get here: the group refuses its offsets |
/// | EndTxn sent, answer not received | a transaction that is committed, or never was | finds the new position or the old one, with everything that belongs to it |
/// | after the answer | the new position | goes on behind it |
/// | during an abort | records that no reader will see | as for open |
///
/// A process that was merely stopped and wakes up (a zombie) is refused: by the group, whose generation has moved on, or
/// by the transaction coordinator, which ended its transaction and raised the epoch.
final class PlannerTransaction {
  enum State: Equatable {
    case idle
    /// Bytes sent so far.
    case open(bytes: Int)
    /// To be aborted: what memory holds is ahead of what can be committed.
    case failed
    /// Only a new producer can find out how it ended.
    case unknown
  }

  private(set) var state = State.idle
  private let producer: any ClusterProducer
  /// Names of the topics, made once: a name made anew for each record costs as much as queueing it.
  private let (decisionTopic, commandTopic, stateTopic, deadLetterTopic): (String, String, String, String)
  /// Whether a device has the same partition number in the log, in decisions and in commands, so that its records need no
  /// partitioner. False asks it for each.
  var sharesPartitions = false
  private let clock: any StageClock
  private let stop: StopSignal
  /// Without transactions, for benchmarks: nothing is atomic then.
  private let isTransactional: Bool
  /// Longest time for a call that the broker asks to repeat.
  private static let patience = Duration.seconds(120)

  init(
    producer: any ClusterProducer, topics: TopicNames, isTransactional: Bool, clock: any StageClock, stop: StopSignal
  ) {
    self.producer = producer
    (decisionTopic, commandTopic) = (topics.decisions, topics.commands)
    (stateTopic, deadLetterTopic) = (topics.state, topics.deadLetters)
    self.isTransactional = isTransactional
    self.clock = clock
    self.stop = stop
  }

  /// Fences off whoever used the transactional id before and ends what they left open.
  func begin() throws(KafkaError) {
    guard isTransactional else { return }
    try retry { () throws(KafkaError) in try producer.initTransactions(timeout: .seconds(30)) }
  }

  /// Bytes in the open transaction.
  var bytes: Int { if case .open(let bytes) = state { bytes } else { 0 } }
  var isOpen: Bool { if case .open = state { true } else { false } }

  /// Queues records, in a transaction begun for them if none is open.
  func send(_ batch: borrowing OutputBatch) throws(KafkaError) {
    guard !batch.isEmpty else { return }
    try failing { () throws(KafkaError) in
      try beginIfNeeded()
      let bytes = batch.bytes.span
      try batch.forEachDestination { destination, records throws(KafkaError) in
        let (topic, partition): (String, Int32?) =
          switch destination {
          case .decisions(let partition): (decisionTopic, sharesPartitions ? partition : nil)
          case .commands(let partition): (commandTopic, sharesPartitions ? partition : nil)
          case .state(let partition): (stateTopic, partition)
          }
        try producer.send(topic: topic, partition: partition, records: records, in: bytes)
      }
      try producer.poll(timeout: .zero)
    }
    state = .open(bytes: self.bytes + batch.bytes.count)
  }

  /// Queues a dead letter.
  func send(deadLetter message: KafkaMessage, headers: [KafkaHeader]) throws(KafkaError) {
    try failing { () throws(KafkaError) in
      try beginIfNeeded()
      try producer.send(
        topic: deadLetterTopic, partition: nil, key: message.key, value: message.value, headers: headers,
        timestampMilliseconds: nil, tag: 0)
    }
  }

  private func beginIfNeeded() throws(KafkaError) {
    precondition(state != .failed && state != .unknown, "a failed transaction is aborted before anything else")
    guard state == .idle else { return }
    if isTransactional { try producer.beginTransaction() }
    state = .open(bytes: 0)
  }

  /// Ends the transaction, with the group's offsets in it. State and positions must have been sent.
  func commit(
    _ offsets: [KafkaPosition], _ membership: () throws(KafkaError) -> any GroupMembership
  ) throws(KafkaError) {
    guard isOpen else { return }
    guard isTransactional else { return try flush() }
    try failing { () throws(KafkaError) in
      let group = try membership()
      try retry { () throws(KafkaError) in
        try producer.sendOffsetsToTransaction(offsets, group: group, timeout: .seconds(10))
      }
    }
    do throws(KafkaError) {
      try retry { () throws(KafkaError) in
        try producer.commitTransaction(timeout: stop.isAsked ? .seconds(4) : .seconds(30))
      }
    } catch {
      state = error.isAbortable ? .failed : .unknown
      throw error
    }
    state = .idle
  }

  private func flush() throws(KafkaError) {
    try failing { () throws(KafkaError) in
      guard try producer.flush(timeout: .seconds(30)) else {
        throw KafkaError(
          code: .timedOut, message: "the broker did not confirm in 30 s", operation: "flushing", isRetriable: true)
      }
      if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
    }
    state = .idle
  }

  /// Gives up what is open. Afterwards the state is `idle`, or `unknown` when that failed.
  /// - Returns: why it failed.
  func abort() -> KafkaError? {
    switch state {
    case .idle, .unknown: return nil
    case .open, .failed: break
    }
    state = .idle
    guard isTransactional else { return nil }
    do throws(KafkaError) {
      try retry { () throws(KafkaError) in
        try producer.abortTransaction(timeout: stop.isAsked ? .seconds(2) : .seconds(30))
      }
      return nil
    } catch {
      state = .unknown
      return error
    }
  }

  private func failing(_ work: () throws(KafkaError) -> Void) throws(KafkaError) {
    do throws(KafkaError) {
      try work()
    } catch {
      state = error.isFatal ? .unknown : .failed
      throw error
    }
  }

  private func retry(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
    try retrying(for: Self.patience, clock: clock, stop: stop, call)
  }
}
