import Domain
import Installation
import KafkaClient

/// A record that was not accepted, on its way to the dead letters.
///
///     whole ── does not fit ──► without value ── does not fit ──► cut ── refused ──► the record stays in its topic alone
struct DeadLetter {
  /// The parts of the refused record that a letter contains.
  enum Extent {
    /// Key, value and headers.
    case whole
    /// Key and headers. The added headers name the place of the original record, where its value still is.
    case withoutValue
    /// Only the beginning of the key. So the size of the letter is bounded.
    case cut
  }

  /// The record that was not accepted.
  let message: KafkaMessage
  /// The code of the reason, such as `WRONG_TYPE`.
  let reason: String
  /// The reason in words, at most `textBytesMax` bytes.
  let text: String
  private(set) var extent = Extent.whole

  /// The reason code of an event with a number that a rule reads and that has more than 64 bits.
  static let inexactNumber = DomainError.Code.inexactNumber.rawValue
  /// The codes of the reasons of records of public topics.
  static let publicReasons =
    DomainError.Code.allCases.map(\.rawValue).filter { $0 != inexactNumber } + [DeadLetterReason.refused]
  /// The codes of the reasons of records of the log.
  static let logReasons = [DeadLetterReason.setAside, DeadLetterReason.unreadableLogRecord, inexactNumber]
  /// The codes of all reasons.
  static let reasons = publicReasons + logReasons

  /// The sort of a record that was not accepted, as metrics name it.
  enum RecordSort: String, CaseIterable {
    case event, registration, signal, log
  }

  /// Returns the sort of the record that was not accepted.
  ///
  /// - Parameter names: The names of the topics.
  func sort(_ names: TopicNames) -> RecordSort {
    if message.topic == names.log { return .log }
    return switch names.publicSort(of: message.topic) {
    case .events: .event
    case .devices: .registration
    case .signals: .signal
    }
  }

  /// Makes the letter of a log record that is not planned, because the broker refused its output too often.
  ///
  /// - Parameters:
  ///   - message: The record of the log.
  ///   - origin: The place of the public record that the log record was made from; nil if it has none.
  static func setAside(_ message: KafkaMessage, from origin: Origin?) -> DeadLetter {
    let place = origin.map { "; it came from \($0)" } ?? ""
    return DeadLetter(
      message, reason: DeadLetterReason.setAside,
      text:
        "what follows from this record was refused \(RefusalWatch.failuresMax) times by the broker, so the record was not planned\(place)"
    )
  }

  /// Makes the letter of an event of the log with a number that is not exact.
  ///
  /// - Parameters:
  ///   - message: The record of the log.
  ///   - field: The path of the number.
  static func inexactNumber(_ message: KafkaMessage, field: Identifier) -> DeadLetter {
    var place = ""
    do throws(BinaryError) {
      let record = try LogRecord(bytes: message.value ?? [])
      if let origin = record.origin { place = "; it came from \(origin)" }
    } catch { place = "" }  // Only a record that was read is planned.
    return DeadLetter(message, reason: inexactNumber, text: "\(DomainError.inexactNumber(at: field))\(place)")
  }

  /// The most bytes of the reason in words. The reason may quote input of any length.
  private static let textBytesMax = 1024
  /// The bytes that a letter keeps of a key that is too long: enough for the id of a device.
  private static let keyBytesKept = DomainBounds.nameBytesMax
  /// The size of a letter, in bytes, up to which any topic is expected to accept it: below Kafka's default limit of
  /// 1,048,588 bytes, with room for the added headers.
  private static let safeBytesMax = 900_000

  /// Makes a letter that contains the whole record.
  ///
  /// - Parameters:
  ///   - message: The record that was not accepted.
  ///   - reason: The code of the reason.
  ///   - text: The reason in words; cut if it is long.
  init(_ message: KafkaMessage, reason: String, text: String) {
    self.message = message
    self.reason = reason
    self.text = String(decoding: text.utf8.prefix(Self.textBytesMax), as: UTF8.self)
  }

  /// The letter with the next smaller extent; nil if the extent is `cut` already.
  var smaller: DeadLetter? {
    var letter = self
    switch extent {
    case .whole: letter.extent = message.value?.isEmpty ?? true ? .cut : .withoutValue
    case .withoutValue: letter.extent = .cut
    case .cut: return nil
    }
    return letter
  }

  /// The letter, made so small that any topic is expected to accept it. A transaction needs this, because one refused
  /// record makes all of it fail.
  var safe: DeadLetter {
    var letter = self
    while letter.bytes > Self.safeBytesMax, let smaller = letter.smaller { letter = smaller }
    return letter
  }

  private var bytes: Int { (key?.count ?? 0) + (value?.count ?? 0) + message.headersBytes }

  /// The key of the letter: the key of the record, or its beginning.
  var key: [UInt8]? { extent == .cut ? message.key.map { Array($0.prefix(Self.keyBytesKept)) } : message.key }

  /// The value of the letter; empty if it is left out, nil if the record has none.
  var value: [UInt8]? { extent == .whole ? message.value : message.value.map { _ in [] } }

  /// Returns the record that carries the letter.
  ///
  /// - Parameters:
  ///   - topic: The topic of dead letters.
  ///   - tag: A number that a report of a failed delivery returns, so that the sender knows the letter again.
  func record(for topic: String, tag: UInt64 = 0) -> KafkaRecord {
    KafkaRecord(topic: topic, key: key, value: value, headers: headers, tag: tag)
  }

  /// The original headers as far as they fit, followed by the reason, the origin, and the sizes of what is left out.
  var headers: [KafkaHeader] {
    var headers = extent == .cut ? [] : message.headers
    headers.append(KafkaHeader(DeadLetterHeaders.reason, reason))
    headers.append(KafkaHeader(DeadLetterHeaders.message, text))
    headers.append(KafkaHeader(DeadLetterHeaders.originTopic, message.topic))
    headers.append(KafkaHeader(DeadLetterHeaders.originPartition, "\(message.partition)"))
    headers.append(KafkaHeader(DeadLetterHeaders.originOffset, "\(message.offset)"))
    if let timestamp = message.timestampMilliseconds {
      headers.append(KafkaHeader(DeadLetterHeaders.originTimestamp, "\(timestamp)"))
    }
    if extent != .whole, let value = message.value {
      headers.append(KafkaHeader(DeadLetterHeaders.truncated, "\(value.count)"))
    }
    if extent == .cut {
      if let key = message.key, key.count > Self.keyBytesKept {
        headers.append(KafkaHeader(DeadLetterHeaders.truncatedKey, "\(key.count)"))
      }
      if !message.headers.isEmpty {
        headers.append(KafkaHeader(DeadLetterHeaders.truncatedHeaders, "\(message.headers.count)"))
      }
    }
    return headers
  }
}

extension KafkaMessage {
  /// The bytes of all headers, as `DomainBounds.headersBytesMax` counts them.
  var headersBytes: Int {
    headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + DomainBounds.headerOverheadBytes }
  }
}
