import Domain
import KafkaClient

extension Intake {
  /// Sends the records of the batch that were not sent yet, in order, and stops at the first that must wait.
  ///
  /// A record that must be alone waits until everything before it was delivered, and the next record waits for it.
  ///
  /// - Parameter producer: The producer of the log.
  /// - Throws: `KafkaError` of a producer.
  func sendNext(_ producer: any ClusterProducer) throws(KafkaError) {
    while underway.next < underway.messages.count, underway.alone == nil {
      let index = underway.next
      guard let record = try accepted(index) else {
        underway.next += 1
        continue
      }
      let targets = partitions(of: record)
      let isAlone = isCareful || known.count < Int(partitions) && !known.isSuperset(of: targets)
      if isAlone, producer.counts.inFlight > 0 { return }
      do throws(KafkaError) {
        try append(record, of: index, to: targets, producer)
        if isAlone { underway.alone = SentAlone(index: index, partitions: targets) }
      } catch {
        // The delivery report of an earlier record says why.
        if error.code == .gaplessGuarantee { return }
        guard error.code.refusesRecord else { throw error }
        try refuse(index, reason: DeadLetter.refused, text: error.description)
      }
      underway.next += 1
    }
  }

  /// Decodes a record, and makes a dead letter of it if it cannot be accepted.
  ///
  /// - Parameter index: The index of the record in the batch.
  /// - Returns: The log record; nil if there is nothing to append.
  /// - Throws: `KafkaError` of the producer of dead letters.
  private func accepted(_ index: Int) throws(KafkaError) -> LogRecord? {
    guard underway.letters[index] == nil, !underway.dropped.contains(index) else { return nil }
    let record: LogRecord
    do throws(DomainError) {
      record = try decode(underway.messages[index])
    } catch {
      underway.decided = max(underway.decided, index + 1)
      try refuse(index, reason: error.code.rawValue, text: error.description)
      return nil
    }
    guard index >= underway.decided else { return record }
    underway.decided = index + 1
    if accept(record) { return record }
    underway.dropped.insert(index)
    return nil
  }

  /// Returns the log partitions that a record is appended to: all for an event, the device's one for a registration, a
  /// tombstone or a signal.
  private func partitions(of record: LogRecord) -> Range<Int32> {
    switch record.content {
    case .event: return 0..<partitions
    case .registration(let registration): return partition(of: registration.device)
    case .forget(let device): return partition(of: device)
    case .signal(let signal): return partition(of: signal.device)
    // Intake decodes neither.
    case .policy, .tick: return 0..<0
    }
  }

  private func partition(of device: Identifier) -> Range<Int32> {
    let partition = DevicePartitioner.partition(of: device, count: partitions)
    return partition..<partition + 1
  }

  /// Queues a log record for its partitions.
  ///
  /// - Parameter index: The index of the source record in the batch.
  private func append(
    _ record: LogRecord, of index: Int, to targets: Range<Int32>, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    buffer.removeAll(keepingCapacity: true)
    record.encode(into: &buffer)
    let key: Identifier?
    let time: Timestamp?
    switch record.content {
    case .event(let event): (key, time) = (nil, event.time)
    case .registration(let registration): (key, time) = (registration.device, registration.updatedAt)
    case .forget(let device):
      // A tombstone has no time but that of its record, which its publisher chose.
      let now = Timestamp(microseconds: clock.wallMicroseconds)
      let arrival = underway.messages[index].timestampMilliseconds.map { Timestamp(milliseconds: $0) }
      (key, time) = (device, arrival.map { min($0, now) })
    case .signal(let signal): (key, time) = (signal.device, signal.time)
    // Intake decodes neither.
    case .policy, .tick: return
    }
    for partition in targets { try send(key, to: partition, time: time, producer) }
    guard case .registration(let registration) = record.content else { return }
    for channel in registration.channels() { try append(channel: channel, producer) }
  }

  /// Appends the registration of a broadcast channel to the channel's partition, unless it did so recently: thousands of
  /// devices name the same channel. The record has no origin, because repeating it changes nothing.
  private func append(channel: Registration, _ producer: any ClusterProducer) throws(KafkaError) {
    guard let activity = channel.activities.first else { return }
    let seen: Identifier = "\(activity.startedAt.microseconds) \(activity.kind) \(activity.interests)"
    // A record that is sent alone may be a repetition, of which the channel did not arrive.
    guard isCareful || !channels.contains(source: channel.device, id: seen) else { return }
    channels.insert(source: channel.device, id: seen)
    buffer.removeAll(keepingCapacity: true)
    LogRecord(origin: nil, content: .registration(channel)).encode(into: &buffer)
    let partition = DevicePartitioner.partition(of: channel.device, count: partitions)
    try send(channel.device, to: partition, time: channel.updatedAt, producer)
  }

  /// Queues the encoded log record that `buffer` holds.
  private func send(
    _ key: Identifier?, to partition: Int32, time: Timestamp?, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    try producer.send(
      KafkaRecord(
        topic: settings.topics.log, partition: partition, key: key.map { Array($0.utf8) }, value: buffer,
        timestampMilliseconds: settings.timestamps == .event ? time.map { max(1, $0.milliseconds) } : nil))
  }
}
