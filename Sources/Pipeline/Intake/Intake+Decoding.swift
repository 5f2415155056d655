import Domain
import KafkaClient

extension Intake {
  /// Decodes a record of a public topic.
  ///
  /// - Parameters:
  ///   - message: The record.
  ///   - generation: The generation of its source partition when it was read.
  /// - Returns: The log record, with the place of the source record as its origin.
  /// - Throws: `DomainError` for a record that cannot be accepted.
  func decode(_ message: KafkaMessage, generation: Int64) throws(DomainError) -> LogRecord {
    try message.requireBounds()
    let record = try decodeContent(message, generation)
    switch record.content {
    case .event(let event): try require(event.time, path: "time")
    case .registration(let registration): try require(registration.updatedAt, path: "$.updatedAt")
    case .signal(let signal): try require(signal.time, path: "time")
    case .forget, .policy, .tick: break
    }
    return record
  }

  /// Checks that a time is not before 1970, and not far ahead of this machine's clock.
  private func require(_ time: Timestamp, path: String) throws(DomainError) {
    guard time >= DomainBounds.earliestTime else {
      throw DomainError(
        .outOfBounds, path: path, message: "expected a time from \(DomainBounds.earliestTime) on, found \(time)")
    }
    let latest = now + DomainBounds.aheadMax
    guard time <= latest else {
      throw DomainError(
        .outOfBounds, path: path,
        message:
          "expected a time at most \(DomainBounds.aheadMax.microseconds / 3_600_000_000) h ahead of intake's clock, until \(latest), found \(time)"
      )
    }
  }

  private func decodeContent(_ message: KafkaMessage, _ generation: Int64) throws(DomainError) -> LogRecord {
    let origin = Origin(
      topic: message.topic, partition: message.partition, offset: message.offset, generation: generation)
    if message.topic == settings.topics.devices {
      let content = try decodeDevice(message)
      return LogRecord(origin: origin, content: content)
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
    guard let device = String(validating: key, as: UTF8.self).map({ Identifier($0) }) else {
      throw DomainError(.invalidUTF8, path: "key", message: "not UTF-8; expected a device id")
    }
    try Registration.requireDevice(device, path: "key")
    return .forget(device: device)
  }

  /// Counts a decoded record, and remembers the id if it is an event.
  ///
  /// - Parameter record: The log record.
  /// - Returns: Whether the record is to be appended to the log; false for an event that was accepted before.
  func accept(_ record: LogRecord) -> Bool {
    switch record.content {
    case .event(let event):
      guard window.insert(source: event.source, id: event.id) else {
        counters.add(.duplicatesDropped)
        return false
      }
      eventsAccepted += 1
    case .registration, .forget: counters.add(.registrationsAccepted)
    case .signal: counters.add(.signalsAccepted)
    // Intake decodes neither.
    case .policy, .tick: break
    }
    return true
  }
}
