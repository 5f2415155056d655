import Domain
import Foundation
public import KafkaClient
public import Logging
import Planning
public import Policies

/// One planner thread: its consumer, its transactional producer and the planners of the log partitions it owns.
///
///     workOnce:  poll the log ──► plan ──► commit, when it is time
///                     │             ▲
///                     │ assigned    │ complete
///                     ▼             │
///                  wait for earlier owners ──► restore, a slice at a time
///
/// See `PartitionLife` for what happens to each partition and `PlannerTransaction` for the commit protocol.
///
/// - a failure that asks for an abort: abort, restore all owned partitions
/// - a fatal one (fenced), or a commit whose end is not known: give up; the supervisor starts a new worker
/// - partitions revoked: commit what is open, let go; the others go on
/// - partitions lost: abort what is open, let go, restore the others
///
/// The group's offsets go along in the transaction for lag tools and so that the broker refuses a worker that is no
/// longer a member of the group; the position that counts is the record in `rouse.state`.
public final class PlannerWorker {
  let settings: PipelineSettings
  private let initialPolicy: Policy
  let stop: StopSignal
  let counters: PipelineCounters
  let logger: Logger
  private let transactionalID: String
  private let cluster: any Cluster
  let clock: any StageClock
  private let ticks: TickAppender

  private(set) var consumer: (any ClusterConsumer)?
  private(set) var transaction: PlannerTransaction?
  private var reader: StateReader?
  let snapshots: SnapshotKeeper?
  /// Partitions that the group gave to this worker.
  private(set) var lives: [Int32: PartitionLife] = [:]
  /// Partitions to be paused after the poll at hand: their state comes first.
  private var toPause: Set<Int32> = []
  private var partitionCount: Int32 = 0
  /// What is decided and not queued yet; empty after each turn.
  private var batch = OutputBatch()
  /// Output of several log records is queued at once: asking librdkafka for reports each time costs more than planning
  /// a small event.
  private static let batchBytesMax = 64 << 10
  private var lastCommit = Duration.zero
  private var lastTimerCheck = Duration.zero
  private var skipNoted = false
  /// Kinds of which a large payload was told; at most as many as policies name.
  private var largeKinds: Set<String> = []
  private var tickFailureNoted = false
  private var refusedPolicy: PolicyError?
  /// Of the next records, for one planner; kept for its memory.
  private var hints: [LookUpHint] = []
  /// When the broker may be asked again whether earlier owners are done.
  private var nextQuestion = Duration.zero
  /// How many events with too many interest keys were told of last, by partition.
  private var keysLeftOut: [Int32: Int] = [:]
  /// A failure inside a rebalance callback, thrown after the poll.
  private var failure: PipelineError?

  /// - Parameters:
  ///   - number: of this worker in its process, from 0; part of its transactional id.
  ///   - initialPolicy: in force while the log has shown none.
  public convenience init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger
  ) throws(PipelineError) {
    var store: SnapshotFiles?
    if let folder = settings.planner.snapshotFolder {
      do throws(SnapshotError) { store = try SnapshotFiles(folder: folder) } catch {
        throw .setup("planner.snapshotFolder: \(error)")
      }
    }
    self.init(
      settings: settings, number: number, initialPolicy: initialPolicy, stop: stop, counters: counters, logger: logger,
      cluster: KafkaCluster(), clock: SystemClock(), store: store)
  }

  /// - Parameter store: of local snapshots; nil to do without.
  init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger, cluster: any Cluster, clock: any StageClock,
    store: (any SnapshotStore)?
  ) {
    self.settings = settings
    self.initialPolicy = initialPolicy
    self.stop = stop
    self.counters = counters
    var logger = logger
    logger[metadataKey: "worker"] = "\(number)"
    self.logger = logger
    self.cluster = cluster
    self.clock = clock
    transactionalID = "\(settings.group)-planner-\(settings.instance)-\(number)"
    ticks = TickAppender(settings: settings, cluster: cluster, clock: clock)
    snapshots = store.map { SnapshotKeeper(settings: settings, store: $0, clock: clock, logger: logger) }
    reader = StateReader(settings: settings, cluster: cluster, clock: clock, store: store) { partition, reason in
      logger.warning(
        "a local snapshot is not used; the state is read from the topic",
        metadata: ["partition": "\(partition)", "reason": "\(reason)"])
      counters.add(.snapshotsDiscarded)
    }
  }

  /// Works until asked to stop, on the calling thread.
  public func run() throws(PipelineError) {
    defer { end() }
    try start()
    while !stop.isAsked { try workOnce() }
    try finish()
  }

  // MARK: Life

  /// Connects and joins the group.
  func start() throws(PipelineError) {
    do throws(KafkaError) {
      let producer = try cluster.producer(producerConfiguration(), queueFullTimeout: .seconds(60))
      let transaction = PlannerTransaction(
        producer: producer, topics: settings.topics, isTransactional: settings.planner.isExactlyOnce, clock: clock,
        stop: stop)
      self.transaction = transaction
      try transaction.begin()
      (partitionCount, transaction.sharesPartitions) = try settings.outputPartitions(cluster)
      let consumer = try cluster.consumer(consumerConfiguration(), listener: self)
      self.consumer = consumer
      try consumer.subscribe([settings.topics.log])
    } catch { throw .kafka(error) }
    lastCommit = clock.elapsed
  }

  private func producerConfiguration() -> KafkaConfiguration {
    var configuration = settings.client(
      [
        "enable.idempotence": "true", "partitioner": "murmur2_random",
        // The commit tells of success; a report of every record would go through this thread.
        "delivery.report.only.error": "true",
        "message.max.bytes": "\(TopicPlan.stateRecordBytesMax)",
      ],
      defaults: ["linger.ms": "5", "compression.type": "lz4", "queue.buffering.max.messages": "500000"])
    if settings.planner.isExactlyOnce {
      configuration["transactional.id"] = transactionalID
      configuration["transaction.timeout.ms"] = "\(settings.planner.transactionTimeout.milliseconds)"
    }
    return configuration
  }

  private func consumerConfiguration() -> KafkaConfiguration {
    var configuration = settings.client(
      [
        "group.id": "\(settings.group)-planner", "enable.auto.commit": "false", "enable.auto.offset.store": "false",
        "auto.offset.reset": "error", "isolation.level": "read_committed", "enable.partition.eof": "false",
      ],
      defaults: [
        "partition.assignment.strategy": "cooperative-sticky", "fetch.wait.max.ms": "50",
        // A consumer idles whenever its queue passes this many messages; the byte bound caps memory instead.
        "queued.min.messages": "1000000", "queued.max.messages.kbytes": "65536",
      ])
    // A member that comes back within the session time-out finds its partitions again, without a rebalance.
    if settings.planner.isStaticMember { configuration["group.instance.id"] = transactionalID }
    return configuration
  }

  /// Commits what is decided, and keeps the snapshots.
  func finish() throws(PipelineError) {
    do throws(KafkaError) {
      try commit()
    } catch {
      abort(because: error)
      return
    }
    // Others take over while the snapshots are written.
    let processors = lives.sorted { $0.key < $1.key }.compactMap(\.value.processor)
    let ends = processors.map { stateEnd(of: $0.partition) }
    leave()
    for (processor, end) in zip(processors, ends) {
      if let end { snapshots?.writeWhole(processor, stateOffset: end) }
    }
  }

  /// Leaves the group in order, which makes the other members take over at once.
  private func leave() {
    consumer?.close(timeout: .seconds(5))
    consumer = nil
  }

  /// Lets go of everything.
  func end() {
    leave()
    abort(because: nil)
    snapshots?.discardAll()
    reader?.close()
    transaction = nil
    lives = [:]
  }

  // MARK: Work

  /// One turn: reads, plans, restores and commits a bounded piece.
  func workOnce() throws(PipelineError) {
    do throws(KafkaError) {
      try work()
    } catch {
      try recover(from: error)
    }
    if let failure { throw failure }
  }

  private func work() throws(KafkaError) {
    guard let consumer else { return }
    let isRestoring = lives.values.contains { $0.processor == nil }
    let poll = try consumer.poll(
      maxMessages: settings.planner.pollRecordsMax, timeout: .milliseconds(isRestoring ? 1 : 20))
    if failure != nil { return }
    for case .error(let error) in poll.events { try note(error) }
    try pauseAssigned()
    var planned = 0
    let messages = poll.messages
    var (partition, owner): (Int32, PartitionProcessor?) = (-1, nil)
    // By place: taking a message out would count its references.
    for place in messages.indices {
      if place % Planner.hintsMax == 0 {
        prefetch(messages, place..<min(messages.count, place + Planner.hintsMax))
      }
      // A partition's records come in runs, and nothing but a poll or a restore changes its life.
      if messages[place].partition != partition {
        partition = messages[place].partition
        owner = lives[partition]?.processor
      }
      guard let owner else { continue }
      try plan(messages, place, owner)
      planned += 1
      // What is read and not planned is read again by whoever owns the partition next: the position is in the state.
      if failure != nil || (stop.isAsked && planned % 16 == 0) { break }
    }
    try sendBatch()
    counters.add(.logRecordsPlanned, planned)
    if failure != nil { return }
    if clock.elapsed - lastCommit >= settings.planner.commitInterval { try commit() }
    try restoreOn(idle: poll.messages.isEmpty)
    snapshots?.writeOn()
    if settings.timestamps == .arrival, poll.messages.isEmpty || clock.elapsed - lastTimerCheck > .seconds(1) {
      lastTimerCheck = clock.elapsed
      appendTicks()
    }
  }

  /// Lets each planner prepare for its records among the next ones. A single record has nobody to share a wait with.
  private func prefetch(_ messages: [KafkaMessage], _ places: Range<Int>) {
    guard places.count > 1 else { return }
    for (partition, life) in lives {
      guard let processor = life.processor else { continue }
      hints.removeAll(keepingCapacity: true)
      for place in places where messages[place].partition == partition {
        if let bytes = messages[place].value, let hint = LookUpHint(logRecord: bytes) { hints.append(hint) }
      }
      processor.prefetch(hints)
    }
  }

  /// Errors that librdkafka deals with itself are logged; a position that the log no longer holds is not such a one.
  private func note(_ error: KafkaError) throws(KafkaError) {
    if error.code == .noOffset || error.code == .offsetOutOfRange || error.code == .offsetResetForbidden {
      failure = .unreadable(
        place: settings.topics.log,
        reason:
          "\(error.message): the log no longer holds the position of this planner, so records are lost; raise the topic's retention, and reset rouse.state to start anew"
      )
      return
    }
    logger.warning("kafka", metadata: ["error": "\(error)"])
  }

  /// Records that were not read must not be passed over: the partition is restored and reads them. Where even that begins
  /// behind the position, they are gone.
  private func tellJump(to message: KafkaMessage, _ processor: PartitionProcessor) throws(KafkaError) {
    guard processor.recordsTaken == 0 else {
      throw KafkaError(
        code: .invalidArgument, message: "offset \(processor.position.nextOffset) was expected and has not been read",
        operation: "reading \(message.topicPartition)@\(message.offset)", isRetriable: true)
    }
    logger.critical(
      "records of the log are missing and cannot be planned any more",
      metadata: [
        "partition": "\(message.partition)", "from": "\(processor.position.nextOffset)", "to": "\(message.offset)",
      ])
  }

  private func plan(
    _ messages: [KafkaMessage], _ place: Int, _ processor: PartitionProcessor
  ) throws(KafkaError) {
    let offset = messages[place].offset
    if processor.isJump(to: offset) { try tellJump(to: messages[place], processor) }
    let (skipped, registered, policies) = (processor.recordsSkipped, processor.registrations, processor.policies)
    let timestamp = Timestamp(milliseconds: messages[place].timestampMilliseconds ?? 0).microseconds
    do throws(BinaryError) {
      try processor.begin(messages[place].value ?? [], offset: offset, timestamp: timestamp)
    } catch {
      let message = messages[place]
      if case .newerVersion = error {
        failure = .unreadable(place: "\(message.topicPartition)@\(message.offset)", reason: error.description)
        return
      }
      logger.error(
        "a log record is unreadable and became a dead letter",
        metadata: ["place": "\(message.topicPartition)@\(message.offset)", "error": "\(error)"])
      try transaction?.send(
        deadLetter: message,
        headers: DeadLetter.headers(for: message, reason: "UNREADABLE_LOG_RECORD", message: error.description))
      counters.add(.deadLetters)
    }
    ticks.consumed(processor.partition)
    var done = false
    while !done {
      done = processor.step(
        into: &batch, decisionsMax: settings.planner.stepDecisionsMax, logsDecisions: settings.planner.logsDecisions)
      for payload in processor.largePayloads { note(payload) }
      if batch.bytes.count >= Self.batchBytesMax { try sendBatch() }
      if (transaction?.bytes ?? 0) >= settings.planner.transactionBytesMax { try commit() }
    }
    if processor.recordsSkipped > skipped { noteSkipped(messages[place]) }
    let leftOut = processor.keysLeftOut
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
    if let refused = processor.refusedPolicy, refused != refusedPolicy {
      refusedPolicy = refused
      logger.critical(
        "a policy of the log was refused; the one before it stays in force", metadata: ["problems": "\(refused)"])
    }
    if processor.registrations > registered { counters.add(.registrationsPlanned) }
    if processor.policies > policies { tellPolicy(processor) }
  }

  private func tellPolicy(_ processor: PartitionProcessor) {
    logger.info(
      "policy in force",
      metadata: [
        "partition": "\(processor.partition)", "version": "\(processor.policy.version)",
        "hash": "\(processor.policy.hash)",
      ])
  }

  /// A refused payload is told each time, one that is near the limit once for its kind.
  private func note(_ payload: LargePayload) {
    let metadata: Logger.Metadata = ["first": "\(payload)", "count": "\(payload.count)"]
    if payload.band == .refused {
      logger.warning("a payload was refused for its size", metadata: metadata)
    } else if largeKinds.insert(payload.kind).inserted {
      logger.warning(
        "a payload is near the platform's limit; told once for each kind, `rouse plan` counts them", metadata: metadata)
    }
  }

  private func noteSkipped(_ message: KafkaMessage) {
    counters.add(.logRecordsSkipped)
    guard !skipNoted else { return }
    skipNoted = true
    logger.notice(
      "a record of the log repeats an origin that was planned before and is passed over; usual after a restart of intake, and a sign of a recreated source topic otherwise",
      metadata: ["place": "\(message.topicPartition)@\(message.offset)"])
  }

  private func sendBatch() throws(KafkaError) {
    guard !batch.isEmpty, let transaction else { return }
    try transaction.send(batch)
    counters.add(.decisions, batch.decisions)
    counters.add(.commands, batch.commands)
    counters.add(.stateRecords, batch.stateRecords)
    batch.removeAll()
  }

  /// Writes the state and the positions, then ends the transaction.
  private func commit() throws(KafkaError) {
    lastCommit = clock.elapsed
    guard failure == nil, let transaction, let consumer else { return }
    let processors = lives.sorted { $0.key < $1.key }.compactMap(\.value.processor)
    for processor in processors {
      processor.takeState(into: &batch)
      try sendBatch()
    }
    guard transaction.isOpen else { return }
    let offsets = processors.map { processor in
      KafkaPosition(
        KafkaTopicPartition(topic: settings.topics.log, partition: processor.partition),
        offset: processor.position.nextOffset)
    }
    try transaction.commit(offsets) { () throws(KafkaError) in try consumer.membership() }
    counters.add(.transactionsCommitted)
    for processor in processors {
      snapshots?.committed(processor) { self.stateEnd(of: processor.partition) }
    }
  }

  // MARK: Failures

  /// What was planned since the last commit is void: aborts it, and has every owned partition restored. Memory is ahead
  /// of what is committed, and nothing of it may be committed later.
  private func abort(because error: KafkaError?) {
    batch.removeAll()
    snapshots?.discardAll()
    for partition in lives.keys { wait(for: partition) }
    guard let transaction, transaction.state != .idle else { return }
    counters.add(.transactionsAborted)
    if let error { logger.warning("transaction aborted, restoring", metadata: ["error": "\(error)"]) }
    if let failure = transaction.abort() {
      logger.warning("aborting failed; the broker ends the transaction", metadata: ["error": "\(failure)"])
    }
  }

  private func recover(from error: KafkaError) throws(PipelineError) {
    abort(because: error)
    guard transaction?.state == .idle, error.isAbortable || (error.isRetriable && !error.isFatal) else {
      throw .kafka(error)
    }
    do throws(KafkaError) {
      try pauseAssigned()
    } catch {
      throw .kafka(error)
    }
  }

  // MARK: Restoring

  /// From now on the partition is restored before anything else is done with it.
  private func wait(for partition: Int32, from next: Duration? = nil) {
    do throws(KafkaError) { try reader?.cancel(partition) } catch {
      logger.warning("kafka", metadata: ["error": "\(error)"])
    }
    lives[partition] = .waiting(PartitionLife.Waiting(since: clock.elapsed, next: next ?? clock.elapsed))
    toPause.insert(partition)
  }

  private func topic(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: settings.topics.log, partition: partition)
  }

  private func pauseAssigned() throws(KafkaError) {
    let partitions = toPause.sorted().filter { lives[$0] != nil }.map(topic)
    toPause = []
    if !partitions.isEmpty { try consumer?.pause(partitions) }
  }

  /// Takes each partition that does not plan yet a piece further.
  /// - Parameter idle: whether there is nothing else to do.
  private func restoreOn(idle: Bool) throws(KafkaError) {
    guard let reader, lives.values.contains(where: { $0.processor == nil }) else { return }
    let isPlanning = lives.values.contains { $0.processor != nil }
    do throws(KafkaError) {
      for partition in lives.keys.sorted() {
        guard case .waiting(let waiting) = lives[partition], waiting.next <= clock.elapsed,
          nextQuestion <= clock.elapsed || !isPlanning
        else { continue }
        let asked = clock.elapsed
        try awaitEarlierOwners(of: partition, waiting, reader)
        // Other partitions wait for the answer: they get as much time as it took before the next question.
        nextQuestion = clock.elapsed + (clock.elapsed - asked)
      }
      if !reader.isIdle {
        for restore in try reader.step(timeout: .milliseconds(idle ? 20 : 0)) { try complete(restore, reader) }
      }
    } catch {
      guard error.isRetriable, !error.isFatal else { throw error }
      logger.warning("restoring failed and is tried again", metadata: ["error": "\(error)"])
      for partition in lives.keys.sorted() where lives[partition]?.processor == nil {
        wait(for: partition, from: clock.elapsed + .seconds(1))
      }
    }
  }

  /// Offsets read as stable are those of which nothing is under way.
  private func awaitEarlierOwners(
    of partition: Int32, _ waiting: PartitionLife.Waiting, _ reader: StateReader
  ) throws(KafkaError) {
    do throws(KafkaError) {
      _ = try consumer?.committed([topic(partition)], timeout: waiting.timeout)
    } catch {
      guard error.isRetriable, clock.elapsed - waiting.since < settings.planner.transactionTimeout * 4 else {
        throw error
      }
      var longer = waiting
      longer.timeout = min(longer.timeout * 2, PartitionLife.Waiting.timeoutMax)
      longer.next = clock.elapsed + .milliseconds(50)
      lives[partition] = .waiting(longer)
      return
    }
    let restore = PartitionRestore(partition: partition, at: clock.elapsed) { [settings, partitionCount] in
      PlannerRestore(partition: partition, partitionCount: partitionCount, bounds: settings.bounds)
    }
    lives[partition] = .restoring(restore)
    try reader.begin(restore)
  }

  private func complete(_ restore: PartitionRestore, _ reader: StateReader) throws(KafkaError) {
    let partition = restore.partition
    guard case .restoring(let current) = lives[partition], current === restore else { return }
    let processor: PartitionProcessor
    do throws(BinaryError) {
      processor = try restore.finish(partitionCount: partitionCount, initialPolicy: initialPolicy)
    } catch {
      if restore.snapshot != nil {
        return try reader.again(restore, because: error.description)
      }
      failure = .unreadable(place: "\(settings.topics.state)[\(partition)]", reason: error.description)
      return
    }
    if let snapshot = restore.snapshot, snapshot.birth != processor.position.birth {
      return try reader.again(restore, because: "it belongs to another log of the same name")
    }
    counters.add(.snapshotRecordsRestored, restore.snapshotRecords)
    // What was read of the partition before is not what comes next. Where the seek fails the partition does not plan:
    // it would go on behind records that were dropped while it was restored.
    try consumer?.seek(topic(partition), to: processor.isNew ? .beginning : .at(processor.position.nextOffset))
    try consumer?.resume([topic(partition)])
    lives[partition] = .planning(processor)
    snapshots?.restored(partition)
    if !processor.isNew { tellPolicy(processor) }
    logger.info(
      "partition restored",
      metadata: [
        "partition": "\(partition)", "fromSnapshot": "\(restore.snapshotRecords)",
        "fromTopic": "\(restore.topicRecords)", "devices": "\(processor.deviceCount)",
        "nextOffset": "\(processor.position.nextOffset)",
        "milliseconds": "\((clock.elapsed - restore.began).milliseconds)",
      ])
  }

  /// Nil, with a warning, when the broker does not tell: then there is no snapshot this time.
  private func stateEnd(of partition: Int32) -> Int64? {
    guard snapshots != nil else { return nil }
    do throws(KafkaError) {
      return try reader?.end(of: partition)
    } catch {
      logger.warning("no snapshot this time", metadata: ["partition": "\(partition)", "error": "\(error)"])
      return nil
    }
  }

  // MARK: Ticks

  /// A tick that does not get through is tried again; nothing else depends on it.
  private func appendTicks() {
    for (partition, life) in lives.sorted(by: { $0.key < $1.key }) {
      guard let due = life.processor?.nextTimer, due <= clock.wallMicroseconds else { continue }
      do throws(KafkaError) {
        if try ticks.append(partition) { counters.add(.ticksAppended) }
        tickFailureNoted = false
      } catch {
        if !tickFailureNoted { logger.warning("a tick could not be appended", metadata: ["error": "\(error)"]) }
        tickFailureNoted = true
      }
    }
  }
}

extension PlannerWorker: KafkaRebalanceListener {
  public func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    for partition in partitions.sorted() { wait(for: partition.partition) }
    logger.info("partitions assigned", metadata: ["partitions": "\(partitions.map(\.partition).sorted())"])
    // They are paused before anything of them is planned; the restored position says where to read on.
    return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) })
  }

  public func revoked(_ partitions: [KafkaTopicPartition]) {
    do throws(KafkaError) {
      try commit()
    } catch {
      logger.warning(
        "could not commit what was revoked; the next owner decides it again", metadata: ["error": "\(error)"])
      void(because: error)
    }
    letGo(of: partitions)
    logger.info("partitions revoked", metadata: ["partitions": "\(partitions.map(\.partition).sorted())"])
  }

  public func lost(_ partitions: [KafkaTopicPartition]) {
    logger.warning("partitions lost", metadata: ["partitions": "\(partitions.map(\.partition).sorted())"])
    void(because: nil)
    letGo(of: partitions)
  }

  private func letGo(of partitions: [KafkaTopicPartition]) {
    for partition in partitions.map(\.partition) {
      do throws(KafkaError) { try reader?.cancel(partition) } catch {
        logger.warning("kafka", metadata: ["error": "\(error)"])
      }
      lives[partition] = nil
      toPause.remove(partition)
      snapshots?.letGo(partition)
    }
  }

  /// Aborts what is open. Where even that fails, the worker is started anew.
  private func void(because error: KafkaError?) {
    abort(because: error)
    if let transaction, transaction.state != .idle, failure == nil {
      failure = .kafka(
        error
          ?? KafkaError(
            code: .rebalanceInProgress, message: "what was planned since the last commit could not be aborted",
            operation: "handing over partitions", isRetriable: true))
    }
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
