import Domain
import Installation
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
/// `unknown` has no way out: only a new producer with the same transactional id can learn from the broker how the
/// transaction ended, and end it.
///
/// If this process dies, another one takes the partition over: the same process after a restart, with the same
/// transactional id, or another worker. The table says what it finds.
///
/// | the process died | the broker has | the new owner |
/// | --- | --- | --- |
/// | idle | state and position of the last commit | continues behind the position |
/// | open, before or after any `send` | records that no reader sees | a restart ends them by `initTransactions`; another worker waits until the read-committed end of `rouse.state` has reached its real end, at most for the transaction time-out. The position is the old one: the same records are decided again, with the same ids |
/// | after state and position, before the offsets | the same | the same |
/// | after the offsets, before EndTxn | the same; the group's offset counts as unstable | waits for stable offsets first, then the same. An owner that lost the partition before cannot get here: the group refuses its offsets |
/// | EndTxn sent, answer not received | a transaction that is committed, or never was | finds the new position or the old one, with everything that belongs to it |
/// | after the answer | the new position | continues behind it |
/// | during an abort | records that no reader will see | as for open |
///
/// A process that was only stopped and wakes up (a zombie) is refused: by the group, whose generation has moved on, or
/// by the transaction coordinator, which ended the transaction and raised the epoch. What it writes outside of the broker,
/// the local snapshots, nobody refuses. So it puts one in place only after a commit that followed the snapshot's end of
/// `rouse.state`: `confirm` is such a commit when there is nothing else to commit.
///
/// Call it on the worker's thread only.
final class PlannerTransaction {
  /// The state of the protocol; see the diagram above.
  enum State: Equatable {
    /// No transaction is open.
    case idle
    /// A transaction is open; `bytes` is the size of the batches sent in it so far.
    case open(bytes: Int)
    /// A call failed, so the transaction must be aborted. Planners in memory are ahead of what can be committed.
    case failed
    /// Only a new producer can find out how the transaction ended.
    case unknown
  }

  private(set) var state = State.idle
  private let producer: any ClusterProducer
  /// The names of the topics, made once: making a name for each record would cost as much as queueing the record.
  private let (decisionTopic, commandTopic, stateTopic, deadLetterTopic): (String, String, String, String)
  /// Whether a device has the same partition number in the log and in commands. Then the log's number is used; otherwise
  /// librdkafka's partitioner is called for each command. Decisions go to the partition of the log's number in any case.
  var sharesPartitions = false
  private let clock: any StageClock
  private let stop: StopSignal
  /// The longest time for which a planner repeats a call of a transaction while the broker asks it to repeat the call.
  /// - Beyond: the worker fails and starts anew from its last commit.
  private static let patience = Duration.seconds(120)

  /// Makes the transaction of a worker; call `begin` before anything else.
  ///
  /// - Parameters:
  ///   - producer: A transactional producer that is used by nothing else.
  ///   - topics: The names of the topics to write to.
  ///   - clock: Times the pauses between repeated calls.
  ///   - stop: Shortens the waits once the process is asked to end.
  init(producer: any ClusterProducer, topics: TopicNames, clock: any StageClock, stop: StopSignal) {
    self.producer = producer
    (decisionTopic, commandTopic) = (topics.decisions, topics.commands)
    (stateTopic, deadLetterTopic) = (topics.state, topics.deadLetters)
    self.clock = clock
    self.stop = stop
  }

  /// Fences earlier producers with the same transactional id and ends the transaction that they left open.
  ///
  /// - Throws: `KafkaError` if the coordinator does not answer within two minutes, or refuses.
  func begin() throws(KafkaError) {
    try retry { () throws(KafkaError) in try producer.initTransactions(timeout: .seconds(30)) }
  }

  /// The bytes of the batches that were sent in the open transaction; 0 when none is open.
  var bytes: Int { if case .open(let bytes) = state { bytes } else { 0 } }
  /// Whether a transaction is open and healthy.
  var isOpen: Bool { if case .open = state { true } else { false } }

  /// Queues the records of a batch that are ready to be sent, in a transaction that is begun for them if none is open.
  ///
  /// - Parameter batch: The records, in the order in which readers shall see them. Its open blocks are not sent.
  /// - Throws: `KafkaError`; the transaction is then `failed` or `unknown`.
  func send(_ batch: borrowing OutputBatch) throws(KafkaError) {
    guard !batch.isEmpty else { return }
    try failing { () throws(KafkaError) in
      try beginIfNeeded()
      try batch.forEachBlock { partition, count, block throws(KafkaError) in
        try producer.send(
          topic: decisionTopic, partition: partition, value: block,
          headers: [KafkaHeader(DecisionBlock.countHeader, "\(count)")])
      }
      let bytes = batch.bytes.span
      try batch.forEachDestination { destination, records throws(KafkaError) in
        let (topic, partition): (String, Int32?) =
          switch destination {
          case .commands(let partition): (commandTopic, sharesPartitions ? partition : nil)
          case .state(let partition): (stateTopic, partition)
          }
        try producer.send(topic: topic, partition: partition, records: records, in: bytes)
      }
      try producer.poll(timeout: .zero)
    }
    state = .open(bytes: self.bytes + batch.readyBytes)
  }

  /// Queues a dead letter, cut to a size that the broker is expected to take.
  ///
  /// - Parameter letter: The letter of the record that was not accepted.
  /// - Throws: `KafkaError`; the transaction is then `failed` or `unknown`.
  func send(_ letter: DeadLetter) throws(KafkaError) {
    let letter = letter.safe
    try failing { () throws(KafkaError) in
      try beginIfNeeded()
      try producer.send(letter.record(for: deadLetterTopic))
    }
  }

  private func beginIfNeeded() throws(KafkaError) {
    precondition(state != .failed && state != .unknown, "a failed transaction is aborted before anything else")
    guard state == .idle else { return }
    try producer.beginTransaction()
    state = .open(bytes: 0)
  }

  /// Commits the transaction, with the group's offsets in it. All decisions, state and positions must have been sent. Does
  /// nothing when none is open.
  ///
  /// - Parameters:
  ///   - offsets: The next offset of each log partition that the worker plans.
  ///   - membership: Returns the worker's membership in its group, by which the broker refuses a worker that was replaced.
  /// - Throws: `KafkaError`; the transaction is then `failed`, or `unknown` if its outcome is.
  func commit(
    _ offsets: [KafkaPosition], _ membership: () throws(KafkaError) -> any GroupMembership
  ) throws(KafkaError) {
    guard isOpen else { return }
    try failing { () throws(KafkaError) in
      let group = try membership()
      try retry { () throws(KafkaError) in
        try producer.sendOffsetsToTransaction(offsets, group: group, timeout: .seconds(10))
      }
    }
    do throws(KafkaError) {
      try retry { () throws(KafkaError) in
        try producer.commitTransaction(timeout: stop.isAsked ? .seconds(4) : .seconds(10))
      }
    } catch {
      state = error.isAbortable ? .failed : .unknown
      throw error
    }
    state = .idle
  }

  /// Proves that the worker still owns its partitions: commits a transaction that holds nothing but the group's offsets,
  /// which the broker refuses from a worker that was replaced. No other owner has committed before it.
  ///
  /// - Parameters:
  ///   - offsets: The next offset of each log partition that the worker plans; they are those of its last commit.
  ///   - membership: Returns the worker's membership in its group.
  /// - Throws: `KafkaError` if the broker refuses or does not answer; the transaction is then `failed` or `unknown`.
  func confirm(
    _ offsets: [KafkaPosition], _ membership: () throws(KafkaError) -> any GroupMembership
  ) throws(KafkaError) {
    try failing { () throws(KafkaError) in try beginIfNeeded() }
    try commit(offsets, membership)
  }

  /// Handles what has arrived for the producer, such as its statistics and the news that it was replaced. A worker without anything to send
  /// calls it regularly.
  ///
  /// - Throws: The fatal `KafkaError` that the producer has met; the transaction is then `unknown`.
  func serve() throws(KafkaError) {
    try failing { () throws(KafkaError) in try producer.poll(timeout: .zero) }
  }

  /// Returns the broker's or the client's refusal of a record for its size, content or time, if such a refusal made the
  /// transaction fail. The call that failed often says only that the transaction must be aborted; the reports of the
  /// records say why. Call it before `abort`.
  ///
  /// - Parameter error: The error of the call that failed.
  /// - Returns: The refusal; nil if the transaction failed for another reason.
  func refusal(behind error: KafkaError) -> KafkaError? {
    guard !error.isFatal else { return nil }
    if error.code.refusesRecord || error.code.refusesTime { return error }
    do throws(KafkaError) { try producer.poll(timeout: .zero) } catch {
      // Without reports the failure counts as one of another kind.
      return nil
    }
    return producer.takeDeliveryFailures().lazy.map(\.error).first {
      $0.code.refusesRecord || $0.code.refusesTime
    }
  }

  /// Aborts the transaction if there is one. Afterwards the state is `idle`, or `unknown` if the abort failed.
  ///
  /// - Returns: The reason why the abort failed; nil if it did not.
  func abort() -> KafkaError? {
    switch state {
    case .idle, .unknown: return nil
    case .open, .failed: break
    }
    state = .idle
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

  /// Repeats a call while the broker asks for it. A call that waits for the coordinator handles no statistics, so the producer is served before
  /// each try: otherwise the metrics would show a broker that is gone as connected.
  private func retry(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
    try retrying(for: Self.patience, clock: clock, stop: stop) { () throws(KafkaError) in
      try producer.poll(timeout: .zero)
      try call()
    }
  }
}
