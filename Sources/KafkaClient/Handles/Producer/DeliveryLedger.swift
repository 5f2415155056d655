import CLibrdkafka

/// Counts the reports of produced messages. The delivery callback writes it; only the producer's thread uses it.
final class DeliveryLedger {
  private let failuresMax: Int
  private var handler: KafkaDeliveryHandler?

  private(set) var failures: [KafkaDelivery] = []
  private(set) var delivered: UInt64 = 0
  private(set) var failed: UInt64 = 0
  private(set) var purged: UInt64 = 0
  var sent: UInt64 = 0

  init(failuresMax: Int = 1000, handler: KafkaDeliveryHandler? = nil) {
    self.failuresMax = failuresMax
    self.handler = handler
  }

  /// Releases the handler.
  func letGo() {
    handler = nil
  }

  /// Takes the waiting failures.
  func takeFailures() -> [KafkaDelivery] {
    guard !failures.isEmpty else { return [] }
    defer { failures = [] }
    return failures
  }

  /// Records a delivery report, which is valid for the call.
  func record(_ message: UnsafePointer<rd_kafka_message_t>, callbacks: ClientCallbacks) {
    let code = unsafe KafkaErrorCode(message.pointee.err)
    switch code {
    case .noError: delivered &+= 1
    case .purgedFromQueue, .purgedInFlight: purged &+= 1
    default: failed &+= 1
    }
    guard handler != nil || code != .noError else { return }
    // `rkt` is set in every report. The name is read before the handler runs, so that the handler may call the producer.
    let topic = unsafe callbacks.names.name(of: message.pointee.rkt)
    let delivery = unsafe read(message, code, topic: topic)
    if code != .noError, code != .purgedFromQueue, code != .purgedInFlight, failures.count < failuresMax {
      failures.append(delivery)
    }
    handler?(delivery)
  }

  private func read(
    _ message: UnsafePointer<rd_kafka_message_t>, _ code: KafkaErrorCode, topic: String
  ) -> KafkaDelivery {
    // `_private` is the opaque value that the message was produced with: the tag, never a pointer.
    let partition = unsafe KafkaTopicPartition(topic: topic, partition: message.pointee.partition)
    let tag = unsafe UInt64(UInt(bitPattern: message.pointee._private))
    guard code != .noError else {
      return unsafe KafkaDelivery(
        partition: partition, offset: message.pointee.offset >= 0 ? message.pointee.offset : nil, tag: tag, error: nil)
    }
    let error = KafkaError(
      code: code, message: code.explanation, operation: "delivering a message to \(partition)",
      isFatal: code == .fatal || code == .fenced)
    return KafkaDelivery(partition: partition, offset: nil, tag: tag, error: error)
  }
}
