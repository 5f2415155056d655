import Domain
import KafkaClient

extension Intake {
  /// Appends the log records of a batch, or their dead letters.
  ///
  /// - Parameters:
  ///   - messages: Records of the public topics.
  ///   - producer: The producer of the log.
  /// - Throws: `KafkaError` of the producer.
  func append(_ messages: [KafkaMessage], _ producer: any ClusterProducer) throws(KafkaError) {
    // A record that was sent again is not alone any more: if it is refused now, it is sent once more.
    alone = nil
    let first = underway.count
    underway += messages
    for index in first..<underway.count { try append(index, producer) }
  }

  private func append(_ index: Int, _ producer: any ClusterProducer) throws(KafkaError) {
    let message = underway[index]
    let record: LogRecord
    do throws(DomainError) {
      record = try decode(message)
    } catch {
      return try refuse(index, reason: error.code.rawValue, text: error.description, producer)
    }
    guard accept(record) else { return }
    do throws(KafkaError) {
      try append(record, of: index, to: nil, producer)
    } catch {
      guard error.code.refusesRecord else { throw error }
      try refuse(index, reason: DeadLetter.refused, text: error.description, producer)
    }
  }

  /// Appends the log records of a record again, after the broker refused a batch that they were in.
  ///
  /// The log records have no origin this time. Planners drop an origin below the highest that they have seen, and they may have
  /// seen later ones. If intake is started anew before the offsets are committed, planners drop the repetition of an event by its
  /// id; repeated registrations and signals change nothing or little.
  ///
  /// - Parameters:
  ///   - index: The index of the record in `underway`.
  ///   - partitions: The log partitions that lack it.
  ///   - producer: The producer of the log.
  /// - Throws: `KafkaError` of the producer.
  func appendAgain(
    _ index: Int, to partitions: Set<Int32>, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    let content: LogRecord.Content
    do throws(DomainError) {
      content = try decode(underway[index]).content
    } catch {
      return try refuse(index, reason: error.code.rawValue, text: error.description, producer)
    }
    try append(LogRecord(origin: nil, content: content), of: index, to: partitions, producer)
  }

  // MARK: Decoding

  /// Decodes a record of a public topic.
  ///
  /// - Returns: The log record.
  /// - Throws: `DomainError` for a record that cannot be accepted.
  private func decode(_ message: KafkaMessage) throws(DomainError) -> LogRecord {
    try message.requireBounds()
    let origin = Origin(topic: message.topic, partition: message.partition, offset: message.offset)
    if message.topic == settings.topics.devices {
      return LogRecord(origin: origin, content: try decodeDevice(message))
    }
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0))
    if message.topic == settings.topics.signals {
      let signal = try signals.decode(record)
      try Registration.requireDevice(signal.device, path: "$.data.device")
      return LogRecord(origin: origin, content: .signal(signal))
    }
    return LogRecord(origin: origin, content: .event(try events.decode(record)))
  }

  /// Counts a decoded record.
  ///
  /// - Returns: Whether it is to be appended. An event that was accepted before is not.
  private func accept(_ record: LogRecord) -> Bool {
    switch record.content {
    case .event(let event):
      if window.contains(source: event.source, id: event.id) {
        counters.add(.duplicatesDropped)
        return false
      }
      window.insert(source: event.source, id: event.id)
      counters.add(.eventsAccepted)
    case .registration, .forget: counters.add(.registrationsAccepted)
    case .signal: counters.add(.signalsAccepted)
    // Intake decodes neither.
    case .policy, .tick: break
    }
    return true
  }

  private func decodeDevice(_ message: KafkaMessage) throws(DomainError) -> LogRecord.Content {
    if let value = message.value { return .registration(try registrations.decode(value, key: message.key)) }
    guard let key = message.key, !key.isEmpty else {
      throw DomainError(.missingField, path: "key", message: "missing; a tombstone needs the device as its key")
    }
    guard key.count <= DomainBounds.nameBytesMax else {
      throw DomainError(
        .outOfBounds, path: "key",
        message: "expected a device of at most \(DomainBounds.nameBytesMax) bytes, found \(key.count)")
    }
    guard let device = String(validating: key, as: UTF8.self) else {
      throw DomainError(.invalidUTF8, path: "key", message: "not UTF-8; expected a device id")
    }
    try Registration.requireDevice(device, path: "key")
    return .forget(device: device)
  }

  // MARK: Log

  /// The destination of log records: whose they are, and the partitions that may get them.
  private struct Destination {
    var index: Int
    /// The only partitions to send to; nil for all.
    var partitions: Set<Int32>?
  }

  /// Appends device records to the device's partition, and events to every partition.
  ///
  /// - Parameters:
  ///   - index: The index of the source record in `underway`.
  ///   - only: The partitions to send to; nil for all that are concerned.
  private func append(
    _ record: LogRecord, of index: Int, to only: Set<Int32>?, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    buffer.removeAll(keepingCapacity: true)
    record.encode(into: &buffer)
    let arrival = underway[index].timestampMilliseconds.map { Timestamp(milliseconds: $0) }
    let destination = Destination(index: index, partitions: only)
    switch record.content {
    case .event(let event):
      for partition in 0..<partitions { try send(nil, to: partition, destination, time: event.time, producer) }
    case .registration(let registration):
      try send(registration.device, destination, time: registration.updatedAt, producer)
      for channel in registration.channels() { try append(channel: channel, destination, producer) }
    case .forget(let device): try send(device, destination, time: arrival, producer)
    case .signal(let signal): try send(signal.device, destination, time: signal.time, producer)
    // Intake decodes neither.
    case .policy, .tick: return
    }
  }

  /// Announces a broadcast channel to its own partition, unless it did so lately: thousands of devices name the same
  /// channel. The record has no origin, because repeating it changes nothing.
  private func append(
    channel: Registration, _ destination: Destination, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    guard let activity = channel.activities.first else { return }
    let seen = "\(activity.startedAt.microseconds) \(activity.kind) \(activity.interests)"
    // A channel that is sent again was in a batch that the broker refused.
    guard destination.partitions != nil || !channels.contains(source: channel.device, id: seen) else { return }
    channels.insert(source: channel.device, id: seen)
    buffer.removeAll(keepingCapacity: true)
    LogRecord(origin: nil, content: .registration(channel)).encode(into: &buffer)
    try send(channel.device, destination, time: channel.updatedAt, producer)
  }

  private func send(
    _ device: String, _ destination: Destination, time: Timestamp?, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    let partition = DevicePartitioner.partition(of: device, count: partitions)
    try send(device, to: partition, destination, time: time, producer)
  }

  /// Queues the record in `buffer`, unless the partition is not among those that lack it.
  private func send(
    _ key: String?, to partition: Int32, _ destination: Destination, time: Timestamp?, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    guard destination.partitions?.contains(partition) ?? true else { return }
    let bytes = buffer
    try producer.send(
      topic: settings.topics.log, partition: partition, key: key.map { Array($0.utf8) }, value: bytes, headers: [],
      timestampMilliseconds: settings.timestamps == .event ? time.map { max(1, $0.milliseconds) } : nil,
      tag: RecordTag.logRecord(destination.index).number)
  }
}
