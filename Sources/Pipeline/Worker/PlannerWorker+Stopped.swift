import Domain
import Installation
import KafkaClient
import Planning

/// A log partition that stops before a record that cannot be read, while the thread plans its other partitions: an upgraded
/// program reads the record, or an operator orders to pass over it. The record is one of these:
///
/// - the partition's next log record, in a batch that cannot be unpacked or of a format that this release does not know; the
///   planner stays before it
/// - a record of the partition's state; there is no planner
struct StoppedPartition {
  /// The place of the record that cannot be read.
  var place: KafkaPosition
  /// The instant of the next reminder in the log.
  var nextReminder: Duration
  /// The kind of the record.
  var record: Record
  /// Whether a newer release wrote the record, so that an upgrade reads it.
  var isNewer = false

  /// A kind of record that stops a partition.
  enum Record {
    /// A log record, or a batch of the log, before which a planner stays.
    case log(PartitionProcessor)
    /// A record of the state.
    /// - content: The content of the record, in words.
    /// - isDispensable: Whether an operator can order to leave it out.
    case state(content: String, isDispensable: Bool)
  }

  /// The planner that stays before a log record; nil if a record of the state stops the partition.
  var processor: PartitionProcessor? { if case .log(let processor) = record { processor } else { nil } }

  /// The time between two reminders in the log.
  static let reminderInterval = Duration.seconds(600)
}

extension PlannerWorker {
  /// Stops a partition before a log record, and pauses it.
  ///
  /// - Parameters:
  ///   - place: The offset that cannot be read.
  ///   - reason: The reason, for the log.
  ///   - isNewer: Whether a newer release wrote the record.
  /// - Throws: `KafkaError` of the consumer.
  func stop(
    at place: KafkaPosition, because reason: String, isNewer: Bool = false, _ clients: PlannerClients
  ) throws(KafkaError) {
    let number = place.partition.partition
    // Reminders tell the rest.
    guard case .planning(let processor)? = partitions.lives[number] else { return }
    let stop = StoppedPartition(
      place: place, nextReminder: clock.elapsed + StoppedPartition.reminderInterval, record: .log(processor),
      isNewer: isNewer)
    partitions.take(.unreadable(stop), for: number)
    try clients.consumer.pause([place.partition])
    report.stopped(at: place, because: reason)
  }

  /// Stops a partition whose state cannot be read. It stays paused.
  ///
  /// - Parameters:
  ///   - number: The number of the partition.
  ///   - error: The place of the state record that cannot be read, and the reason.
  func stop(_ number: Int32, at error: StateRecordError) {
    let place = KafkaPosition(
      KafkaTopicPartition(topic: settings.topics.state, partition: number), offset: error.offset)
    let isNewer = if case .newerVersion = error.cause { true } else { false }
    let stop = StoppedPartition(
      place: place, nextReminder: clock.elapsed + StoppedPartition.reminderInterval,
      record: .state(content: StateKey.meaning(of: error.key), isDispensable: StateKey.isDispensable(error.key)),
      isNewer: isNewer)
    partitions.take(.unreadable(stop), for: number)
    report.stopped(stop, because: error)
  }

  /// Stops each planning partition whose next record is in a batch that cannot be unpacked.
  ///
  /// - Parameter events: The events of a poll whose records were planned.
  /// - Throws: `KafkaError` of the consumer.
  func stopUnreadable(_ events: [KafkaEvent], _ clients: PlannerClients) throws(KafkaError) {
    for case .error(let error) in events {
      guard let place = error.unreadableBatch, place.partition.topic == settings.topics.log,
        let processor = partitions.lives[place.partition.partition]?.processor, processor.isNext(place.offset)
      else { continue }
      try stop(at: place, because: error.description, clients)
    }
  }

  /// Passes over records that stop partitions, as operators ordered, and logs reminders of the others.
  ///
  /// - Throws: `KafkaError` of the consumer.
  func lookForSkips(_ clients: PlannerClients) throws(KafkaError) {
    guard partitions.areStopped else { return }
    for skip in skips.orders(for: partitions.stops.map(\.place)) { try take(skip, clients) }
    for stop in partitions.takeReminders(at: clock.elapsed) { report.stillStopped(stop) }
  }

  private func take(_ skip: Skip, _ clients: PlannerClients) throws(KafkaError) {
    let number = skip.first.partition.partition
    if let processor = partitions.lives[number]?.processor {
      try clients.consumer.seek(skip.first.partition, to: .at(skip.next))
      try clients.consumer.resume([skip.first.partition])
      processor.passOver(to: skip.next, at: clock.wallMicroseconds)
      partitions.take(.passedOver, for: number)
    } else {
      partitions.leaveOut(skip.first.offset, of: number)
      wait(for: number, clients)
      try pauseAssigned(clients)
    }
    report.skipped(skip)
  }
}

/// The work of a planner thread as a static member of its group; see `GroupWatch`.
extension PlannerWorker {
  /// Makes the watch of a static member; nil for a dynamic one.
  ///
  /// - Parameter partitionCount: The number of partitions of the log.
  func makeWatch(partitionCount: Int32) -> GroupWatch? {
    guard settings.isStaticMember else { return nil }
    return GroupWatch(
      own: Identifier(transactionalID), prefix: Identifier(settings.cluster.plannerIDPrefix),
      topic: settings.topics.log,
      partitions: partitionCount, at: clock.elapsed)
  }

  /// Asks the broker for the members of the group if that is due, and performs the remedies that `GroupWatch` returns.
  ///
  /// - Throws: `PipelineError` if the thread cannot join again.
  func lookAtGroup(_ clients: PlannerClients) throws(PipelineError) {
    guard watch?.isDue(at: clock.elapsed) == true else { return }
    let group: KafkaGroup
    do throws(KafkaError) {
      group = try clients.consumer.describeGroup(timeout: GroupWatch.timeout)
    } catch {
      let isFinal = [.unsupportedFeature, .unsupportedVersion].contains(error.code)
      watch?.failed(forGood: isFinal, at: clock.elapsed)
      if isFinal { report.notWatched(error) } else { report.ignored(error) }
      return
    }
    for remedy in watch?.take(group, at: clock.elapsed) ?? [] {
      switch remedy {
      case .fence(let id): fence(id)
      case .rejoin(let partitions):
        report.ownerless(partitions)
        try PipelineError.ofKafka { () throws(KafkaError) in
          try clients.consumer.rejoin([settings.topics.log], timeout: .seconds(5))
        }
        try take(.handled, clients)
      }
    }
  }

  /// Ends the transaction that a member which is no longer in the group may have left open. A member that is still
  /// alive loses its producer by this, and makes a new one. A failure is only logged: the broker ends the transaction
  /// by itself, later.
  private func fence(_ id: Identifier) {
    do throws(KafkaError) {
      let producer = try cluster.producer(producerConfiguration(id: "\(id)"), queueFullTimeout: .zero)
      try producer.initTransactions(timeout: .seconds(5))
      report.fenced(id)
    } catch {
      report.fencingFailed(id, error)
    }
  }

  /// Finds out why another producer has taken over the transactional id of this thread. If another process has the same
  /// `instance`, the group tells this static member that its place was taken. Otherwise the broker ended the
  /// transaction because this process was too slow, and a new worker can continue.
  ///
  /// - Parameter error: The error of the producer.
  /// - Returns: The error that says that another process has the same `instance`; nil if the group does not say so
  ///   within 3 s.
  func replacement(behind error: PipelineError, _ clients: PlannerClients) -> PipelineError? {
    guard case .kafka(let cause) = error, cause.isFatal, settings.isStaticMember,
      [.fenced, .producerFenced, .invalidProducerEpoch].contains(cause.code)
    else { return nil }
    let end = clock.elapsed + Self.heartbeatPatience
    do throws(KafkaError) {
      while clock.elapsed < end, !stop.isAsked {
        _ = try clients.consumer.poll(maxMessages: 100, timeout: .milliseconds(50))
      }
    } catch {
      if error.code == .fencedInstance { return .kafka(error) }
      report.ignored(error)
    }
    return nil
  }

  /// The time within which an answer to a heartbeat is expected, with the default interval.
  private static let heartbeatPatience = Duration.seconds(3)
}
