import KafkaClient

@testable import Installation
@testable import Pipeline

/// A producer that behaves as one of librdkafka 2.0.2, idempotent or transactional.
///
///     new ── init ──► ready ── begin ──► in transaction ── commit, abort ──► ready
///                                            │ a message or offsets failed
///                                            └──► to be aborted ── abort ──► ready
///     any ── fenced ──► fatal
final class SimulatedProducer: ClusterProducer {
  struct Message {
    var topic: String
    var partition: Int32
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [KafkaHeader]
    var timestampMilliseconds: Int64?
    var tag: UInt64
    var queuedAt: Int64
  }

  private enum Phase: Equatable { case new, ready, open, mustAbort, fatal(KafkaErrorCode) }

  private unowned let process: SimulatedProcess
  private let broker: SimulatedBroker
  private let transactionalID: String?
  private let transactionTimeout: Int64
  private let linger: Int64
  private let queueMax: Int
  /// Whether messages expire (`message.timeout.ms`).
  private let messagesExpire: Bool
  private var phase = Phase.new
  private var session: SimulatedTransactions.Session?
  private let producer: Int64
  private var queue: [Message] = []
  private var failures: [KafkaDeliveryFailure] = []
  private(set) var counts = KafkaDeliveryCounts(sent: 0, delivered: 0, failed: 0, purged: 0)
  /// A commit or an abort that the broker has done while its answer was lost. Only the same call may follow.
  private var unheard: PortCall?

  init(_ configuration: KafkaConfiguration, process: SimulatedProcess) {
    self.process = process
    broker = process.broker
    transactionalID = configuration["transactional.id"]
    transactionTimeout = Int64(configuration.number("transaction.timeout.ms", 60_000)) * 1000
    linger = Int64(configuration.number("linger.ms", 5)) * 1000
    queueMax = configuration.number("queue.buffering.max.messages", 100_000)
    messagesExpire = configuration.number("message.timeout.ms", 300_000) != 0
    producer = broker.newProducer()
  }

  var isIdle: Bool { queue.isEmpty }
  var isTransactional: Bool { transactionalID != nil }

  // MARK: Sending

  func send(_ record: KafkaRecord) throws(KafkaError) {
    try process.perform(.send) { () throws(KafkaError) in
      try requireHealth("sending")
      if isTransactional, phase != .open {
        throw KafkaError(code: .wrongState, message: "no transaction", operation: "sending", isRetriable: false)
      }
      guard queue.count < queueMax else {
        throw KafkaError(code: .queueFull, message: "the queue is full", operation: "sending", isRetriable: true)
      }
      let count = broker.topics[record.topic]?.logs.count ?? 0
      guard count > 0 else {
        throw KafkaError(
          code: .unknownTopicOrPartition, message: "no such topic", operation: "sending to \(record.topic)")
      }
      let hash = record.key.map { Int32(bitPattern: DevicePartitioner.murmur2($0) & 0x7fff_ffff) } ?? 0
      queue.append(
        Message(
          topic: record.topic, partition: record.partition ?? hash % Int32(count), key: record.key,
          value: record.value, headers: record.headers,
          timestampMilliseconds: record.timestampMilliseconds ?? broker.time.brokerMilliseconds, tag: record.tag,
          queuedAt: broker.time.now))
      counts.sent += 1
    }
  }

  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    try send(KafkaRecord(topic: topic, partition: partition, key: key.bytes, value: value.bytes))
  }

  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    try send(KafkaRecord(topic: topic, partition: partition, key: key.bytes, value: nil))
  }

  /// Sends messages that have waited for `linger.ms`, as the client's own threads do.
  func background() {
    guard let first = queue.first, broker.time.now - first.queuedAt >= linger else { return }
    deliver(queue.count)
  }

  /// Sends the first messages of the queue.
  private func deliver(_ count: Int) {
    guard count > 0 else { return }
    if transactionalID == nil {
      for message in queue.prefix(count) {
        broker.append(
          message.topic, message.partition, key: message.key, value: message.value, headers: message.headers,
          timestampMilliseconds: message.timestampMilliseconds, producer: producer)
      }
    } else {
      guard phase == .open else { return }
      guard let session, let state = broker.current(session) else {
        phase = .fatal(.fenced)
        return
      }
      for message in queue.prefix(count) {
        if let code = broker.refusal(message) {
          refuse(message, code)
        } else {
          broker.append(message, message.partition, in: state)
        }
      }
    }
    counts.delivered += UInt64(min(count, queue.count))
    queue.removeFirst(min(count, queue.count))
  }

  /// Reports a message that the broker refused. The transaction must be aborted; the calls that follow do not say why.
  private func refuse(_ message: Message, _ code: KafkaErrorCode) {
    counts.failed += 1
    failures.append(
      KafkaDeliveryFailure(
        partition: KafkaTopicPartition(topic: message.topic, partition: message.partition), tag: message.tag,
        error: KafkaError(code: code, message: "refused", operation: "delivering a message", isRetriable: false)))
    phase = .mustAbort
  }

  /// Sends some of the queued messages, more of some partitions than of others.
  func sendSome() {
    guard let fate = process.fate, !queue.isEmpty else { return }
    let lucky = fate.below(4)
    let cut = fate.below(queue.count + 1)
    let first = queue.prefix(cut).filter { Int($0.partition) % 4 != lucky }
    let kept = queue.prefix(cut).filter { Int($0.partition) % 4 == lucky } + queue.dropFirst(cut)
    queue = first + kept
    deliver(first.count)
  }

  /// Makes some of the queued messages expire, if the configuration allows it.
  func expireSome() {
    guard messagesExpire, let fate = process.fate, !queue.isEmpty else { return }
    let count = fate.below(queue.count) + 1
    for message in queue.prefix(count) {
      counts.failed += 1
      failures.append(
        KafkaDeliveryFailure(
          partition: KafkaTopicPartition(topic: message.topic, partition: message.partition), tag: message.tag,
          error: KafkaError(code: .messageTimedOut, message: "given up", operation: "delivering a message")))
    }
    queue.removeFirst(count)
    if phase == .open { phase = .mustAbort }
  }

  func inFlight(tag: UInt64) -> UInt64 { UInt64(queue.count { $0.tag & 0xff == tag & 0xff }) }

  func poll(timeout: Duration) throws(KafkaError) {
    try process.perform(.producerPoll) { () throws(KafkaError) in
      background()
      broker.pass(timeout.microseconds)
      if case .fatal(let code) = phase { throw fenced(code, "producing") }
    }
  }

  func flush(timeout: Duration) throws(KafkaError) -> Bool {
    do throws(KafkaError) {
      return try process.perform(.flush) { () throws(KafkaError) in
        try requireHealth("flushing")
        deliver(queue.count)
        return queue.isEmpty
      }
    } catch {
      guard error.isRetriable, !error.isFatal else { throw error }
      broker.pass(timeout.microseconds)
      return false
    }
  }

  func takeDeliveryFailures() -> [KafkaDeliveryFailure] {
    defer { failures = [] }
    return failures
  }

  // MARK: Failing

  func fail(fatally operation: String) { phase = .fatal(.invalidProducerEpoch) }
  func requireAbort() { if phase == .open { phase = .mustAbort } }

  private func requireHealth(_ operation: String) throws(KafkaError) {
    switch phase {
    case .fatal(let code): throw fenced(code, operation)
    case .mustAbort where operation != "flushing":
      throw KafkaError(
        code: .wrongState, message: "the transaction must be aborted", operation: operation, isRetriable: false,
        isAbortable: true)
    default: break
    }
  }

  private func fenced(_ code: KafkaErrorCode, _ operation: String) -> KafkaError {
    KafkaError(code: code, message: "fenced", operation: operation, isFatal: true)
  }
}

// MARK: Transactions

extension SimulatedProducer {
  func initTransactions(timeout: Duration) throws(KafkaError) {
    try process.perform(.initTransactions) { () throws(KafkaError) in
      if case .fatal(let code) = phase { throw fenced(code, "initialising transactions") }
      try process.requireCoordinator("initialising transactions")
      guard let transactionalID else {
        throw KafkaError(
          code: .wrongState, message: "no transactional.id", operation: "initialising transactions", isRetriable: false)
      }
      session = broker.initialise(transactionalID, timeout: transactionTimeout)
      phase = .ready
    }
  }

  func beginTransaction() throws(KafkaError) {
    try process.perform(.begin) { () throws(KafkaError) in
      try requireHealth("beginning a transaction")
      guard phase == .ready, unheard == nil else {
        throw KafkaError(
          code: .wrongState, message: "not ready", operation: "beginning a transaction", isRetriable: false)
      }
      phase = .open
    }
  }

  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {
    guard let membership = group as? SimulatedMembership else {
      preconditionFailure("a producer takes the membership of a consumer of its own cluster")
    }
    try process.perform(.sendOffsets) { () throws(KafkaError) in
      let operation = "sending offsets to the transaction"
      let state = try state(operation)
      try process.requireCoordinator(operation)
      if let code = broker.addOffsets(positions, membership, in: state) {
        phase = .mustAbort
        throw KafkaError(
          code: code, message: "no member of this generation", operation: operation, isRetriable: false,
          isAbortable: true)
      }
    }
  }

  func commitTransaction(timeout: Duration) throws(KafkaError) {
    try process.perform(.commit) { () throws(KafkaError) in
      if try isDone(.commit) { return }
      let state = try state("committing the transaction")
      deliver(queue.count)
      _ = try self.state("committing the transaction")
      try process.requireCoordinator("committing the transaction")
      broker.end(state, commit: true)
      unheard = .commit
      phase = .ready
    }
    unheard = nil
  }

  func abortTransaction(timeout: Duration) throws(KafkaError) {
    try process.perform(.abort) { () throws(KafkaError) in
      if case .fatal(let code) = phase { throw fenced(code, "aborting the transaction") }
      if try isDone(.abort) { return }
      guard phase == .open || phase == .mustAbort else {
        throw KafkaError(
          code: .wrongState, message: "no transaction", operation: "aborting the transaction", isRetriable: false)
      }
      counts.purged += UInt64(queue.count)
      queue = []
      guard let session, let state = broker.current(session) else {
        phase = .fatal(.producerFenced)
        throw fenced(.producerFenced, "aborting the transaction")
      }
      try process.requireCoordinator("aborting the transaction")
      broker.end(state, commit: false)
      unheard = .abort
      phase = .ready
    }
    unheard = nil
  }

  /// Whether the broker has done this call already.
  ///
  /// - Throws: `KafkaError` if another call has to be repeated first.
  private func isDone(_ call: PortCall) throws(KafkaError) -> Bool {
    guard let unheard else { return false }
    if unheard == call { return true }
    throw KafkaError(
      code: .conflict, message: "\(unheard.rawValue) is not over", operation: "\(call.rawValue)", isRetriable: false)
  }

  private func state(_ operation: String) throws(KafkaError) -> SimulatedTransactions {
    try requireHealth(operation)
    guard phase == .open, let session else {
      throw KafkaError(code: .wrongState, message: "no transaction", operation: operation, isRetriable: false)
    }
    guard let state = broker.current(session) else {
      phase = .fatal(.invalidProducerEpoch)
      throw fenced(.invalidProducerEpoch, operation)
    }
    return state
  }
}

extension Span<UInt8> {
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in indices { bytes.append(self[index]) }
    return bytes
  }
}
