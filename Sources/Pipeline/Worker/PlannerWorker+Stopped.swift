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
