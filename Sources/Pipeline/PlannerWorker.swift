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
  /// Partitions that the group gave to this worker.
  private var owned: Set<Int32> = []
  /// Planners of owned partitions. Emptied by every abort: memory is then ahead of what is committed, and nothing of it
  /// may be committed later.
  private var processors: [Int32: PartitionProcessor] = [:]
  /// Partitions assigned in the poll at hand.
  private var justAssigned: Set<Int32> = []
  private var partitionCount: Int32 = 0
  private var batch = OutputBatch()
  private var inTransaction = false
  private var sentBytes = 0
  private var lastCommit = ContinuousClock.now
  private var skipNoted = false
  private var refusedPolicy: PolicyError?
  /// How many events with too many interest keys were told of last, by partition.
  private var keysLeftOut: [Int32: Int] = [:]
  private var lastTimerCheck = ContinuousClock.now
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
          "partitioner": "murmur2_random", "message.max.bytes": "\(TopicPlan.stateRecordBytesMax)",
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
    abort()
    producer = nil
    owned = []
  }

  // MARK: Work

  private func workOnce() throws(KafkaError) {
    guard let consumer else { return }
    let poll = try consumer.poll(maxMessages: settings.planner.pollRecordsMax, timeout: .milliseconds(20))
    if failure != nil { return }
    for case .error(let error) in poll.events { try note(error) }
    try rereadJustAssigned()
    var planned = 0
    for message in poll.messages where !justAssigned.contains(message.partition) {
      try plan(message)
      // What is read and not planned is read again by whoever owns the partition next: the position is in the state.
      if failure != nil || (stop.isAsked && planned % 16 == 0) { break }
      planned += 1
    }
    justAssigned = []
    counters.add(.logRecordsPlanned, planned)
    if failure != nil { return }
    if ContinuousClock.now - lastCommit >= settings.planner.commitInterval { try commit() }
    if settings.timestamps == .arrival, poll.messages.isEmpty || ContinuousClock.now - lastTimerCheck > .seconds(1) {
      lastTimerCheck = .now
      try appendTicks()
    }
  }

  /// A partition that came in this poll may have come back: what was read of it before must not be planned after the
  /// restored position.
  private func rereadJustAssigned() throws(KafkaError) {
    for partition in justAssigned.sorted() {
      guard let processor = processors[partition] else { continue }
      let topic = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
      try consumer?.seek(topic, to: processor.isNew ? .beginning : .at(processor.position.nextOffset))
    }
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
    if failure != nil { return }
    ticks.consumed(message.partition)
    var done = false
    while !done {
      done = processor.step(into: &batch, decisionsMax: settings.planner.stepDecisionsMax)
      if let problem = processor.problems.first {
        logger.warning(
          "a payload was refused for its size",
          metadata: ["first": "\(problem)", "count": "\(processor.problems.count)"])
      }
      try sendBatch()
      if sentBytes >= settings.planner.transactionBytesMax { try commit() }
    }
    if processor.recordsSkipped > skipped { noteSkipped(message) }
    let leftOut = processor.planner.keysLeftOut
    // At the first such event, the second, the fourth and so on: there may be as many as events.
    if leftOut.events.nonzeroBitCount == 1, leftOut.events != keysLeftOut[processor.partition] {
      keysLeftOut[processor.partition] = leftOut.events
      logger.warning(
        "an event has too many interest keys: what listens to the last of them does not hear of it",
        metadata: [
          "event": "\(leftOut.newest)", "leftOut": "\(leftOut.count)", "max": "\(DomainBounds.interestsPerEventMax)",
          "events": "\(leftOut.events)",
        ])
    }
    if let refused = processor.planner.refusedPolicy, refused != refusedPolicy {
      refusedPolicy = refused
      logger.critical(
        "a policy of the log was refused; the one before it stays in force", metadata: ["problems": "\(refused)"])
    }
    if processor.registrations > registered { counters.add(.registrationsPlanned) }
  }

  private func noteSkipped(_ message: KafkaMessage) {
    counters.add(.logRecordsSkipped)
    guard !skipNoted else { return }
    skipNoted = true
    logger.notice(
      "a record of the log repeats an origin that was planned before and is passed over; usual after a restart of intake, and a sign of a recreated source topic otherwise",
      metadata: ["place": "\(message.topicPartition)@\(message.offset)"])
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
    guard failure == nil else { return }
    for partition in processors.keys.sorted() {
      processors[partition]?.takeState(into: &batch)
      try sendBatch()
    }
    guard inTransaction, failure == nil, let producer, let consumer else { return }
    let offsets = processors.sorted { $0.key < $1.key }.map { partition, processor in
      KafkaPosition(
        KafkaTopicPartition(topic: settings.topics.log, partition: partition), offset: processor.position.nextOffset)
    }
    let group = try consumer.groupMetadata()
    try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
      try producer.sendOffsetsToTransaction(offsets, group: group, timeout: .seconds(10))
    }
    try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
      try producer.commitTransaction(timeout: stop.isAsked ? .seconds(4) : .seconds(30))
    }
    inTransaction = false
    sentBytes = 0
    counters.add(.transactionsCommitted)
  }

  private func abort() {
    processors = [:]
    batch.removeAll()
    guard inTransaction else { return }
    inTransaction = false
    sentBytes = 0
    counters.add(.transactionsAborted)
    guard let producer else { return }
    do throws(KafkaError) {
      try retrying(for: .seconds(120), stop: stop) { () throws(KafkaError) in
        try producer.abortTransaction(timeout: stop.isAsked ? .seconds(2) : .seconds(30))
      }
    } catch {
      logger.warning("aborting failed; the broker ends the transaction", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Failures

  /// What was planned since the last commit is void, so every owned partition is restored.
  private func recover(from error: KafkaError) throws(PipelineError) {
    guard error.isAbortable || (error.isRetriable && !error.isFatal) else {
      processors = [:]
      throw .kafka(error)
    }
    logger.warning("transaction aborted, restoring", metadata: ["error": "\(error)"])
    abort()
    guard !stop.isAsked else { return }
    for partition in owned.sorted() {
      let start = try restore(partition)
      do throws(KafkaError) {
        let topic = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
        try consumer?.seek(topic, to: start)
      } catch {
        processors = [:]
        throw .kafka(error)
      }
    }
  }

  /// Puts the planner of a partition together from its state.
  /// - Returns: where to read on.
  private func restore(_ partition: Int32) throws(PipelineError) -> KafkaOffset {
    var restore = PlannerRestore(partition: partition, partitionCount: partitionCount, bounds: settings.bounds)
    let began = ContinuousClock.now
    do throws(KafkaError) {
      try awaitEarlierOwners(of: partition)
      try StateReader(settings: settings, timeout: settings.planner.transactionTimeout * 4)
        .read(partition: partition, into: &restore, stop: stop)
    } catch { throw .kafka(error) }
    let records = restore.count
    do throws(BinaryError) {
      let processor = try PartitionProcessor(
        partition: partition, partitionCount: partitionCount, restoring: restore, initialPolicy: initialPolicy)
      processors[partition] = processor
      processor.isNew = records == 0
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

  /// Waits until no earlier owner can commit any more. From the moment this worker was given the partition the group
  /// refuses the offsets of an owner before it; one whose offsets were accepted earlier, and that stopped before the end
  /// of its transaction, may still end it. Offsets read as stable are those of which nothing is under way.
  private func awaitEarlierOwners(of partition: Int32) throws(KafkaError) {
    let topic = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
    _ = try retrying(for: settings.planner.transactionTimeout * 4, stop: stop) { () throws(KafkaError) in
      try consumer?.committed([topic], timeout: .seconds(10))
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
        owned.insert(partition.partition)
        starts[partition] = try restore(partition.partition)
        justAssigned.insert(partition.partition)
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
    for partition in partitions {
      processors[partition.partition] = nil
      owned.remove(partition.partition)
    }
    logger.info("partitions revoked", metadata: ["partitions": "\(partitions)"])
  }

  public func lost(_ partitions: [KafkaTopicPartition]) {
    logger.warning("partitions lost", metadata: ["partitions": "\(partitions)"])
    voidAll(but: partitions)
    owned.subtract(partitions.map(\.partition))
  }

  /// Aborts what is open. Partitions that stay must be restored, which starting the worker anew does.
  private func voidAll(but gone: [KafkaTopicPartition]) {
    let names = Set(gone.map(\.partition))
    abort()
    if !owned.isSubset(of: names), failure == nil {
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
