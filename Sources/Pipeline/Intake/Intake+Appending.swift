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
    for message in messages {
      let record: LogRecord
      do throws(DomainError) {
        guard let accepted = try decode(message) else { continue }
        record = accepted
      } catch {
        letters.append((message, error))
        try send(letter: letters.count - 1, producer)
        counters.add(.deadLetters)
        continue
      }
      try append(record, arrival: message.timestampMilliseconds.map { Timestamp(milliseconds: $0) }, producer)
    }
  }

  // MARK: Decoding

  /// Decodes a record of a public topic.
  ///
  /// - Returns: The log record; nil for an event that was accepted before.
  /// - Throws: `DomainError` for a record that cannot be accepted.
  private func decode(_ message: KafkaMessage) throws(DomainError) -> LogRecord? {
    let origin = Origin(topic: message.topic, partition: message.partition, offset: message.offset)
    if message.topic == settings.topics.devices {
      let content = try decodeDevice(message)
      counters.add(.registrationsAccepted)
      return LogRecord(origin: origin, content: content)
    }
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0))
    if message.topic == settings.topics.signals {
      let signal = try signals.decode(record)
      try Registration.requireDevice(signal.device, path: "$.data.device")
      counters.add(.signalsAccepted)
      return LogRecord(origin: origin, content: .signal(signal))
    }
    let event = try events.decode(record)
    if window.contains(source: event.source, id: event.id) {
      counters.add(.duplicatesDropped)
      return nil
    }
    window.insert(source: event.source, id: event.id)
    counters.add(.eventsAccepted)
    return LogRecord(origin: origin, content: .event(event))
  }

  private func decodeDevice(_ message: KafkaMessage) throws(DomainError) -> LogRecord.Content {
    if let value = message.value { return .registration(try registrations.decode(value, key: message.key)) }
    guard let key = message.key, !key.isEmpty else {
      throw DomainError(.missingField, path: "key", message: "missing; a tombstone needs the device as its key")
    }
    guard let device = String(validating: key, as: UTF8.self).map({ Identifier($0) }) else {
      throw DomainError(.invalidUTF8, path: "key", message: "not UTF-8; expected a device id")
    }
    try Registration.requireDevice(device, path: "key")
    return .forget(device: device)
  }

  // MARK: Log

  /// Appends device records to the device's partition, and events to every partition.
  private func append(_ record: LogRecord, arrival: Timestamp?, _ producer: any ClusterProducer) throws(KafkaError) {
    buffer.removeAll(keepingCapacity: true)
    record.encode(into: &buffer)
    switch record.content {
    case .event(let event):
      for partition in 0..<partitions { try send(nil, to: partition, time: event.time, producer) }
    case .registration(let registration):
      try send(registration.device, time: registration.updatedAt, producer)
      for channel in registration.channels() { try append(channel: channel, producer) }
    case .forget(let device): try send(device, time: arrival, producer)
    case .signal(let signal): try send(signal.device, time: signal.time, producer)
    // Intake decodes neither.
    case .policy, .tick: return
    }
  }

  /// Appends the registration of a broadcast channel to the channel's partition, unless it did so recently: thousands of devices name the same
  /// channel. The record has no origin, because repeating it changes nothing.
  private func append(channel: Registration, _ producer: any ClusterProducer) throws(KafkaError) {
    guard let activity = channel.activities.first else { return }
    let seen: Identifier = "\(activity.startedAt.microseconds) \(activity.kind) \(activity.interests)"
    guard !channels.contains(source: channel.device, id: seen) else { return }
    channels.insert(source: channel.device, id: seen)
    buffer.removeAll(keepingCapacity: true)
    LogRecord(origin: nil, content: .registration(channel)).encode(into: &buffer)
    try send(channel.device, time: channel.updatedAt, producer)
  }

  private func send(_ device: Identifier, time: Timestamp?, _ producer: any ClusterProducer) throws(KafkaError) {
    try send(device, to: DevicePartitioner.partition(of: device, count: partitions), time: time, producer)
  }

  /// Queues the record in `buffer`.
  private func send(
    _ key: Identifier?, to partition: Int32, time: Timestamp?, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    let bytes = buffer
    try producer.send(
      topic: settings.topics.log, partition: partition, key: key.map { Array($0.utf8) }, value: bytes, headers: [],
      timestampMilliseconds: settings.timestamps == .event ? time.map { max(1, $0.milliseconds) } : nil, tag: 0)
  }
}
