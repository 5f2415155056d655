import Domain
public import Installation
import KafkaClient
public import Logging
import Observing
import Planning
public import Policies

/// One planner thread: its consumer, its transactional producer and the planners of the log partitions it owns. Everything
/// happens on the thread that calls `run`, also the rebalance callbacks, which librdkafka makes inside of a poll.
///
/// Three state machines hold the state of the thread: `WorkerPhase` the thread, `PartitionLife` each partition,
/// `PlannerTransaction` the commit protocol. The worker feeds them, and performs the actions that `WorkerPhase` returns. A
/// record of a partition that is not `planning` is dropped; it is read again from the restored position. A
/// partition whose next record cannot be read stops alone (see `StoppedPartition`).
///
/// The group's offsets are committed in the transaction for two reasons: lag tools read them, and the broker refuses a
/// worker that is no longer a member of the group. A restore uses the position in `rouse.state` only.
public final class PlannerWorker {
  let settings: PipelineSettings
  /// The number of the worker in its process, from 0.
  let number: Int
  let initialPolicy: Policy
  let stop: StopSignal
  let counters: PipelineCounters
  let clock: any StageClock
  let cluster: any Cluster
  let snapshots: SnapshotKeeper?
  let makeRecorder: () -> any PlannerRecorder
  /// Makes the hash key of a planner without state.
  let makeHashKey: () -> HashKey
  let transactionalID: String
  let report: PlannerReport
  private let store: (any SnapshotStore)?
  private let ticks: TickAppender
  let claims: ClaimAppender
  /// The records with claims among those that are being planned.
  private var claimRecords = 0

  var phase = WorkerPhase<PlannerClients>.new
  var partitions = OwnedPartitions()
  var skips: SkipReader
  var schedule: WorkerSchedule
  /// The times of the events that were decided since the last commit.
  var eventTimes = EventTimes()
  /// The sampled events since the last commit; at most `PipelineTraces.spansMax`.
  var traced: [TracedEvent] = []
  /// The status as it was last published, and when; see `publishStatus`.
  var published = PublishedStatus()
  /// The turns of the sweeps over the partitions.
  var sweeps = SweepTurns()
  /// The watch over the group; nil for a dynamic member.
  var watch: GroupWatch?
  /// The records of decisions, commands and state that are not handed to the producer yet. After each turn it holds open blocks of
  /// decisions only, which the next turns or the commit complete.
  var batch: OutputBatch
  /// The size in bytes at which `batch` is handed to librdkafka before the poll is planned to its end. Doing so after
  /// each log record would cost more than planning a small event, because it also asks for delivery reports.
  private static let batchBytesMax = 64 << 10
  // Both arrays are kept between polls, so that their memory is used again.

  /// The hashes of the events among the records for which `prefetch` was called last, by place; nil where none were made.
  private var hashes: [EventHashes?] = []
  /// Those of the partition that `prefetch` deals with.
  private var ahead: [EventHashes] = []

  /// Makes a worker.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, the topics, and the bounds of a turn.
  ///   - number: The worker's number in its process, from 0; part of its transactional id.
  ///   - initialPolicy: The policy in force until the log has a policy record.
  ///   - stop: Ends the worker between two pieces of work.
  ///   - counters: Counts what the worker does.
  ///   - logger: Receives conditions that may need an operator's attention.
  /// - Throws: `PipelineError.setup` if the folder of snapshots cannot be made.
  public convenience init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger
  ) throws(PipelineError) {
    try self.init(
      settings: settings, number: number, initialPolicy: initialPolicy, stop: stop, counters: counters, logger: logger,
      cluster: RealCluster(.planner, counters), makeRecorder: { CountingRecorder(JSONRecorder()) })
  }

  /// Creates a worker with a given cluster and a given form of output.
  ///
  /// - Parameters:
  ///   - cluster: Makes the worker's clients.
  ///   - makeRecorder: Makes the recorder of each planner. Called on the worker's thread.
  /// - Throws: `PipelineError.setup` if the folder of snapshots cannot be made.
  package convenience init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger, cluster: any Cluster,
    makeRecorder: @escaping () -> any PlannerRecorder
  ) throws(PipelineError) {
    var store: SnapshotFiles?
    if let folder = settings.planner.snapshotFolder {
      do throws(SnapshotError) { store = try SnapshotFiles(folder: folder) } catch {
        throw .setup("planner.snapshotFolder: \(error)")
      }
      if number == 0, store?.isOpenToOthers == true {
        logger.warning(
          "other users can reach the folder of snapshots, which contain push tokens; chmod 700 keeps them out",
          metadata: ["folder": "\(folder)"])
      }
    }
    self.init(
      settings: settings, number: number, initialPolicy: initialPolicy, stop: stop, counters: counters, logger: logger,
      cluster: cluster, clock: SystemClock(), store: store, makeHashKey: { .random() }, makeRecorder: makeRecorder)
  }

  /// Makes a worker with a given cluster, clock and store of snapshots.
  ///
  /// - Parameters:
  ///   - clock: The thread's clock.
  ///   - store: The store of local snapshots; nil to keep none.
  ///   - makeHashKey: Makes the hash key of a planner without state.
  init(
    settings: PipelineSettings, number: Int, initialPolicy: Policy = .none, stop: StopSignal,
    counters: PipelineCounters, logger: Logger, cluster: any Cluster, clock: any StageClock,
    store: (any SnapshotStore)?, makeHashKey: @escaping () -> HashKey = { .standard },
    makeRecorder: @escaping () -> any PlannerRecorder = { CountingRecorder(JSONRecorder()) }
  ) {
    self.settings = settings
    self.number = number
    batch = OutputBatch(blockBytesMax: settings.planner.decisionBlockBytesMax)
    self.initialPolicy = initialPolicy
    self.stop = stop
    self.counters = counters
    self.cluster = cluster
    self.clock = clock
    self.store = store
    self.makeRecorder = makeRecorder
    self.makeHashKey = makeHashKey
    var logger = logger
    logger[metadataKey: "worker"] = "\(number)"
    report = PlannerReport(logger: logger, counters: counters, clock: clock)
    transactionalID = "\(settings.cluster.plannerIDPrefix)\(settings.instance)-\(number)"
    skips = SkipReader(settings: settings.cluster, cluster: cluster, clock: clock, logger: logger)
    ticks = TickAppender(settings: settings, cluster: cluster, clock: clock)
    claims = ClaimAppender(settings: settings, cluster: cluster)
    snapshots = store.map {
      SnapshotKeeper(settings: settings, store: $0, clock: clock, logger: logger, counters: counters)
    }
    schedule = WorkerSchedule(commitInterval: settings.planner.commitInterval)
  }

  /// Works on the calling thread until asked to stop.
  ///
  /// - Throws: `PipelineError` when the worker cannot continue; make a new one if it `isWorthRetrying`.
  public func run() throws(PipelineError) {
    try run { (turn: () throws(PipelineError) -> Void) throws(PipelineError) in try turn() }
  }

  /// Works on the calling thread until asked to stop, with something around each turn, for benchmarks.
  ///
  /// - Parameter around: Gets each turn, and runs it once.
  /// - Throws: `PipelineError` as `run` does.
  package func run(
    around: (() throws(PipelineError) -> Void) throws(PipelineError) -> Void
  ) throws(PipelineError) {
    defer { end() }
    try start()
    while !stop.isAsked { try around { () throws(PipelineError) in try workOnce() } }
    finish()
  }

  // MARK: Life

  /// Connects, and joins the planners' group.
  ///
  /// - Throws: `PipelineError` if the cluster cannot be reached or lacks a topic.
  func start() throws(PipelineError) {
    let clients: PlannerClients
    do throws(KafkaError) {
      let transaction = PlannerTransaction(
        producer: try cluster.producer(producerConfiguration(), queueFullTimeout: .seconds(60)),
        topics: settings.topics, clock: clock, stop: stop)
      let (count, areShared) = try settings.cluster.outputPartitions(cluster)
      transaction.sharesPartitions = areShared
      clients = PlannerClients(
        consumer: try cluster.consumer(consumerConfiguration(), listener: self), transaction: transaction,
        reader: StateReader(settings: settings, cluster: cluster, clock: clock, store: store, report: report),
        partitionCount: count)
    } catch { throw .kafka(error) }
    schedule = WorkerSchedule(commitInterval: settings.planner.commitInterval, at: clock.elapsed)
    watch = makeWatch(partitionCount: clients.partitionCount)
    // The consumer keeps its listener until it is closed, which `end` does from here on.
    try take(.connected(clients), clients)
    // The group forms meanwhile; partitions come in a poll at the earliest. A member is known to its group before its producer
    // starts, so that no other member takes it for one that is gone.
    try PipelineError.ofKafka { () throws(KafkaError) in try clients.transaction.begin() }
  }

  /// Commits what was decided, leaves the group, and writes a snapshot of each partition. If the commit fails it is
  /// aborted, and the next owner decides those records again.
  func finish() { follow(.stopAsked) }

  /// Closes all clients, and forgets the partitions.
  func end() {
    follow(.closed)
    skips.close()
    snapshots?.discardAll()
    partitions = OwnedPartitions()
    published = PublishedStatus()
    counters.status.ended(PipelineStatus.StageThread(role: .planner, number: number))
  }

  // MARK: Turns

  /// Reads, plans, restores and commits one bounded piece of work.
  ///
  /// - Throws: `PipelineError` when the worker cannot continue.
  func workOnce() throws(PipelineError) {
    guard case .working(let clients) = phase else { preconditionFailure("a planner thread works after it has started") }
    do throws(PipelineError) {
      try turn(clients)
    } catch {
      follow(input(after: error, clients))
      try take(.handled, clients)
    }
  }

  /// Returns what happened when a turn failed. If the broker refused a record, notes which records it may be about.
  private func input(after error: PipelineError, _ clients: PlannerClients) -> WorkerPhase<PlannerClients>.Input {
    guard case .kafka(let cause) = error, let refusal = clients.transaction.refusal(behind: cause) else {
      return .callFailed(error)
    }
    guard refusal.code.refusesRecord else { return .clockRefused(refusal) }
    partitions.noteRefusal(refusal.code)
    return .recordRefused(refusal)
  }

  private func turn(_ clients: PlannerClients) throws(PipelineError) {
    let timeout =
      partitions.areRestoring
      ? Duration.milliseconds(1) : schedule.recordWait(at: clock.elapsed, isUncommitted: partitions.areUncommitted)
    let poll = try PipelineError.ofKafka { () throws(KafkaError) in
      try clients.consumer.poll(maxMessages: settings.planner.pollRecordsMax, timeout: timeout)
    }
    try take(.handled, clients)
    try take(poll.events)
    try plan(poll.messages, clients)
    try PipelineError.ofKafka { () throws(KafkaError) in
      try stopUnreadable(poll.events, clients)
      try lookForSkips(clients)
      if poll.messages.isEmpty { try clients.transaction.serve() }
    }
    // While partitions are restored, a poll does not wait long enough to tell.
    let isIdle = poll.messages.isEmpty && !partitions.areRestoring
    if schedule.isCommitDue(at: clock.elapsed, isIdle: isIdle) { try take(.commitDue, clients) }
    try restore(clients, isIdle: poll.messages.isEmpty)
    try lookAtGroup(clients)
    snapshots?.writeOn()
    sweepOn()
    publishStatus(clients)
    if settings.timestamps == .arrival,
      schedule.takesTimerCheck(isIdle: poll.messages.isEmpty, at: clock.elapsed)
    {
      try appendTicks()
    }
  }

  /// Logs errors that librdkafka handles itself. A lack of permission, and a position that the log no longer holds, are not
  /// such errors.
  private func take(_ events: [KafkaEvent]) throws(PipelineError) {
    for case .error(let error) in events {
      if error.code.refusesPrincipal { throw .kafka(error) }
      guard [.noOffset, .offsetOutOfRange, .offsetResetForbidden].contains(error.code) else {
        report.ignored(error)
        continue
      }
      throw .unreadable(
        place: settings.topics.log,
        reason:
          "\(error.message): the log no longer holds the position of this planner, so records are lost; raise the topic's retention, and reset rouse.state to start over"
      )
    }
  }

  // MARK: Planning

  private func plan(_ messages: [KafkaMessage], _ clients: PlannerClients) throws(PipelineError) {
    var planned = 0
    claimRecords = 0
    var (partition, owner): (Int32, PartitionProcessor?) = (-1, nil)
    // By index: taking a message out of the array would count its references.
    for index in messages.indices {
      if index % Planner.prefetchMax == 0 {
        prefetch(messages, index..<min(messages.count, index + Planner.prefetchMax))
      }
      // Records of a partition come in runs, and only a poll, a restore or a stop changes the life of a partition.
      if messages[index].partition != partition {
        partition = messages[index].partition
        owner = if case .planning(let processor)? = partitions.lives[partition] { processor } else { nil }
      }
      guard let processor = owner else { continue }
      // The records behind one that cannot be read come again after it.
      if try !plan(messages, index, processor, clients) { owner = nil }
      planned += 1
      // Records that were read and not planned are read again by the next owner: the position is in the state.
      if stop.isAsked && planned % 16 == 0 { break }
    }
    try PipelineError.ofKafka { () throws(KafkaError) in try sendBatch(clients) }
    // Claims come from planners, as many as their commits happen to make of them. Whoever waits for records that were published could not
    // count on a number with them.
    counters.add(.logRecordsPlanned, planned - claimRecords)
    noteDecided()
  }

  /// Makes the hashes of the events in the next records, for `plan`, and lets each planner load its data about them into the CPU's caches.
  /// Makes none for a single record, because it has no benefit then.
  private func prefetch(_ messages: [KafkaMessage], _ indices: Range<Int>) {
    hashes.removeAll(keepingCapacity: true)
    for _ in indices { hashes.append(nil) }
    guard indices.count > 1 else { return }
    for (partition, life) in partitions.lives {
      guard let processor = life.processor else { continue }
      ahead.removeAll(keepingCapacity: true)
      for index in indices where messages[index].partition == partition {
        guard let bytes = messages[index].value, let made = processor.hashes(of: bytes) else { continue }
        hashes[index - indices.lowerBound] = made
        ahead.append(made)
      }
      processor.prefetch(ahead.span)
    }
  }

  /// Plans a record.
  /// - Returns: Whether the partition goes on; false if the record stops it.
  private func plan(
    _ messages: [KafkaMessage], _ index: Int, _ processor: PartitionProcessor, _ clients: PlannerClients
  ) throws(PipelineError) -> Bool {
    let offset = messages[index].offset
    if processor.isJump(to: offset) { try jump(to: messages[index], processor) }
    let isWatched = partitions.isWatched(offset, of: processor.partition)
    if isWatched { try PipelineError.ofKafka { () throws(KafkaError) in try commit(clients) } }
    let timestamp = Timestamp(milliseconds: messages[index].timestampMilliseconds ?? 0).microseconds
    let outcome = processor.begin(
      messages[index].value ?? [], offset: offset, timestamp: timestamp, hashes: hashes[index % Planner.prefetchMax],
      as: isWatched ? partitions.treatment(of: offset, of: processor.partition) : .planned)
    ticks.consumed(processor.partition)
    try take(outcome, of: messages, index, processor, clients)
    if isWatched {
      try PipelineError.ofKafka { () throws(KafkaError) in try commit(clients) }
      partitions.committed(offset, of: processor.partition)
    }
    if case .newerFormat = outcome { return false }
    return true
  }

  private func take(
    _ outcome: RecordOutcome, of messages: [KafkaMessage], _ index: Int, _ processor: PartitionProcessor,
    _ clients: PlannerClients
  ) throws(PipelineError) {
    switch outcome {
    case .begun(let kind):
      let place = counters.traces == nil ? nil : PipelineTraces.sampled(processor.traceparent)
      let began = place == nil ? 0 : clock.wallMicroseconds
      try finishRecord(messages, index, processor, clients)
      if let place { notePlanned(messages[index], place, of: processor.eventTime, from: began) }
      if kind == .registration { counters.add(.registrationsPlanned) }
      if kind == .claims { claimRecords += 1 }
      if let time = processor.eventTime { eventTimes.note(time) }
    case .readAgain: report.readAgain()
    case .repeated: report.repeated(messages[index])
    case .unreadable(let error):
      let message = messages[index]
      report.unreadable(message, error)
      try send(DeadLetter(message, reason: DeadLetterReason.unreadableLogRecord, text: error.description), clients)
    case .setAside(let treatment, let origin):
      let message = messages[index]
      report.setAside(message, treatment, origin)
      counters.add(.recordsSetAside)
      if treatment != .passedOver { try send(.setAside(message, from: origin), clients) }
      try finishRecord(messages, index, processor, clients)
    case .newerFormat(let error):
      let place = KafkaPosition(messages[index].topicPartition, offset: messages[index].offset)
      try PipelineError.ofKafka { () throws(KafkaError) in
        try stop(at: place, because: error.description, isNewer: true, clients)
      }
    }
  }

  private func send(_ letter: DeadLetter, _ clients: PlannerClients) throws(PipelineError) {
    try PipelineError.ofKafka { () throws(KafkaError) in try clients.transaction.send(letter) }
    counters.add(letter, settings.topics)
  }

  /// Plans the rest of the current record, step by step, and records what follows from it.
  private func finishRecord(
    _ messages: [KafkaMessage], _ index: Int, _ processor: PartitionProcessor, _ clients: PlannerClients
  ) throws(PipelineError) {
    var isDone = false
    while !isDone {
      let outcome = processor.step(into: &batch, decisionsMax: settings.planner.stepDecisionsMax)
      isDone = outcome.isDone
      for note in outcome.notes {
        report.take(note, partition: processor.partition)
        if case .inexactNumber(let field) = note {
          try send(.inexactNumber(messages[index], field: field), clients)
        }
      }
      if !outcome.claims.isEmpty { claims.add(outcome.claims, of: processor.partition) }
      try PipelineError.ofKafka { () throws(KafkaError) in
        if claims.isFull { try claims.deliver(partitions: clients.partitionCount) }
        if batch.readyBytes >= Self.batchBytesMax { try sendBatch(clients) }
        if clients.transaction.bytes + batch.heldBytes >= settings.planner.transactionBytesMax { try commit(clients) }
      }
    }
  }

  /// Handles a message that comes too early, because records between the position and it were not read. They must not
  /// be skipped: the thrown error leads to an abort, which restores the partition and reads them. If the message is the
  /// first one after a restore, retention has removed them; then they are only logged.
  private func jump(to message: KafkaMessage, _ processor: PartitionProcessor) throws(PipelineError) {
    guard processor.recordsTaken == 0 else {
      throw .kafka(
        KafkaError(
          code: .invalidArgument, message: "offset \(processor.position.nextOffset) was expected and has not been read",
          operation: "reading \(message.topicPartition)@\(message.offset)", isRetriable: true))
    }
    report.missing(from: processor.position.nextOffset, to: message)
  }

  // MARK: Ticks

  /// Appends a tick to each planning partition that has a due timer. One that fails is tried again in a later turn.
  ///
  /// - Throws: `PipelineError` if the permission to append is missing.
  private func appendTicks() throws(PipelineError) {
    // A tick behind a record that cannot be read would not be planned either.
    for case .planning(let processor)? in partitions.numbers.map({ partitions.lives[$0] }) {
      guard let due = processor.nextTimer, due.microseconds <= clock.wallMicroseconds else { continue }
      do throws(KafkaError) {
        if try ticks.append(processor.partition) { counters.add(.ticksAppended) }
        report.tickAppended()
      } catch {
        if error.code.refusesPrincipal { throw .kafka(error) }
        report.tickFailed(error)
      }
    }
  }
}
