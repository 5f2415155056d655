import CLibrdkafka

/// Counts the reports of produced messages. The delivery callback writes it; only the producer's thread uses it.
final class DeliveryLedger {
  private let failuresMax: Int

  private(set) var failures: [KafkaDeliveryFailure] = []
  private(set) var delivered: UInt64 = 0
  private(set) var failed: UInt64 = 0
  private(set) var purged: UInt64 = 0
  var sent: UInt64 = 0

  init(failuresMax: Int = 1000) { self.failuresMax = failuresMax }

  /// Returns the failures that have been recorded since the last call, and forgets them.
  func takeFailures() -> [KafkaDeliveryFailure] {
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
    default:
      failed &+= 1
      guard failures.count < failuresMax else { return }
      // `rkt` is set in every report.
      let topic = unsafe callbacks.names.name(of: message.pointee.rkt)
      unsafe failures.append(failure(message, code, topic: topic))
    }
  }

  private func failure(
    _ message: UnsafePointer<rd_kafka_message_t>, _ code: KafkaErrorCode, topic: String
  ) -> KafkaDeliveryFailure {
    let partition = unsafe KafkaTopicPartition(topic: topic, partition: message.pointee.partition)
    let error = KafkaError(
      code: code, message: code.explanation, operation: "delivering a message to \(partition)",
      isFatal: code == .fatal || code == .fenced)
    // `_private` is the opaque value that the message was produced with: the tag, never a pointer.
    return unsafe KafkaDeliveryFailure(
      partition: partition, tag: UInt64(UInt(bitPattern: message.pointee._private)), error: error)
  }
}
