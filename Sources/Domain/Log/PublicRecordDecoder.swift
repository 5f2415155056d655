/// Decodes records of the public topics: domain events, registrations, tombstones of devices, and signals.
///
/// Intake and the HTTP gateway both use it, so the gateway refuses a record exactly when intake would make a dead letter of it, and in
/// the same words. A decoder keeps its buffers for the next record, so every thread needs its own.
public final class PublicRecordDecoder {
  /// The sorts of public topics.
  public enum TopicSort: Sendable {
    /// A topic with domain events.
    case events
    /// The topic of registrations.
    case devices
    /// The topic of signals.
    case signals
  }

  private let events = CloudEventDecoder()
  private let registrations = RegistrationDecoder()
  private let signals = SignalDecoder()

  /// Creates a decoder.
  public init() {}

  /// Decodes a record.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - source: The sort of the topic that the record is on.
  ///   - now: The wall clock. A time far ahead of it is refused.
  /// - Returns: An event, a registration, a removal of a device, or a signal.
  /// - Throws: `DomainError` for a record that cannot be accepted.
  public func decode(
    _ record: CloudEventRecord, from source: TopicSort, now: Timestamp
  ) throws(DomainError) -> LogRecord.Content {
    try record.requireBounds()
    switch source {
    case .events:
      let event = try events.decode(record)
      try require(event.time, path: "time", now)
      return .event(event)
    case .devices:
      let content = try device(record)
      if case .registration(let registration) = content {
        try require(registration.updatedAt, path: "$.updatedAt", now)
      }
      return content
    case .signals:
      let signal = try signals.decode(record)
      try Registration.requireDevice(signal.device, path: "$.data.device")
      try require(signal.time, path: "time", now)
      return .signal(signal)
    }
  }

  private func device(_ record: CloudEventRecord) throws(DomainError) -> LogRecord.Content {
    if let value = record.value { return .registration(try registrations.decode(value, key: record.key)) }
    guard let key = record.key, !key.isEmpty else {
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

  /// Checks that a time is not before 1970, and not far ahead of this machine's clock.
  private func require(_ time: Timestamp, path: String, _ now: Timestamp) throws(DomainError) {
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
}

extension CloudEventRecord {
  /// The bytes of all headers, as `DomainBounds.headersBytesMax` counts them.
  private var headersBytes: Int {
    headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + DomainBounds.headerOverheadBytes }
  }

  /// Checks the bounds of key and headers. Decoders check the value.
  ///
  /// - Throws: `DomainError` with the code `tooLarge`, which names the bound.
  fileprivate func requireBounds() throws(DomainError) {
    let keyBytes = key?.count ?? 0
    guard keyBytes <= DomainBounds.keyBytesMax else {
      throw DomainError(
        .tooLarge, path: "key",
        message: "expected a key of at most \(DomainBounds.keyBytesMax) bytes, found \(keyBytes)")
    }
    guard headersBytes <= DomainBounds.headersBytesMax else {
      throw DomainError(
        .tooLarge, path: "headers",
        message: "expected headers of at most \(DomainBounds.headersBytesMax) bytes in all, found \(headersBytes)")
    }
  }
}
