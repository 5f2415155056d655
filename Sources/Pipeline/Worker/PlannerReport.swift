import Domain
import Installation
import KafkaClient
import Logging
import Observing
import Planning
import Policies

/// Logs and counts what happens on one planner thread. Remembers which conditions it has logged, so that a lasting
/// condition is not logged for each record.
final class PlannerReport {
  /// A change of the partitions that a worker owns.
  enum Rebalance: String { case assigned, revoked, lost }

  private let logger: Logger
  private let counters: PipelineCounters
  private var isRepetitionNoted = false
  private var isTickFailureNoted = false
  /// Kinds whose large payloads were logged; at most as many as policies name.
  private var largeKinds: Set<Identifier> = []
  private var refusedPolicy: PolicyError?
  private var unreadable = UnreadableBatches()
  private var repeated: RepeatedErrors

  /// Makes the report of a worker.
  ///
  /// - Parameters:
  ///   - logger: Carries the number of the worker.
  ///   - counters: The counters of the process.
  ///   - clock: The thread's clock.
  init(logger: Logger, counters: PipelineCounters, clock: any StageClock) {
    repeated = RepeatedErrors(clock: clock, logger: logger)
    self.logger = logger
    self.counters = counters
  }

  // MARK: Records

  /// Logs a note about a planned record.
  ///
  /// - Parameters:
  ///   - note: The note.
  ///   - partition: The log partition of the record.
  func take(_ note: PlanningNote, partition: Int32) {
    switch note {
    case .largePayload(let payload): large(payload)
    case .keysLeftOut(let leftOut):
      logger.warning(
        "an event has too many interest keys; subscribers to the last keys were skipped",
        metadata: [
          "event": "\(leftOut.newest)", "leftOut": "\(leftOut.count)", "max": "\(DomainBounds.interestsPerEventMax)",
          "events": "\(leftOut.events)",
        ])
    case .inexactNumber: break  // The dead letter tells of it.
    case .policy(let inForce, let refused):
      if let refused, refused != refusedPolicy {
        refusedPolicy = refused
        logger.report(.policyRefused, metadata: ["partition": "\(partition)", "problems": "\(refused)"])
      }
      logger.info(
        "policy in force",
        metadata: ["partition": "\(partition)", "version": "\(inForce.version)", "hash": "\(inForce.hash)"])
    }
  }

  /// Logs each refused payload, and the first payload of a kind that is near the limit.
  private func large(_ payload: LargePayload) {
    let metadata: Logger.Metadata = ["first": "\(payload)", "count": "\(payload.count)"]
    if payload.band == .refused {
      logger.warning("a payload was refused for its size", metadata: metadata)
    } else if largeKinds.insert(payload.kind).inserted {
      logger.warning(
        "a payload is near the platform's limit; logged once for each kind, `rouse plan` counts them",
        metadata: metadata)
    }
  }

  /// Counts a record that lies before the position: it was read again after a seek, and is skipped.
  func readAgain() { counters.add(.logRecordsSkipped) }

  /// Counts a record that repeats the origin of an earlier record, and logs the first such record of this thread.
  func repeated(_ message: KafkaMessage) {
    counters.add(.logRecordsSkipped)
    guard !isRepetitionNoted else { return }
    isRepetitionNoted = true
    logger.notice(
      "a log record repeats the origin of a record that was planned before and is passed over; usual after a restart of intake",
      metadata: ["place": "\(message.topicPartition)@\(message.offset)"])
  }

  /// Logs a record of the log that cannot be decoded and became a dead letter.
  func unreadable(_ message: KafkaMessage, _ error: BinaryError) {
    logger.report(
      .logRecordUnreadable,
      metadata: ["place": "\(message.topicPartition)@\(message.offset)", "error": "\(error)"])
  }

  /// Logs and counts a partition that stops before a record that cannot be read.
  ///
  /// - Parameters:
  ///   - place: The offset that cannot be read.
  ///   - reason: The reason, as words.
  func stopped(at place: KafkaPosition, because reason: String) {
    counters.add(.partitionsStopped)
    logger.report(.logRecordStops, metadata: ["place": "\(place)", "error": "\(reason)"])
  }

  /// Logs and counts a partition that stops because of a record of its state.
  ///
  /// - Parameters:
  ///   - stop: The place of the record, and what it holds.
  ///   - error: The reason.
  func stopped(_ stop: StoppedPartition, because error: StateRecordError) {
    counters.add(.partitionsStopped)
    var metadata = metadata(of: stop)
    metadata["error"] = "\(error.cause)"
    logger.report(incident(of: stop), metadata: metadata)
  }

  /// Logs a reminder that a partition is still stopped: the first line again, without the error.
  func stillStopped(_ stop: StoppedPartition) { logger.report(incident(of: stop), metadata: metadata(of: stop)) }

  private func incident(of stop: StoppedPartition) -> Incident {
    switch stop.record {
    case .log: .logRecordStops
    case .state(_, isDispensable: true): .stateRecordStops
    case .state(_, isDispensable: false): .statePositionStops
    }
  }

  private func metadata(of stop: StoppedPartition) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["place": "\(stop.place)"]
    if case .state(let content, _) = stop.record { metadata["holds"] = "\(content)" }
    return metadata
  }

  /// Logs and counts that records were passed over, as an operator ordered.
  func skipped(_ skip: Skip) { skip.taken(logger, counters) }

  /// Logs a record that is not planned, because the broker refused its output again and again.
  ///
  /// - Parameters:
  ///   - message: The record of the log.
  ///   - treatment: The treatment that the record gets instead.
  ///   - origin: The public record that it came from.
  func setAside(_ message: KafkaMessage, _ treatment: RecordTreatment, _ origin: Origin?) {
    logger.report(
      .outputRefused,
      metadata: [
        "place": "\(message.topicPartition)@\(message.offset)", "origin": "\(origin.map { "\($0)" } ?? "none")",
        "treatment": "\(treatment)",
      ])
  }

  /// Logs records that retention removed before they were planned.
  ///
  /// - Parameters:
  ///   - offset: The offset of the first missing record.
  ///   - message: The record after them.
  func missing(from offset: Int64, to message: KafkaMessage) {
    counters.planning.recordsLost.add(Double(max(0, message.offset - offset)))
    logger.report(
      .logRecordsMissing,
      metadata: ["partition": "\(message.partition)", "from": "\(offset)", "to": "\(message.offset)"])
  }

  // MARK: Partitions

  /// Logs a change of the owned partitions.
  func rebalanced(_ change: Rebalance, _ partitions: [KafkaTopicPartition]) {
    logger.log(
      level: change == .lost ? .warning : .info, "the partitions of a planner thread change",
      metadata: ["change": "\(change.rawValue)", "partitions": "\(partitions.map(\.partition).sorted())"])
  }

  /// Logs and counts a restored partition.
  ///
  /// - Parameters:
  ///   - processor: The partition, ready to plan.
  ///   - restore: The restore, with the counts of records.
  ///   - time: The time that the restore took.
  func restored(_ processor: PartitionProcessor, by restore: PartitionRestore, in time: Duration) {
    counters.add(.snapshotRecordsRestored, restore.snapshotRecords)
    counters.partitions.restoredRecords.add(restore.topicRecords, [PartitionMetrics.fromTopic])
    let source = restore.snapshot == nil ? PartitionMetrics.fromTopic : PartitionMetrics.fromSnapshot
    counters.partitions.restoreDuration.observe(time / .seconds(1), [source])
    if !processor.isNew { take(processor.policyNote, partition: processor.partition) }
    logger.info(
      "partition restored",
      metadata: [
        "partition": "\(processor.partition)", "fromSnapshot": "\(restore.snapshotRecords)",
        "fromTopic": "\(restore.topicRecords)", "devices": "\(processor.deviceCount)",
        "nextOffset": "\(processor.position.nextOffset)", "milliseconds": "\(time.milliseconds)",
      ])
  }

  /// Logs a restore that will be tried again.
  func restoreFailed(_ error: KafkaError) {
    logger.warning("restoring failed and is tried again", metadata: ["error": "\(error)"])
  }

  /// Logs and counts a local snapshot that is not used.
  ///
  /// - Parameters:
  ///   - partition: The partition that is being restored.
  ///   - reason: The reason, as words.
  func snapshotDiscarded(of partition: Int32, because reason: String) {
    logger.warning(
      "a local snapshot is not used; the state is read from the topic",
      metadata: ["partition": "\(partition)", "reason": "\(reason)"])
    counters.add(.snapshotsDiscarded)
  }

  /// Logs that a snapshot of a partition was due and is not written, because of an error.
  func noSnapshot(of partition: Int32, _ error: KafkaError) {
    logger.warning("no snapshot this time", metadata: ["partition": "\(partition)", "error": "\(error)"])
  }

  /// Logs that an orderly end writes no snapshots, because the broker did not confirm that this thread owns the partitions.
  func noSnapshots(of partitions: [Int32], _ error: KafkaError) {
    logger.warning(
      "no snapshots at the end: the partitions may have other owners already",
      metadata: ["partitions": "\(partitions)", "error": "\(error)"])
  }

  // MARK: The group

  /// Logs partitions that no member of the group has.
  func ownerless(_ partitions: [Int32]) {
    logger.warning(
      "partitions have no owner, because a member died while it handed them over; this member joins its group again",
      metadata: ["partitions": "\(partitions)"])
  }

  /// Logs that a member is gone from the group, and that no transaction of it is open any more.
  func fenced(_ id: Identifier) {
    logger.info(
      "a member is gone from the group; the transaction that it may have left open was ended",
      metadata: ["member": "\(id)"])
  }

  /// Logs that the transaction of a member could not be ended.
  func fencingFailed(_ id: Identifier, _ error: KafkaError) {
    logger.warning(
      "a member is gone from the group, and its open transaction could not be ended; the broker ends it later",
      metadata: ["member": "\(id)", "error": "\(error)"])
  }

  /// Logs that the broker does not support describing the group, so the group is not watched.
  func notWatched(_ error: KafkaError) {
    logger.notice("the broker does not describe the group, so it is not watched", metadata: ["error": "\(error)"])
  }

  // MARK: Transactions and ticks

  /// Logs an error that librdkafka deals with, or after which nothing has to be done. A batch that cannot be unpacked is
  /// critical and logged once.
  func ignored(_ error: KafkaError) {
    guard !unreadable.take(error, logger: logger, counters: counters) else { return }
    repeated.log(error)
  }

  /// Logs, once, a batch of state records that cannot be unpacked. The restore cannot read on after it.
  func unreadableState(_ error: KafkaError) {
    unreadable.take(error, isSkippable: false, logger: logger, counters: counters)
  }

  /// Logs an aborted transaction.
  func aborted(_ error: KafkaError) {
    logger.warning("transaction aborted, restoring", metadata: ["error": "\(error)"])
  }

  /// Logs an abort that failed.
  func abortFailed(_ error: KafkaError) {
    logger.warning("aborting failed; the broker ends the transaction", metadata: ["error": "\(error)"])
  }

  /// Logs a commit that failed before partitions were handed over to other members.
  func handOverFailed(_ error: PipelineError) {
    logger.warning(
      "could not commit what was planned of partitions that go to other members; the next owner decides it again",
      metadata: ["error": "\(error)"])
  }

  /// Notes that a tick was appended, so that the next failure is logged again.
  func tickAppended() { isTickFailureNoted = false }

  /// Logs that a tick could not be appended, but only the first such failure in a row.
  func tickFailed(_ error: KafkaError) {
    if !isTickFailureNoted { logger.warning("a tick could not be appended", metadata: ["error": "\(error)"]) }
    isTickFailureNoted = true
  }
}
