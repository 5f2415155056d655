import Domain
import KafkaClient

extension Intake {
  /// Sends a dead letter. If the client refuses its size, the letter is sent without its value: the origin in the headers says
  /// where the value is.
  ///
  /// - Parameters:
  ///   - index: The index in `letters`.
  ///   - whole: Whether to send the value.
  ///   - producer: The producer of the dead letters.
  /// - Throws: `KafkaError` of the producer.
  func send(letter index: Int, whole: Bool = true, _ producer: any ClusterProducer) throws(KafkaError) {
    let (message, error) = letters[index]
    var headers = DeadLetterHeaders.make(for: message, reason: error.code.rawValue, text: error.description)
    if !whole { headers.append(KafkaHeader(DeadLetterHeaders.truncated, "\(message.value?.count ?? 0)")) }
    do throws(KafkaError) {
      try producer.send(
        topic: settings.topics.deadLetters, partition: nil, key: message.key, value: whole ? message.value : [],
        headers: headers, timestampMilliseconds: nil, tag: UInt64(index + 1))
    } catch {
      guard whole, error.code == .messageTooLarge else { throw error }
      try send(letter: index, whole: false, producer)
    }
  }

  /// Waits until all records in flight have arrived, then commits the offsets.
  ///
  /// - Parameter timeout: The longest wait. Records that have not arrived by then remain in flight.
  /// - Throws: `KafkaError` for a record that was not delivered.
  func deliver(timeout: Duration) throws(KafkaError) {
    guard let producer, let consumer else { return }
    let isFlushed = try producer.flush(timeout: timeout)
    for failure in producer.takeDeliveryFailures() {
      guard let error = failure.error else { continue }
      guard failure.tag > 0, error.code == .messageTooLarge else { throw error }
      try send(letter: Int(failure.tag) - 1, whole: false, producer)
    }
    guard isFlushed, producer.counts.inFlight == 0 else { return }
    let done = underway
    underway = []
    letters = []
    try commit(done, consumer)
  }

  private func commit(_ messages: [KafkaMessage], _ consumer: any ClusterConsumer) throws(KafkaError) {
    var next: [KafkaTopicPartition: Int64] = [:]
    for message in messages {
      next[message.topicPartition] = max(next[message.topicPartition] ?? 0, message.offset + 1)
    }
    // A commit that fails during a rebalance is covered by the next one. Records that are read again meanwhile are dropped by
    // their origin.
    try consumer.commitInBackground(next.sorted { $0.key < $1.key }.map { KafkaPosition($0.key, offset: $0.value) })
  }
}
