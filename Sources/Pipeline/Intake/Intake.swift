import Domain
public import Installation
import KafkaClient
public import Logging

/// One intake thread: reads the public topics, validates, and appends to `rouse.log`. Records that it cannot accept go to
/// `rouse.dead-letters` with the reason.
///
///     reading: each turn polls a batch, sends it, takes delivery reports, and commits the oldest delivered batches
///        │ there was no room for another batch for a second, or the planners are too far behind
///        ▼
///     paused: each turn polls without a result, sends, takes reports and commits
///        │ everything is delivered, and the planners have caught up
///        ▼
///     reading
///
/// Several batches are under way at once (`IntakeBatches`). `Intake+Delivering.swift` says how the order is kept when the
/// broker refuses a record, and `IntakeAssignment` what happens to batches whose partitions the group takes away.
///
/// At least once: the group's offsets move when every log record and dead letter made from the records, and from all
/// records read before them, was delivered. Planners drop a log record whose origin they have seen. Memory is bounded by
/// `IntakeSettings` (the batches, log records and bytes under way), one batch more, and what the consumer reads ahead:
/// while intake is paused it still polls, so that it stays in its group.
///
/// Several intakes may run in one process, each on its thread. They are members of one group, and share nothing else.
public final class Intake {
  let settings: PipelineSettings
  /// The number of the thread in its process, from 0.
  let number: Int
  let stop: StopSignal
  let counters: PipelineCounters
  let logger: Logger
  let cluster: any Cluster
  let clock: any StageClock
  let decoder = PublicRecordDecoder()
  /// The ids of the newest events.
  var events: DuplicateWindow
  /// The newest signals.
  var signals: DuplicateWindow
  /// The broadcast channels whose registrations were appended recently.
  var channels = DuplicateWindow(size: channelsKnown)
  /// The number of broadcast channels whose registrations are not appended again soon.
  /// - Beyond: the older set of channels is forgotten, and their registrations are appended again, which changes nothing.
  static let channelsKnown = 10_000
  /// The number of partitions of the log; 0 before the start.
  private(set) var partitions: Int32 = 0
  /// The log record that is being encoded and sent. Kept between records, so that its memory is used again.
  var buffer: [UInt8] = []
  /// The number of events that were accepted since sending began; they are counted together.
  var eventsAccepted = 0
  /// The wall clock when sending began.
  var now = Timestamp(microseconds: 0)
  /// The encoded log records that were not handed to the producer yet. Empty between two sends.
  var outgoing = OutgoingRecords()
  /// The source records whose log records and dead letters are not all delivered yet.
  var underway = IntakeBatches()
  /// The offsets of delivered batches that were not committed yet.
  var delivered: [KafkaTopicPartition: KafkaCommittedOffset] = [:]
  /// The instant of the last commit.
  var committedAt = Duration.zero
  /// Whether each record is sent alone, because the broker refused some that were sent together.
  private(set) var isCareful = false
  /// The error with which the producer of the log has ended, because it was refused a record and promised no gaps.
  var ended: KafkaError?
  /// The log partitions in which the broker has accepted a record of the current producer.
  var known: Set<Int32> = []
  private(set) var consumer: (any ClusterConsumer)?
  /// The producer of the log.
  private(set) var producer: (any ClusterProducer)?
  /// The producer of dead letters; nil before the first letter.
  private(set) var letterProducerIfAny: (any ClusterProducer)?
  /// The generations of the source partitions.
  var generations: SourceGenerations
  private var lag: PlannerLag
  /// The offsets of the next records to read, of the partitions of which records were read.
  var positions: [KafkaTopicPartition: SourcePosition] = [:]
  /// The ends of partitions that were reached.
  var ends = ReachedEnds()
  /// The instant from which on the lag is published again.
  var nextStatus = Duration.zero
  private var unreadable = UnreadableBatches()
  private var repeated: RepeatedErrors
  private var skips: SkipReader
  private let assignment = IntakeAssignment()
  private var isPaused = false
  /// The thread in the status of the process.
  private var stage: PipelineStatus.StageThread { PipelineStatus.StageThread(role: .intake, number: number) }

  /// The log records that one poll may lead to if all records are events, each partition's copy counted.
  /// - Beyond: the poll reads fewer source records; the rest is read in the next turn.
  private static let pollCopiesMax = 16_384

  /// Makes an intake.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, the topics, and the bounds of a turn.
  ///   - number: The number of the thread in its process, from 0. A static member of the group is known by it.
  ///   - stop: Ends intake between two batches.
  ///   - counters: Counts what is accepted and refused.
  ///   - logger: Gets pauses and failures.
  public convenience init(
    settings: PipelineSettings, number: Int = 0, stop: StopSignal, counters: PipelineCounters, logger: Logger
  ) {
    self.init(
      settings: settings, number: number, stop: stop, counters: counters, logger: logger,
      cluster: RealCluster(.intake, counters), clock: SystemClock())
  }

  /// Makes an intake with a given cluster and clock.
  init(
    settings: PipelineSettings, number: Int = 0, stop: StopSignal, counters: PipelineCounters, logger: Logger,
    cluster: any Cluster, clock: any StageClock
  ) {
    self.settings = settings
    self.number = number
    self.stop = stop
    self.counters = counters
    self.logger = logger
    self.cluster = cluster
    self.clock = clock
    events = DuplicateWindow(size: settings.intake.duplicateWindow)
    signals = DuplicateWindow(size: settings.intake.duplicateWindow)
    generations = SourceGenerations(settings: settings, cluster: cluster, clock: clock, logger: logger)
    lag = PlannerLag(settings: settings, cluster: cluster, clock: clock)
    repeated = RepeatedErrors(clock: clock, logger: logger)
    skips = SkipReader(settings: settings.cluster, cluster: cluster, clock: clock, logger: logger)
    assignment.intake = self
  }

  /// Works on the calling thread until asked to stop.
  ///
  /// - Throws: `PipelineError` when intake cannot continue; make a new one if it `isWorthRetrying`.
  public func run() throws(PipelineError) {
    defer { end() }
    try start()
    while !stop.isAsked { try workOnce() }
    try finish()
  }

  // MARK: Life

  /// Connects, and joins the consumer group of intake.
  ///
  /// - Throws: `PipelineError` if the cluster cannot be reached or lacks the log.
  func start() throws(PipelineError) {
    do throws(KafkaError) {
      partitions = try settings.cluster.logPartitionCount(cluster)
      try useProducer(careful: false)
      let consumer = try cluster.consumer(consumerConfiguration(), listener: assignment)
      self.consumer = consumer
      try consumer.subscribe(settings.eventTopics + [settings.topics.devices, settings.topics.signals])
    } catch { throw .kafka(error) }
  }

  /// Replaces the producer of the log.
  ///
  /// - Parameter careful: Whether the producer sends each record alone, and goes on after a record that the broker refuses.
  /// - Throws: `KafkaError` for invalid properties.
  func useProducer(careful: Bool) throws(KafkaError) {
    producer = nil
    known = []
    ended = nil
    outgoing.removeAll()
    isCareful = careful
    var configuration = producerConfiguration()
    configuration["enable.gapless.guarantee"] = careful ? "false" : "true"
    if careful { configuration["linger.ms"] = "0" }
    producer = try cluster.producer(configuration, queueFullTimeout: .seconds(60))
  }

  /// Returns the producer of dead letters, which is made with the first letter. Its failures do not concern the log.
  ///
  /// - Throws: `KafkaError` for invalid properties.
  func letterProducer() throws(KafkaError) -> any ClusterProducer {
    if let letterProducerIfAny { return letterProducerIfAny }
    let producer = try cluster.producer(producerConfiguration(), queueFullTimeout: .seconds(60))
    letterProducerIfAny = producer
    return producer
  }

  private func producerConfiguration() -> KafkaConfiguration {
    settings.client(
      [
        "enable.idempotence": "true", "partitioner": "murmur2_random", "message.max.bytes": "4194304",
        // The producer never discards a record because of its age. Planners drop an origin below the highest that they
        // have seen: if one record failed and the next one arrived, the first would be lost when it is read again.
        "message.timeout.ms": "0", "statistics.interval.ms": settings.statisticsInterval,
      ],
      defaults: ["linger.ms": "5", "compression.type": "lz4"])
  }

  /// The properties of the consumer of the public topics.
  func consumerConfiguration() -> KafkaConfiguration {
    var configuration = settings.member(
      [
        "group.id": settings.cluster.intakeGroup, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
        "isolation.level": "read_committed", "auto.offset.reset": "earliest", "enable.partition.eof": "true",
        "statistics.interval.ms": settings.statisticsInterval,
      ],
      defaults: [
        "partition.assignment.strategy": "roundrobin", "fetch.wait.max.ms": "50",
        "fetch.message.max.bytes": "4194304", "topic.metadata.refresh.interval.ms": "10000",
        // A consumer idles whenever its queue passes this many messages; the byte bound caps memory instead, also while intake is
        // paused or the log is slow.
        "queued.min.messages": "1000000", "queued.max.messages.kbytes": "65536",
      ])
    // A static member that dies while it hands a partition over to another one leaves the partition without an owner
    // when it comes back in time. Only cooperative assignors hand single partitions over, and intake has no state that
    // would make that worth it.
    if settings.isStaticMember, configuration["partition.assignment.strategy"]?.contains("cooperative") != true {
      configuration["group.instance.id"] = "\(settings.cluster.intakeGroup)-\(settings.instance)-\(number)"
    }
    return configuration
  }

  /// Waits for up to 4 s until the records that were read are delivered, so that the next start need not read them
  /// again.
  ///
  /// - Throws: `PipelineError` if the delivery fails.
  func finish() throws(PipelineError) {
    let deadline = clock.elapsed + .seconds(4)
    do throws(KafkaError) {
      while !underway.isEmpty {
        try deliver(timeout: .milliseconds(100))
        guard clock.elapsed < deadline else {
          logger.warning("asked to stop before everything was delivered; it is read again after the restart")
          return
        }
      }
    } catch { throw .kafka(error) }
  }

  /// Leaves the group and closes all clients.
  func end() {
    assignment.intake = nil
    consumer?.leave(timeout: .seconds(5))
    consumer = nil
    producer = nil
    letterProducerIfAny = nil
    generations.close()
    lag.close()
    skips.close()
    counters.status.ended(stage)
  }

  // MARK: Turns

  /// Reads one batch and appends it, or waits for deliveries.
  ///
  /// - Throws: `PipelineError` when intake cannot continue.
  func workOnce() throws(PipelineError) {
    do throws(KafkaError) {
      try work()
    } catch { throw .kafka(error) }
  }

  private func work() throws(KafkaError) {
    guard let consumer else { return }
    counters.status.turned(stage, at: clock.wallMicroseconds)
    publishLag(consumer)
    let reason = try reasonToPause()
    if (reason != nil) != isPaused { try pause(reason) }
    // A paused partition brings no records. One that the group assigns meanwhile is paused with the next turn.
    let recordsMax = pollRecordsMax
    let batch = try consumer.poll(maxMessages: recordsMax, timeout: .milliseconds(underway.isEmpty ? 50 : 0))
    try assignment.requireNoFailure()
    try take(batch.events, consumer)
    if isPaused { try consumer.pause(consumer.assignment()) }
    try take(generations.current(batch.messages, consumer))
    guard !underway.isEmpty else { return }
    try deliver(
      timeout: .milliseconds(isPaused ? 100 : 1000), isBacklogged: batch.messages.count >= recordsMax && !isPaused)
  }

  /// The most records of the next poll: an event becomes a log record for each partition.
  private var pollRecordsMax: Int {
    min(settings.intake.pollRecordsMax, max(1, Self.pollCopiesMax / max(1, Int(partitions))))
  }

  /// Adds records that were read as the newest batch.
  ///
  /// - Parameter messages: The records, in the order in which they were read.
  func take(_ messages: [KafkaMessage]) {
    guard !messages.isEmpty else { return }
    let (generations, owned) = (generations, assignment.owned)
    underway.append(
      messages, generation: { generations.generation(of: $0) }, isReleased: { !owned.contains($0) })
    notePositions()
  }

  private func take(_ events: [KafkaEvent], _ consumer: any ClusterConsumer) throws(KafkaError) {
    ends.take(events)
    var stopped: Set<KafkaPosition> = []
    for case .error(let error) in events {
      if error.code.refusesPrincipal { throw error }
      generations.take(error)
      if let place = error.unreadableBatch { stopped.insert(place) }
      if !unreadable.take(error, logger: logger, counters: counters) { repeated.log(error) }
    }
    // Records before the place may be in flight: their delivery comes first, because the commit covers them.
    let waiting = stopped.filter { !underway.holds($0.partition) }
    guard !waiting.isEmpty else { return }
    for skip in skips.orders(for: waiting.sorted()) {
      delivered[skip.first.partition] = nil
      try consumer.seek(skip.first.partition, to: .at(skip.next))
      let next = KafkaPosition(skip.first.partition, offset: skip.next)
      // The record before it cannot be read, so no remark can describe it.
      try consumer.commitInBackground([KafkaCommittedOffset(next, metadata: "")])
      skip.taken(logger, counters)
    }
  }

  // MARK: Back-pressure

  private func reasonToPause() throws(KafkaError) -> String? {
    if isPaused ? !underway.isEmpty : underway.isFull(settings.intake) { return "the log is slow" }
    guard let behind = try lag.excess() else { return nil }
    return "the planner of log partition \(behind.partition) is \(behind.records) records behind"
  }

  private func pause(_ reason: String?) throws(KafkaError) {
    guard let consumer else { return }
    isPaused = reason != nil
    if let reason {
      counters.add(.intakePauses)
      logger.warning("intake pauses", metadata: ["reason": "\(reason)"])
      try consumer.pause(consumer.assignment())
    } else {
      logger.notice("intake resumes")
      try consumer.resume(consumer.assignment())
    }
  }

  // MARK: Invariants

  /// Checks what must hold between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations =
      events.checkInvariants() + signals.checkInvariants() + channels.checkInvariants() + underway.checkInvariants()
    if !outgoing.isEmpty { violations.append("\(outgoing.copies) log records were encoded and not handed over") }
    if isCareful != (underway.carefulThrough != nil) { violations.append("the producer does not send as it should") }
    if underway.isEmpty, !delivered.isEmpty { violations.append("everything is delivered, and not all committed") }
    for batch in underway.list {
      for run in batch.runs where !run.isReleased {
        let first = batch.messages[run.indices.lowerBound].offset
        guard let next = delivered[run.partition], next.position.offset > first else { continue }
        guard SourceMark(next.metadata)?.generation == run.generation else { continue }
        violations.append("\(run.partition)@\(first) is under way, and \(next.position.offset) is to be committed")
      }
    }
    return violations
  }
}
