import Domain
import Foundation
public import Installation
import JSON
import KafkaClient
public import Logging
import Observing

/// Feeds the audit store from `rouse.decisions` and `rouse.commands`, committed records only. It has a separate consumer:
/// when the store is slow or its disk is full, the feed falls behind and planning does not.
///
/// Works on one thread. Records are stored in order and once: the store writes the position of each partition in the
/// same transaction as its records. A record of decisions is a block of lines (`DecisionBlock`), and a position is never inside of one:
/// it moves behind a block together with the last of its lines that is stored. If the store takes only a part of a block before the
/// process ends, the block is read again, and the store drops the decisions that it has.
public final class AuditFeed {
  let settings: PipelineSettings
  let sink: any DecisionSink
  let stop: StopSignal
  let counters: PipelineCounters
  let logger: Logger
  private let cluster: any Cluster
  let clock: any StageClock
  let reader = Command.makeReader()
  let blocks = DecisionBlockReader()
  private(set) var consumer: (any ClusterConsumer)?
  private var unreadable = UnreadableBatches()
  /// The failure of the store that ends the feed; nil while there is none.
  var unusable: UnusableStore?
  var repeated: RepeatedErrors
  private var skips: SkipReader
  /// The offset of the next record to store, by partition.
  var next: [KafkaTopicPartition: Int64] = [:]
  /// The ends of partitions that were reached.
  private(set) var ends = ReachedEnds()
  /// The instant of the last housekeeping (`DecisionSink.idle`), on the thread's clock.
  private var lastIdle = Duration.zero
  /// The timestamp of the newest stored record of each partition, in ms since 1970; before the first that of the oldest record that
  /// waits to be stored.
  var storedTo: [KafkaTopicPartition: Int64] = [:]
  /// The instant of the next publication of the status.
  var nextStatus = Duration.zero
  /// The time for storing one batch above which the feed checks whether retention removed records meanwhile.
  private let longRefusal: Duration
  /// Partitions from which retention removed records that were not stored, each with its oldest offset when the store
  /// accepted writes again. Records that the consumer had read ahead may still come.
  var overtaken: [KafkaTopicPartition: Int64] = [:]
  /// The number of records after which the feed reads no further before it stores them.
  /// - Beyond: the records are stored.
  private static let batchRecordsMax = 10_000
  /// The number of bytes of records after which the feed reads no further before it stores them.
  /// - Beyond: the records are stored.
  private static let batchBytesMax = 16 << 20
  /// The most records of one poll. A record of decisions can have `DecisionBlock.bytesMax` bytes.
  /// - Beyond: the rest is read in the next poll.
  private static let pollRecordsMax = 64

  /// Makes a feed.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - sink: The store.
  ///   - stop: Ends the feed between two batches.
  ///   - counters: Counts what is stored.
  ///   - logger: Gets failures and losses.
  public convenience init(
    settings: PipelineSettings, sink: any DecisionSink, stop: StopSignal, counters: PipelineCounters, logger: Logger
  ) {
    self.init(
      settings: settings, sink: sink, stop: stop, counters: counters, logger: logger, longRefusal: .seconds(60),
      cluster: RealCluster(.audit, counters))
  }

  /// Makes a feed with a given cluster and clock.
  ///
  /// - Parameter longRefusal: The time for storing one batch above which the feed checks whether retention removed
  ///   records meanwhile.
  init(
    settings: PipelineSettings, sink: any DecisionSink, stop: StopSignal, counters: PipelineCounters, logger: Logger,
    longRefusal: Duration, cluster: any Cluster = RealCluster(), clock: any StageClock = SystemClock()
  ) {
    self.longRefusal = longRefusal
    self.settings = settings
    self.sink = sink
    self.stop = stop
    self.counters = counters
    self.logger = logger
    self.cluster = cluster
    self.clock = clock
    repeated = RepeatedErrors(clock: clock, logger: logger)
    skips = SkipReader(settings: settings.cluster, cluster: cluster, clock: clock, logger: logger)
  }

  /// Works on the calling thread until asked to stop.
  ///
  /// - Throws: `PipelineError` if Kafka fails, or if the store cannot be used. A store that only fails is retried until it
  ///   succeeds or the process is asked to stop. A record that the store refuses for its content is set aside.
  public func run() throws(PipelineError) {
    defer { end() }
    try start()
    while !stop.isAsked { try workOnce() }
  }

  /// Connects, and resumes at the positions that the store holds.
  ///
  /// - Throws: `PipelineError` if the cluster cannot be reached or lacks a topic, or if the store cannot be used.
  func start() throws(PipelineError) {
    let known = untilDone { try sink.positions() }
    try checkStore()
    guard let known else { return }
    do throws(KafkaError) { try start(from: known) } catch { throw .kafka(error) }
    try checkStore()
    lastIdle = clock.elapsed
  }

  private func checkStore() throws(PipelineError) {
    if let unusable { throw .store(unusable.reason) }
  }

  /// Reads one batch and stores it.
  ///
  /// - Throws: `PipelineError` if Kafka fails, or if the store cannot be used.
  func workOnce() throws(PipelineError) {
    publishStatus()
    do throws(KafkaError) { try work() } catch { throw .kafka(error) }
    try checkStore()
  }

  /// Closes the consumer.
  func end() {
    consumer?.close(timeout: .seconds(2))
    consumer = nil
    skips.close()
    counters.status.ended(PipelineStatus.StageThread(role: .audit, number: 0))
  }

  private func start(from known: [AuditPosition]) throws(KafkaError) {
    let consumer = try cluster.consumer(
      settings.client(
        [
          "group.id": settings.cluster.auditGroup, "enable.auto.commit": "false", "isolation.level": "read_committed",
          "auto.offset.reset": "earliest", "enable.partition.eof": "true",
          "statistics.interval.ms": settings.statisticsInterval,
        ],
        defaults: [
          "fetch.wait.max.ms": "50", "queued.min.messages": "100000", "queued.max.messages.kbytes": "32768",
        ]), listener: nil)
    self.consumer = consumer
    let starts = try starts(known)
    try consumer.incrementalAssign(starts)
    for case (let partition, .at(let offset)) in starts { next[partition] = offset }
    for (partition, low) in try removed(consumer) { tellLoss(partition, from: next[partition] ?? 0, to: low) }
  }

  private func work() throws(KafkaError) {
    guard let consumer else { return }
    let (batch, failure) = try gather(consumer)
    if !batch.messages.isEmpty {
      let began = clock.elapsed
      store(batch.messages)
      if clock.elapsed - began > longRefusal { overtaken = try removed(consumer) }
    } else if clock.elapsed - lastIdle > .seconds(10) {
      lastIdle = clock.elapsed
      do {
        try sink.idle()
        tellUsable()
      } catch let failure as UnusableStore {
        unusable = failure
      } catch { logger.report(.auditHousekeepingFailed, metadata: ["error": "\(error)"]) }
    }
    // The records before a place that cannot be read were stored first.
    try take(batch.events, consumer)
    if let failure { throw failure }
  }

  /// Polls until the next records are as many as one transaction of the store should take, or until there are no more at once.
  ///
  /// - Returns: The records and events, and the error of a poll that came after some of them.
  private func gather(_ consumer: any ClusterConsumer) throws(KafkaError) -> (KafkaBatch, KafkaError?) {
    var batch = try consumer.poll(maxMessages: Self.pollRecordsMax, timeout: .milliseconds(100))
    var bytes = batch.messages.reduce(0) { $0 + ($1.value?.count ?? 0) }
    while !batch.events.contains(where: \.isError), !batch.messages.isEmpty,
      batch.messages.count < Self.batchRecordsMax, bytes < Self.batchBytesMax
    {
      do throws(KafkaError) {
        let more = try consumer.poll(maxMessages: Self.pollRecordsMax, timeout: .zero)
        batch.events += more.events
        if more.messages.isEmpty { break }
        bytes += more.messages.reduce(0) { $0 + ($1.value?.count ?? 0) }
        batch.messages += more.messages
      } catch { return (batch, error) }
    }
    return (batch, nil)
  }

  private func take(_ events: [KafkaEvent], _ consumer: any ClusterConsumer) throws(KafkaError) {
    ends.take(events)
    var stopped: Set<KafkaPosition> = []
    for case .error(let error) in events {
      if error.code.refusesPrincipal { throw error }
      if let place = error.unreadableBatch { stopped.insert(place) }
      if !unreadable.take(error, logger: logger, counters: counters) { repeated.log(error) }
    }
    for skip in skips.orders(for: stopped.sorted()) {
      try consumer.seek(skip.first.partition, to: .at(skip.next))
      next[skip.first.partition] = skip.next
      let position = position(skip.first.partition, next: skip.next)
      let hole = AuditHole(
        topic: position.topic, partition: position.partition, offsets: skip.first.offset..<skip.next,
        cause: .passedOver)
      guard untilDone({ try sink.note(hole, positions: [position]) }) != nil else { return }
      skip.taken(logger, counters)
    }
  }

  /// Notes that the store takes records, or could take them.
  func tellUsable() {
    if counters.status.set(auditGaveUp: nil) {
      logger.notice("the audit store can be used again, and the audit goes on")
    }
  }

  func position(_ partition: KafkaTopicPartition, next: Int64) -> AuditPosition {
    AuditPosition(
      topic: partition.topic == settings.topics.decisions ? .decisions : .commands, partition: partition.partition,
      next: next)
  }

  /// Returns the oldest offset of each partition from which retention has removed records that were not stored.
  private func removed(_ consumer: any ClusterConsumer) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
    var lows: [KafkaTopicPartition: Int64] = [:]
    for (partition, offset) in next.sorted(by: { $0.key < $1.key }) {
      let low = try consumer.watermarks(of: partition, timeout: .seconds(30)).low
      if low > offset { lows[partition] = low }
    }
    return lows
  }

  /// Logs that retention removed records before they were stored, and notes them in the store as a hole.
  private func tellLoss(_ partition: KafkaTopicPartition, from offset: Int64, to low: Int64) {
    logger.report(
      .auditRecordsMissing,
      metadata: ["partition": "\(partition)", "from": "\(offset)", "to": "\(low)"])
    counters.audit.lostRecords.add(Double(max(0, low - offset)))
    let hole = AuditHole(
      topic: position(partition, next: low).topic, partition: partition.partition, offsets: offset..<max(offset, low),
      cause: .removed)
    _ = untilDone { try sink.note(hole, positions: []) }
  }

  /// Logs and notes the records before a message that retention removed unstored, if there are any.
  func lookForLoss(before message: KafkaMessage, from next: Int64?) {
    guard let low = overtaken[message.topicPartition], message.offset >= low else { return }
    overtaken[message.topicPartition] = nil
    if let next, next < low { tellLoss(message.topicPartition, from: next, to: low) }
  }

  private func starts(_ known: [AuditPosition]) throws(KafkaError) -> [KafkaTopicPartition: KafkaOffset] {
    let topics: [(name: String, topic: AuditTopic)] = [
      (settings.topics.decisions, .decisions), (settings.topics.commands, .commands),
    ]
    let counts = try cluster.partitionCounts(of: topics.map(\.name), settings.client([:]))
    var starts: [KafkaTopicPartition: KafkaOffset] = [:]
    for ((name, topic), count) in zip(topics, counts) {
      guard count > 0 else { throw ClusterSettings.missing(name) }
      for partition in 0..<count {
        let next = known.first { $0.topic == topic && $0.partition == partition }?.next
        starts[KafkaTopicPartition(topic: name, partition: partition)] = next.map { .at($0) } ?? .beginning
      }
    }
    return starts
  }

  /// Checks what must hold between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    guard consumer != nil else { return [] }
    var violations: [String] = []
    for (partition, offset) in next.sorted(by: { $0.key < $1.key }) where offset < 0 {
      violations.append("the next record of \(partition) is \(offset)")
    }
    for partition in overtaken.keys.sorted() where next[partition] == nil {
      violations.append("\(partition) lost records but has no position")
    }
    return violations
  }
}
