import Domain
import Installation
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
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0))
    let origin = Origin(
      topic: message.topic, partition: message.partition, offset: message.offset, generation: generation)
    return LogRecord(
      origin: origin, content: try decoder.decode(record, from: settings.topics.publicSort(of: message.topic), now: now)
    )
  }

  /// Counts a decoded record, and remembers the id if it is an event.
  ///
  /// - Parameters:
  ///   - record: The log record.
  ///   - isReplayed: Whether a dead letter was made of the record before. What became of it then is not known here, so it is no repeat; a
  ///     planner knows.
  /// - Returns: Whether the record is to be appended to the log; false for an event or a signal that was accepted before.
  func accept(_ record: LogRecord, isReplayed: Bool) -> Bool {
    switch record.content {
    case .event(let event):
      guard events.insert(source: event.source, id: event.id) || isReplayed else {
        counters.addDuplicate(.event)
        return false
      }
      eventsAccepted += 1
    case .registration, .forget: counters.add(.registrationsAccepted)
    case .signal(let signal):
      guard signals.insert(signal) || isReplayed else {
        counters.addDuplicate(.signal)
        return false
      }
      counters.add(.signalsAccepted)
    // Intake decodes neither.
    case .policy, .claims, .tick: break
    }
    return true
  }
}
