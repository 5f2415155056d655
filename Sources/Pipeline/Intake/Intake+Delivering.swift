import Domain
import KafkaClient
import Logging

/// The rules by which intake makes sure that a planner takes each record of a source topic once, and in order.
///
/// A planner drops a log record whose origin (source partition and offset) is not above the highest that it has seen.
/// So a log record must never reach a partition before an earlier record of the same source partition. A broker refuses
/// a whole batch for one bad record, and batches behind it may be in flight. Three things together keep the order:
///
/// - The producer is gapless (`enable.gapless.guarantee`): after a refused batch it sends nothing more.
/// - A broker refuses a batch in flight behind a gap, if it has taken a batch of that producer in that partition before.
///   So the first record to each partition is sent alone.
/// - After a refusal, a new producer sends the records of the batch again, each alone. Planners drop those that had
///   arrived. A record that is refused alone is bad itself, and becomes a dead letter.
extension Intake {
  /// Sends the records that wait, waits until the broker has confirmed everything in flight, then commits the offsets.
  ///
  /// - Parameter timeout: The longest wait. Records that have not arrived by then remain in flight.
  /// - Throws: `KafkaError` for a record that was not delivered, unless it was refused for its size, time or content.
  func deliver(timeout: Duration) throws(KafkaError) {
    guard let consumer else { return }
    let deadline = clock.elapsed + timeout
    repeat {
      guard let producer else { return }
      try sendNext(producer)
      let isFlushed = try producer.flush(timeout: max(.zero, deadline - clock.elapsed))
      let hasArrived = isFlushed && producer.counts.inFlight == 0
      // All failures of a record that was sent alone are taken together.
      if isCareful, !hasArrived { return }
      if try takeFailures(producer) { continue }
      guard hasArrived else { return }
      try requireNoneDiscarded(producer)
      if let alone = underway.alone {
        known.formUnion(alone.partitions)
        underway.alone = nil
      }
    } while underway.next < underway.messages.count && clock.elapsed < deadline
    guard underway.next == underway.messages.count, underway.alone == nil else { return }
    guard try deliverLetters(timeout: max(.zero, deadline - clock.elapsed)) else { return }
    let done = underway.messages
    underway = IntakeBatch()
    if isCareful { try useProducer(careful: false) }
    try commit(done, consumer)
  }

  /// Handles the deliveries to the log that failed.
  ///
  /// - Parameter producer: The producer of the log.
  /// - Returns: Whether records were refused for their size, time or content.
  /// - Throws: `KafkaError` of any other failure.
  private func takeFailures(_ producer: any ClusterProducer) throws(KafkaError) -> Bool {
    let errors = producer.takeDeliveryFailures().map(\.error)
    guard let first = errors.first else { return false }
    guard let refusal = errors.first(where: \.code.refusesRecord) else { throw first }
    if isCareful, let index = underway.alone?.index {
      underway.alone = nil
      try refuse(index, reason: DeadLetter.refused, text: refusal.description)
    } else {
      logger.warning(
        "the broker refused a batch of log records; its records are sent again, one by one",
        metadata: ["error": "\(refusal)"])
      try useProducer(careful: true)
      underway.next = 0
      underway.alone = nil
    }
    return true
  }

  /// Checks that the producer discarded nothing, as it does when it has failed for good.
  ///
  /// - Throws: The fatal `KafkaError` of the producer.
  private func requireNoneDiscarded(_ producer: any ClusterProducer) throws(KafkaError) {
    guard producer.counts.purged > 0 else { return }
    try producer.poll(timeout: .zero)
    throw KafkaError(
      code: .gaplessGuarantee, message: "the producer discarded records", operation: "producing to the log",
      isFatal: true)
  }

  private func commit(_ messages: [KafkaMessage], _ consumer: any ClusterConsumer) throws(KafkaError) {
    var last: [KafkaTopicPartition: KafkaMessage] = [:]
    for message in messages { last[message.topicPartition] = message }
    // A commit that fails during a rebalance is covered by the next one. Records that are read again meanwhile are dropped by
    // their origin.
    try consumer.commitInBackground(
      last.sorted { $0.key < $1.key }.map { _, message in
        KafkaCommittedOffset(message.nextPosition, metadata: generations.mark(of: message).text)
      })
  }
}
