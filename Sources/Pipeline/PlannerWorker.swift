import Domain
import Foundation
public import KafkaClient
public import Logging
import Planning
public import Policies

/// One planner thread: its consumer, its transactional producer and the planners of the log partitions it owns.
///
///     assigned ──► restore from rouse.state ──► plan ──► commit ──► plan …
///                                                │ failed, abortable: abort, restore all owned partitions
///                                                │ failed, fatal (fenced): give up; the supervisor starts a new worker
///     revoked  ──► commit what is open ──► let go
///     lost     ──► abort what is open ──► let go, restore the others
///
/// One transaction holds decisions, commands, changed state and the position. The group's offsets go along for lag tools
/// and so that the broker refuses a worker that is no longer a member of the group; the position that counts is the
/// record in `rouse.state`.
public final class PlannerWorker {
  private let settings: PipelineSettings
  private let initialPolicy: Policy
  private let stop: StopSignal
  private let counters: PipelineCounters
  private let logger: Logger
  private let transactionalID: String

  private var consumer: KafkaConsumer?
  private var producer: KafkaProducer?
  private var ticks: TickAppender
  private var processors: [Int32: PartitionProcessor] = [:]
  private var partitionCount: Int32 = 0
  private var batch = OutputBatch()
  private var inTransaction = false
  private var sentBytes = 0
  private var lastCommit = ContinuousClock.now
  /// A failure inside a rebalance callback, thrown after the poll.
  private var failure: PipelineError?

  /// - Parameters:
  ///   - number: of this worker in its process, from 0; part of its transactional id.
  ///   - initialPolicy: in force while the log has shown none.
  public init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger
  ) {
    self.settings = settings
    self.initialPolicy = initialPolicy
    self.stop = stop
    self.counters = counters
    var logger = logger
    logger[metadataKey: "worker"] = "\(number)"
    self.logger = logger
    transactionalID = "\(settings.group)-planner-\(settings.instance)-\(number)"
    ticks = TickAppender(settings: settings)
  }

  /// Works until asked to stop, on the calling thread.
  public func run() throws(PipelineError) {
    do throws(KafkaError) {
      try start()
    } catch { throw .kafka(error) }
    defer { end() }
    while !stop.isAsked {
      do throws(KafkaError) {
        try workOnce()
      } catch {
        try recover(from: error)
      }
      if let failure { throw failure }
    }
    do throws(KafkaError) { try commit() } catch { try recover(from: error) }
  }

  // MARK: Life

  private func start() throws(KafkaError) {
    let producer = try KafkaProducer(
      settings.client(
        [
          "transactional.id": transactionalID, "enable.idempotence": "true",
          "transaction.timeout.ms": "\(settings.planner.transactionTimeout.milliseconds)",
          "partitioner": "murmur2_random",
        ], defaults: ["linger.ms": "5", "compression.type": "lz4", "queue.buffering.max.messages": "500000"]))
    self.producer = producer
    try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
      try producer.initTransactions(timeout: .seconds(30))
    }
    partitionCount = try settings.logPartitionCount()
    let consumer = try KafkaConsumer(
      settings.client(
        [
          "group.id": "\(settings.group)-planner", "enable.auto.commit": "false", "enable.auto.offset.store": "false",
          "auto.offset.reset": "error", "isolation.level": "read_committed", "enable.partition.eof": "false",
        ],
        defaults: [
          "partition.assignment.strategy": "cooperative-sticky", "fetch.wait.max.ms": "50",
          // A consumer idles whenever its queue passes this many messages; the byte bound caps memory instead.
          "queued.min.messages": "1000000", "queued.max.messages.kbytes": "65536",
        ]), rebalanceListener: self, logSink: nil)
    self.consumer = consumer
    try consumer.subscribe([settings.topics.log])
    lastCommit = .now
  }

  private func end() {
    // Leaving the group in order makes the other members take over at once.
    consumer?.close(timeout: .seconds(5))
    consumer = nil
    if inTransaction { abort() }
    producer = nil
    processors = [:]
  }

  // MARK: Work

  private func workOnce() throws(KafkaError) {
    guard let consumer else { return }
    let poll = try consumer.poll(maxMessages: settings.planner.pollRecordsMax, timeout: .milliseconds(20))
    if failure != nil { return }
    for case .error(let error) in poll.events { try note(error) }
    var planned = 0
    for message in poll.messages {
      try plan(message)
      planned += 1
      if stop.isAsked, planned % 16 == 0 { break }
    }
    if planned < poll.messages.count { try rewind(poll.messages[planned...]) }
    counters.add(.logRecordsPlanned, planned)
    if ContinuousClock.now - lastCommit >= settings.planner.commitInterval { try commit() }
    if settings.timestamps == .arrival, poll.messages.isEmpty { try appendTicks() }
  }

  /// Errors that librdkafka deals with itself are logged; a position that the log no longer holds is not such a one.
  private func note(_ error: KafkaError) throws(KafkaError) {
    if error.code == .noOffset || error.code.rawValue == 1 || error.code.rawValue == -140 {
      failure = .unreadable(
        place: settings.topics.log,
        reason:
          "\(error.message): the log no longer holds the position of this planner, so records are lost; raise the topic's retention, and reset rouse.state to start anew"
      )
      return
    }
    logger.warning("kafka", metadata: ["error": "\(error)"])
  }

  /// Records that were read but not planned are read again by whoever owns the partition next.
  private func rewind(_ rest: ArraySlice<KafkaMessage>) throws(KafkaError) {
    var seen: Set<Int32> = []
    for message in rest where seen.insert(message.partition).inserted {
      try consumer?.seek(message.topicPartition, to: .at(message.offset))
    }
  }

  private func plan(_ message: KafkaMessage) throws(KafkaError) {
    guard let processor = processors[message.partition] else { return }
    let (skipped, registered) = (processor.recordsSkipped, processor.registrations)
    let timestamp = Timestamp(milliseconds: message.timestampMilliseconds ?? 0).microseconds
    do throws(BinaryError) {
      try processor.begin(message.value ?? [], offset: message.offset, timestamp: timestamp)
    } catch {
      if case .newerVersion = error {
        failure = .unreadable(place: "\(message.topicPartition)@\(message.offset)", reason: error.description)
        return
      }
      logger.error(
        "a log record is unreadable and became a dead letter",
        metadata: ["place": "\(message.topicPartition)@\(message.offset)", "error": "\(error)"])
      try send(deadLetter: message, reason: "UNREADABLE_LOG_RECORD", text: error.description)
    }
    ticks.consumed(message.partition)
    var done = false
    while !done {
      done = processor.step(into: &batch, decisionsMax: settings.planner.stepDecisionsMax)
      try sendBatch()
      if sentBytes >= settings.planner.transactionBytesMax { try commit() }
    }
    if processor.recordsSkipped > skipped { counters.add(.logRecordsSkipped) }
    if processor.registrations > registered { counters.add(.registrationsPlanned) }
  }

  private func send(deadLetter message: KafkaMessage, reason: String, text: String) throws(KafkaError) {
    try beginIfNeeded()
    try producer?.send(
      topic: settings.topics.deadLetters, key: message.key, value: message.value,
      headers: DeadLetter.headers(for: message, reason: reason, message: text))
    counters.add(.deadLetters)
  }

  private func beginIfNeeded() throws(KafkaError) {
    guard !inTransaction else { return }
    try producer?.beginTransaction()
    inTransaction = true
  }

  private func sendBatch() throws(KafkaError) {
    guard !batch.isEmpty, let producer else { return }
    try beginIfNeeded()
    try send(batch.records, in: batch.bytes, producer)
    sentBytes += batch.bytes.count
    counters.add(.decisions, batch.decisions)
    counters.add(.commands, batch.commands)
    counters.add(.stateRecords, batch.stateRecords)
    batch.removeAll()
    try producer.poll()
  }

  private func send(
    _ records: [OutputBatch.Record], in bytes: [UInt8], _ producer: KafkaProducer
  ) throws(KafkaError) {
    for record in records {
      let key = Array(bytes[record.key])
      let (topic, partition): (String, Int32?) =
        switch record.destination {
        case .decisions: (settings.topics.decisions, nil)
        case .commands: (settings.topics.commands, nil)
        case .deadLetters: (settings.topics.deadLetters, nil)
        case .state(let partition): (settings.topics.state, partition)
        }
      if let value = record.value {
        try producer.send(topic: topic, partition: partition, key: key, value: bytes.span.extracting(value))
      } else {
        try producer.send(topic: topic, partition: partition, key: key, value: nil)
      }
    }
  }

  /// Writes the state and the positions, then ends the transaction.
  private func commit() throws(KafkaError) {
    lastCommit = .now
    for partition in processors.keys.sorted() {
      processors[partition]?.takeState(into: &batch)
      try sendBatch()
    }
    guard inTransaction, let producer, let consumer else { return }
    let offsets = processors.sorted { $0.key < $1.key }.map { partition, processor in
      KafkaPosition(
        KafkaTopicPartition(topic: settings.topics.log, partition: partition), offset: processor.position.nextOffset)
    }
    let group = try consumer.groupMetadata()
    try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
      try producer.sendOffsetsToTransaction(offsets, group: group, timeout: .seconds(10))
    }
    try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
      try producer.commitTransaction(timeout: .seconds(30))
    }
    inTransaction = false
    sentBytes = 0
    counters.add(.transactionsCommitted)
  }

  private func abort() {
    inTransaction = false
    sentBytes = 0
    batch.removeAll()
    counters.add(.transactionsAborted)
    guard let producer else { return }
    do throws(KafkaError) {
      try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
        try producer.abortTransaction(timeout: .seconds(30))
      }
    } catch {
      logger.warning("aborting failed; the broker ends the transaction", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Failures

  /// What was planned since the last commit is void: memory is ahead of what is committed, so every owned partition is
  /// restored.
  private func recover(from error: KafkaError) throws(PipelineError) {
    guard error.isAbortable || (error.isRetriable && !error.isFatal) else { throw .kafka(error) }
    logger.warning("transaction aborted, restoring", metadata: ["error": "\(error)"])
    abort()
    guard !stop.isAsked else { return }
    for partition in processors.keys.sorted() {
      let start = try restore(partition)
      do throws(KafkaError) {
        let topic = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
        try consumer?.seek(topic, to: start)
      } catch { throw .kafka(error) }
    }
  }

  /// Puts the planner of a partition together from its state.
  /// - Returns: where to read on.
  private func restore(_ partition: Int32) throws(PipelineError) -> KafkaOffset {
    var restore = PlannerRestore(partition: partition, partitionCount: partitionCount, bounds: settings.bounds)
    let began = ContinuousClock.now
    do throws(KafkaError) {
      try StateReader(settings: settings, timeout: settings.planner.transactionTimeout * 4)
        .read(partition: partition, into: &restore, stop: stop)
    } catch { throw .kafka(error) }
    let records = restore.count
    do throws(BinaryError) {
      let processor = try PartitionProcessor(
        partition: partition, partitionCount: partitionCount, restoring: restore, initialPolicy: initialPolicy)
      processors[partition] = processor
      logger.info(
        "partition restored",
        metadata: [
          "partition": "\(partition)", "records": "\(records)", "devices": "\(processor.planner.deviceCount)",
          "nextOffset": "\(processor.position.nextOffset)",
          "milliseconds": "\((ContinuousClock.now - began).milliseconds)",
        ])
      return records == 0 ? .beginning : .at(processor.position.nextOffset)
    } catch {
      throw .unreadable(place: "\(settings.topics.state)[\(partition)]", reason: error.description)
    }
  }

  // MARK: Ticks

  private func appendTicks() throws(KafkaError) {
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    for partition in processors.keys.sorted() {
      guard let due = processors[partition]?.planner.nextTimer, due <= now else { continue }
      if try ticks.append(partition) { counters.add(.ticksAppended) }
    }
  }
}

extension PlannerWorker: KafkaRebalanceListener {
  public func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    var starts: [KafkaTopicPartition: KafkaOffset] = [:]
    for partition in partitions.sorted() where failure == nil {
      do throws(PipelineError) {
        starts[partition] = try restore(partition.partition)
      } catch {
        failure = error
      }
    }
    return starts
  }

  public func revoked(_ partitions: [KafkaTopicPartition]) {
    do throws(KafkaError) {
      try commit()
    } catch {
      logger.warning(
        "could not commit what was revoked; the next owner decides it again", metadata: ["error": "\(error)"])
      voidAll(but: partitions)
    }
    for partition in partitions { processors[partition.partition] = nil }
    logger.info("partitions revoked", metadata: ["partitions": "\(partitions)"])
  }

  public func lost(_ partitions: [KafkaTopicPartition]) {
    logger.warning("partitions lost", metadata: ["partitions": "\(partitions)"])
    voidAll(but: partitions)
    for partition in partitions { processors[partition.partition] = nil }
  }

  /// Aborts what is open. Partitions that stay must be restored, which starting the worker anew does.
  private func voidAll(but gone: [KafkaTopicPartition]) {
    if inTransaction { abort() }
    let names = Set(gone.map(\.partition))
    if !processors.keys.allSatisfy(names.contains) {
      failure = .kafka(
        KafkaError(
          code: .rebalanceInProgress, message: "what was planned since the last commit is void",
          operation: "handing over partitions", isRetriable: true))
    }
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
