import Domain
import Installation
import KafkaClient

extension Intake {
  /// The reason why sending stopped.
  enum SendOutcome {
    /// No record is left to send.
    case everything
    /// The next record must wait until all records in flight are confirmed.
    case mustDrain
    /// The next record must wait until some records in flight are confirmed.
    case mustWait
  }

  /// The most log records, each partition's copy counted, that are collected before they are handed to the producer.
  private static let collectedCopiesMax = 8192
  /// The bytes of log records, each partition's copy counted, beyond which they are handed to the producer.
  private static let collectedBytesMax = 4 << 20

  /// Sends the records that were not sent yet, in order, and stops at the first that must wait.
  ///
  /// A record that must be alone waits until everything before it was delivered, and the next record waits for it.
  ///
  /// - Parameter producer: The producer of the log.
  /// - Returns: The reason why it stopped.
  /// - Throws: `KafkaError` of a producer.
  func sendNext(_ producer: any ClusterProducer) throws(KafkaError) -> SendOutcome {
    now = Timestamp(microseconds: clock.wallMicroseconds)
    eventsAccepted = 0
    defer { if eventsAccepted > 0 { counters.add(.eventsAccepted, eventsAccepted) } }
    while underway.hasUnsent {
      let batch = underway.sending
      // Kept in hand, so that no record is copied.
      let messages = underway.list[batch].messages
      if isCareful, !underway.isCareful(underway.list[batch]) { return .mustDrain }
      while !underway.list[batch].isSent {
        guard underway.alone == nil else { return .mustDrain }
        let index = underway.list[batch].next
        if let record = try accepted(messages[index], at: index, of: batch) {
          let outcome = try send(record, of: index, in: batch, producer)
          guard outcome == .everything else { return outcome }
        }
        underway.list[batch].next += 1
      }
      guard try handOver(of: batch, producer) else { return .mustDrain }
      underway.sending += 1
    }
    return underway.alone == nil ? .everything : .mustDrain
  }

  /// Decodes a record, and makes a dead letter of it if it cannot be accepted.
  ///
  /// - Parameters:
  ///   - message: The record.
  ///   - index: The index of the record in its batch.
  ///   - batch: The index of the batch.
  /// - Returns: The log record; nil if there is nothing to append.
  /// - Throws: `KafkaError` of the producer of dead letters.
  private func accepted(_ message: KafkaMessage, at index: Int, of batch: Int) throws(KafkaError) -> LogRecord? {
    let isExamined = index < underway.list[batch].examined
    if isExamined, underway.list[batch].letters[index] != nil || underway.list[batch].dropped.contains(index) {
      return nil
    }
    var record: LogRecord
    do throws(DomainError) {
      let run = underway.list[batch].run(of: index)
      record = try decode(message, generation: run.generation)
    } catch {
      underway.list[batch].examined = max(underway.list[batch].examined, index + 1)
      try refuse(index, of: batch, reason: error.code.rawValue, text: error.description)
      return nil
    }
    let span = counters.traces?.takeIn(&record, at: now.microseconds)
    if isExamined { return record }
    underway.list[batch].examined = index + 1
    if accept(record, isReplayed: message.headers.contains { $0.name == DeadLetterHeaders.replayedFrom }) {
      if let span, underway.list[batch].spans.count < PipelineTraces.spansMax {
        underway.list[batch].spans.append(span)
      }
      return record
    }
    underway.list[batch].dropped.insert(index)
    return nil
  }

  // MARK: Sending

  /// Sends a log record alone if it must be, or else collects it to be sent together with others.
  ///
  /// - Returns: `everything` if the record was sent, collected or refused; otherwise the record is still to be sent.
  private func send(
    _ record: LogRecord, of index: Int, in batch: Int, _ producer: any ClusterProducer
  ) throws(KafkaError) -> SendOutcome {
    let targets = partitions(of: record)
    if isCareful || known.count < Int(partitions) && !known.isSuperset(of: targets) {
      guard try handOver(of: batch, producer), producer.counts.inFlight == 0 else { return .mustDrain }
      return try sendAlone(record, of: index, in: batch, to: targets, producer)
    }
    if outgoing.isEmpty, !hasRoom(producer) { return .mustWait }
    guard try collect(record, of: index, in: batch, to: targets, producer) else { return .mustDrain }
    for channel in newChannels(of: record) {
      let partition = partition(of: channel.device)
      let record = LogRecord(origin: nil, content: .registration(channel))
      guard try collect(record, of: index, in: batch, to: partition, producer) else { return .mustDrain }
    }
    guard outgoing.copies >= Self.collectedCopiesMax || outgoing.copiedBytes >= Self.collectedBytesMax else {
      return .everything
    }
    return try handOver(of: batch, producer) ? .everything : .mustDrain
  }

  /// Whether further records may be queued.
  private func hasRoom(_ producer: any ClusterProducer) -> Bool {
    let inFlight = producer.counts.inFlight
    if inFlight == 0 {
      underway.forgetSentBytes()
      return true
    }
    return inFlight < UInt64(settings.intake.recordsInFlightMax)
      && underway.sentBytes < settings.intake.bytesUnderwayMax
  }

  /// Sends a log record while no other is in flight.
  ///
  /// - Returns: `mustDrain` if the producer has ended, else `everything`.
  private func sendAlone(
    _ record: LogRecord, of index: Int, in batch: Int, to targets: Range<Int32>, _ producer: any ClusterProducer
  ) throws(KafkaError) -> SendOutcome {
    do throws(KafkaError) {
      try queue(record, of: index, in: batch, to: targets, producer)
      for channel in newChannels(of: record) {
        let record = LogRecord(origin: nil, content: .registration(channel))
        try queue(record, of: index, in: batch, to: partition(of: channel.device), producer)
      }
      underway.alone = SentAlone(batch: underway.list[batch].number, index: index, partitions: targets)
    } catch {
      if error.code == .gaplessGuarantee {
        ended = error
        return .mustDrain
      }
      guard refuses(error.code) else { throw error }
      try refuse(index, of: batch, reason: DeadLetterReason.refused, text: error.description)
    }
    return .everything
  }

  /// Collects a log record. With the time of events as log time, each record has a timestamp of its own, and is queued at
  /// once.
  ///
  /// - Returns: Whether the producer takes more.
  private func collect(
    _ record: LogRecord, of index: Int, in batch: Int, to targets: Range<Int32>, _ producer: any ClusterProducer
  ) throws(KafkaError) -> Bool {
    if settings.timestamps == .event {
      return try takesMore(of: batch) { () throws(KafkaError) in
        try queue(record, of: index, in: batch, to: targets, producer)
      }
    }
    let device = record.device
    if !outgoing.takes(isShared: device == nil) { guard try handOver(of: batch, producer) else { return false } }
    if let device {
      outgoing.add(record, key: device, to: targets.lowerBound)
    } else {
      outgoing.addShared(record, partitions: partitions)
    }
    return true
  }

  /// Hands the collected records to the producer, which queues them.
  ///
  /// - Parameter batch: The index of their batch.
  /// - Returns: Whether the producer takes more.
  private func handOver(of batch: Int, _ producer: any ClusterProducer) throws(KafkaError) -> Bool {
    guard !outgoing.isEmpty else { return true }
    underway.noteSent(outgoing.copiedBytes, of: batch)
    let tag = underway.list[batch].number
    let takesMore = try takesMore(of: batch) { () throws(KafkaError) in
      try outgoing.send(to: settings.topics.log, partitions: partitions, tag: tag, producer)
    }
    outgoing.removeAll()
    return takesMore
  }

  /// Runs a send of records together.
  ///
  /// - Parameters:
  ///   - batch: The index of their batch.
  ///   - send: The send.
  /// - Returns: Whether the producer takes more. If not, it has ended, or the batch is to be sent again, one by one.
  private func takesMore(of batch: Int, _ send: () throws(KafkaError) -> Void) throws(KafkaError) -> Bool {
    do throws(KafkaError) {
      try send()
      return true
    } catch {
      if error.code == .gaplessGuarantee {
        // The delivery report of an earlier record says why.
        ended = error
      } else if refuses(error.code) {
        try sendAgain(carefulThrough: underway.list[batch].number, because: error)
      } else {
        throw error
      }
      return false
    }
  }

  /// Queues one log record for its partitions, with the timestamp that the log is to have.
  private func queue(
    _ record: LogRecord, of index: Int, in batch: Int, to targets: Range<Int32>, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    buffer.removeAll(keepingCapacity: true)
    record.encode(into: &buffer)
    underway.noteSent(buffer.count * targets.count, of: batch)
    let time = settings.timestamps == .event ? time(of: record, underway.list[batch].messages[index]) : nil
    let key = record.device.map { Array($0.utf8) }
    for partition in targets {
      try producer.send(
        KafkaRecord(
          topic: settings.topics.log, partition: partition, key: key, value: buffer,
          timestampMilliseconds: time.map { max(1, $0.milliseconds) }, tag: underway.list[batch].number))
    }
  }

  // MARK: Destinations

  /// Returns the log partitions that a record is appended to: all for an event, the device's one for a registration, a
  /// tombstone or a signal.
  private func partitions(of record: LogRecord) -> Range<Int32> {
    record.device.map { partition(of: $0) } ?? 0..<partitions
  }

  private func partition(of device: Identifier) -> Range<Int32> {
    let partition = DevicePartitioner.partition(of: device, count: partitions)
    return partition..<partition + 1
  }

  /// Returns the time of a log record when log time is the time of events.
  private func time(of record: LogRecord, _ message: KafkaMessage) -> Timestamp? {
    switch record.content {
    case .event(let event): return event.time
    case .registration(let registration): return registration.updatedAt
    case .forget:
      // A tombstone has no time but that of its record, which its publisher chose.
      return message.timestampMilliseconds.map { min(Timestamp(milliseconds: $0), now) }
    case .signal(let signal): return signal.time
    // Intake decodes none of these.
    case .policy, .claims, .tick: return nil
    }
  }

  /// Returns the registrations of a registration's broadcast channels that are to be appended to the channels' partitions:
  /// none that was appended recently, because thousands of devices name the same channel. They have no origin, because
  /// repeating them changes nothing.
  private func newChannels(of record: LogRecord) -> [Registration] {
    guard case .registration(let registration) = record.content else { return [] }
    return registration.channels().filter { channel in
      guard let activity = channel.activities.first else { return false }
      let seen: Identifier = "\(activity.startedAt.microseconds) \(activity.kind) \(activity.interests)"
      // A record that is sent alone may have been sent before, without its channel.
      return channels.insert(source: channel.device, id: seen) || isCareful
    }
  }
}

extension LogRecord {
  /// The device that the record is about, which is its key in the log; nil for an event, which goes to all partitions.
  fileprivate var device: Identifier? {
    switch content {
    case .event: nil
    case .registration(let registration): registration.device
    case .forget(let device): device
    case .signal(let signal): signal.device
    // Intake decodes none of these.
    case .policy, .claims, .tick: nil
    }
  }
}
