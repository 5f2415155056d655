import Domain
import KafkaClient
import Planning

/// A partition whose next log record cannot be read: a batch that cannot be unpacked, or a record of a format that this
/// release does not know. It stays where it is, paused, while the thread plans its other partitions: an upgraded program
/// plans the record, or an operator orders to pass over it.
struct StoppedPartition {
  /// The offset that cannot be read.
  var offset: Int64
  /// The instant of the next reminder in the log.
  var nextReminder: Duration

  /// The time between two reminders.
  static let reminderInterval = Duration.seconds(600)
}

extension PlannerWorker {
  /// Stops a partition before a record, and pauses it.
  ///
  /// - Parameters:
  ///   - place: The offset that cannot be read.
  ///   - reason: The reason, for the log.
  /// - Throws: `KafkaError` of the consumer.
  func stop(at place: KafkaPosition, because reason: String, _ clients: PlannerClients) throws(KafkaError) {
    let number = place.partition.partition
    // Reminders tell the rest.
    guard stopped[number]?.offset != place.offset else { return }
    stopped[number] = StoppedPartition(
      offset: place.offset, nextReminder: clock.elapsed + StoppedPartition.reminderInterval)
    try clients.consumer.pause([place.partition])
    report.stopped(at: place, because: reason)
  }

  /// Stops the planning partitions with a batch that cannot be unpacked, once everything before it was planned.
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

  /// Forgets stopped partitions that were released or are restored, and passes over records as operators ordered.
  ///
  /// - Throws: `KafkaError` of the consumer.
  func lookForSkips(_ clients: PlannerClients) throws(KafkaError) {
    for number in stopped.keys.sorted() {
      guard partitions.lives[number]?.processor == nil else { continue }
      stopped[number] = nil
    }
    guard !stopped.isEmpty else { return }
    let places = stopped.sorted { $0.key < $1.key }.map { KafkaPosition(topic($0.key), offset: $0.value.offset) }
    for skip in skips.orders(for: places) {
      let number = skip.first.partition.partition
      guard let processor = partitions.lives[number]?.processor else { continue }
      try clients.consumer.seek(skip.first.partition, to: .at(skip.next))
      try clients.consumer.resume([skip.first.partition])
      processor.passOver(to: skip.next, at: clock.wallMicroseconds)
      stopped[number] = nil
      report.skipped(skip)
    }
    for (number, partition) in stopped.sorted(by: { $0.key < $1.key }) where partition.nextReminder <= clock.elapsed {
      stopped[number]?.nextReminder = clock.elapsed + StoppedPartition.reminderInterval
      report.stillStopped(at: KafkaPosition(topic(number), offset: partition.offset))
    }
  }
}
