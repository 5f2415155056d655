import KafkaClient

@testable import Pipeline

/// The broker side of a simulated cluster, after Apache Kafka 4: topics, transactions and groups.
final class SimulatedBroker {
  let time: SimulatedTime
  private(set) var topics: [String: SimulatedTopic] = [:]
  private(set) var groups: [String: SimulatedGroup] = [:]
  private var transactions: [String: SimulatedTransactions] = [:]
  private var producersMade: Int64 = 0
  /// The time of the last turn of coordinators and background threads, in µs.
  private var lastTurn: Int64 = 0
  /// The time until which coordinators answer `NOT_COORDINATOR`, in µs.
  var coordinatorsMoveUntil: Int64 = 0
  /// Processes whose background threads take part in groups.
  private(set) var processes: [SimulatedProcess] = []
  /// Deliberate defects, for tests of the checkers.
  var defects: Set<Defect> = []
  /// Returns the code with which the broker refuses a record; nil if it takes it.
  var refusal: (SimulatedProducer.Message) -> KafkaErrorCode? = { _ in nil }
  var tombstonesKept: Int64 = 24 * 3_600_000_000

  /// A promise that a broken broker breaks.
  enum Defect {
    /// Aborted transactions stay visible.
    case showsAborted
    /// Readers of committed records see open transactions.
    case showsOpen
    /// Older producers of a transactional id are not fenced.
    case neverFences
    /// Offsets of members that left the group are accepted.
    case takesAnyGeneration
    /// The client of an expelled member sends offsets without a member id, which brokers do not check, instead of refusing.
    case namesNobody
  }

  init(time: SimulatedTime = SimulatedTime()) { self.time = time }

  func createTopic(_ name: String, partitions: Int, appendTime: Bool = false) {
    topics[name] = SimulatedTopic(name: name, partitions: partitions, appendTime: appendTime)
  }

  func log(_ partition: KafkaTopicPartition) -> SimulatedLog? {
    guard let topic = topics[partition.topic], topic.logs.indices.contains(Int(partition.partition)) else {
      return nil
    }
    return topic.logs[Int(partition.partition)]
  }

  func group(_ name: String) -> SimulatedGroup {
    if let group = groups[name] { return group }
    let group = SimulatedGroup(name: name, time: time)
    groups[name] = group
    return group
  }

  func join(_ process: SimulatedProcess) { processes.append(process) }

  /// Lets time pass: sessions and transactions time out, background threads work.
  func pass(_ microseconds: Int64) {
    time.pass(microseconds)
    guard time.now - lastTurn >= 1000 else { return }
    lastTurn = time.now
    for id in transactions.keys.sorted() {
      guard let state = transactions[id], let since = state.openSince, time.now - since > state.timeout else {
        continue
      }
      end(state, commit: false)
      state.timeOuts += 1
      state.epoch += 1
    }
    processes.removeAll { $0.isGone }
    for process in processes { process.background() }
    for name in groups.keys.sorted() { groups[name]?.coordinate { self.topics[$0]?.logs.count ?? 0 } }
  }

  // MARK: Records

  /// Appends a record outside of any transaction, unless `standing` says otherwise.
  @discardableResult
  func append(
    _ topic: String, _ partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [],
    timestampMilliseconds: Int64? = nil, producer: Int64 = -1, standing: SimulatedLog.Record.Standing = .committed
  ) -> Int64 {
    guard let found = topics[topic], found.logs.indices.contains(Int(partition)) else { return -1 }
    let now = time.brokerMilliseconds
    return found.logs[Int(partition)].append(
      SimulatedLog.Record(
        offset: 0, timestampMilliseconds: found.appendTime ? now : timestampMilliseconds ?? now, key: key,
        value: value, headers: headers, producer: producer, standing: standing))
  }

  /// Returns all records of a partition that a reader of committed records gets.
  func committed(_ topic: String, _ partition: Int) -> [KafkaMessage] {
    guard let log = topics[topic]?.logs[partition] else { return [] }
    return log.records.filter { isVisible($0, committedOnly: true) && $0.offset < log.stableEnd }
      .map { $0.message(topic, Int32(partition)) }
  }

  func isVisible(_ record: SimulatedLog.Record, committedOnly: Bool) -> Bool {
    switch record.standing {
    case .marker: false
    case .committed: true
    case .open: !committedOnly || defects.contains(.showsOpen)
    case .aborted: !committedOnly || defects.contains(.showsAborted)
    }
  }

  func readableEnd(_ log: SimulatedLog, committedOnly: Bool) -> Int64 {
    committedOnly && !defects.contains(.showsOpen) ? log.stableEnd : log.end
  }

  // MARK: Transactions

  /// Returns a new producer id.
  func newProducer() -> Int64 {
    producersMade += 1
    return producersMade
  }

  /// Fences off earlier producers of a transactional id and aborts their open transaction.
  func initialise(_ id: String, timeout: Int64) -> SimulatedTransactions.Session {
    let state: SimulatedTransactions
    if let known = transactions[id] {
      state = known
      end(state, commit: false)
      state.epoch += 1
    } else {
      state = SimulatedTransactions(id: id, producer: newProducer())
      transactions[id] = state
    }
    state.timeout = timeout
    return SimulatedTransactions.Session(id: id, producer: state.producer, epoch: state.epoch)
  }

  /// Returns the transactions of a session; nil if the session was fenced or its transaction timed out.
  func current(_ session: SimulatedTransactions.Session) -> SimulatedTransactions? {
    guard let state = transactions[session.id] else { return nil }
    return state.epoch == session.epoch || defects.contains(.neverFences) ? state : nil
  }

  func touch(_ state: SimulatedTransactions) {
    if state.openSince == nil { state.openSince = time.now }
  }

  func append(
    _ message: SimulatedProducer.Message, _ partition: Int32, in state: SimulatedTransactions
  ) {
    touch(state)
    let place = KafkaTopicPartition(topic: message.topic, partition: partition)
    if !state.partitions.contains(place) { state.partitions.append(place) }
    append(
      message.topic, partition, key: message.key, value: message.value, headers: message.headers,
      timestampMilliseconds: message.timestampMilliseconds, producer: state.producer, standing: .open)
  }

  /// Makes offsets part of a transaction.
  ///
  /// - Returns: The reason why the group refuses them; nil if it does not.
  func addOffsets(
    _ positions: [KafkaPosition], _ membership: SimulatedMembership, in state: SimulatedTransactions
  ) -> KafkaErrorCode? {
    let group = group(membership.group)
    // As in Kafka, offsets without a member id and a generation are not checked.
    let isAnonymous = membership.member.isEmpty && membership.generation < 0
    if !isAnonymous, !defects.contains(.takesAnyGeneration), let refusal = group.refusal(of: membership) {
      return refusal
    }
    touch(state)
    for position in positions {
      group.pending[position.partition, default: [:]][state.producer] = position.offset
      if !state.groups.contains(membership.group) { state.groups.append(membership.group) }
    }
    return nil
  }

  /// Ends a transaction and writes its markers.
  func end(_ state: SimulatedTransactions, commit: Bool) {
    guard state.openSince != nil else { return }
    for place in state.partitions {
      log(place)?.end(
        producer: state.producer, commit ? .committed : .aborted, timestampMilliseconds: time.brokerMilliseconds)
    }
    for name in state.groups { groups[name]?.end(producer: state.producer, commit: commit) }
    state.openSince = nil
    state.partitions = []
    state.groups = []
  }

  var openTransactions: Int { transactions.values.count { $0.openSince != nil } }
  var timedOutTransactions: Int { transactions.values.reduce(0) { $0 + $1.timeOuts } }
}

extension SimulatedLog.Record {
  func message(_ topic: String, _ partition: Int32) -> KafkaMessage {
    KafkaMessage(
      topic: topic, partition: partition, offset: offset, timestampMilliseconds: timestampMilliseconds, key: key,
      value: value, headers: headers)
  }
}
