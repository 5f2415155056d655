import CLibrdkafka

/// Counts the reports of produced messages. The delivery callback writes it; only the producer's thread uses it.
final class DeliveryLedger {
  private let failuresMax: Int
  private let keepsDeliveries: Bool

  private(set) var failures: [KafkaDeliveryFailure] = []
  private(set) var deliveries: [KafkaDelivery] = []
  private(set) var delivered: UInt64 = 0
  private(set) var failed: UInt64 = 0
  private(set) var purged: UInt64 = 0
  private(set) var sent: UInt64 = 0
  /// The number of messages without a report for each value of the lowest eight bits of their tags.
  private var waiting = [UInt64](repeating: 0, count: tagSlots)

  /// The number of different tags that ``waiting(tag:)`` tells apart.
  static let tagSlots = 256

  init(failuresMax: Int = 1000, keepsDeliveries: Bool = false) {
    self.failuresMax = failuresMax
    self.keepsDeliveries = keepsDeliveries
  }

  /// Counts messages that were taken into the queue.
  func took(_ count: Int, tag: UInt64) {
    sent &+= UInt64(count)
    waiting[Self.slot(tag)] &+= UInt64(count)
  }

  /// The number of messages without a report whose tag equals `tag` in the lowest eight bits.
  func waiting(tag: UInt64) -> UInt64 { waiting[Self.slot(tag)] }

  private static func slot(_ tag: UInt64) -> Int { Int(truncatingIfNeeded: tag) & (tagSlots - 1) }

  /// Returns the failures that have been recorded since the last call, and forgets them.
  func takeFailures() -> [KafkaDeliveryFailure] {
    guard !failures.isEmpty else { return [] }
    defer { failures = [] }
    return failures
  }

  /// Returns the deliveries that have been recorded since the last call, and forgets them.
  func takeDeliveries() -> [KafkaDelivery] {
    guard !deliveries.isEmpty else { return [] }
    defer { deliveries = [] }
    return deliveries
  }

  /// Records a delivery report, which is valid for the call.
  func record(_ message: UnsafePointer<rd_kafka_message_t>, callbacks: ClientCallbacks) {
    let code = unsafe KafkaErrorCode(message.pointee.err)
    // `_private` is the opaque value that the message was produced with: the tag, never a pointer.
    let tag = unsafe UInt64(UInt(bitPattern: message.pointee._private))
    waiting[Self.slot(tag)] &-= 1
    switch code {
    case .noError:
      delivered &+= 1
      if keepsDeliveries {
        // Both are set in the report of a message that was delivered.
        unsafe deliveries.append(
          KafkaDelivery(tag: tag, partition: message.pointee.partition, offset: message.pointee.offset))
      }
    case .purgedFromQueue, .purgedInFlight: purged &+= 1
    default:
      failed &+= 1
      guard failures.count < failuresMax else { return }
      // `rkt` is set in every report.
      let topic = unsafe callbacks.names.name(of: message.pointee.rkt)
      unsafe failures.append(failure(message, code, topic: topic, tag: tag))
    }
  }

  private func failure(
    _ message: UnsafePointer<rd_kafka_message_t>, _ code: KafkaErrorCode, topic: String, tag: UInt64
  ) -> KafkaDeliveryFailure {
    let partition = unsafe KafkaTopicPartition(topic: topic, partition: message.pointee.partition)
    let error = KafkaError(
      code: code, message: code.explanation, operation: "delivering a message to \(partition)",
      isFatal: code == .fatal || code == .fenced)
    return KafkaDeliveryFailure(partition: partition, tag: tag, error: error)
  }
}
