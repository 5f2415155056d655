import Domain
import KafkaClient
import Logging

extension Intake {
  // MARK: Dead letters

  /// Makes a dead letter of a record, unless it has one.
  ///
  /// - Parameters:
  ///   - index: The index of the record in `underway`.
  ///   - reason: The code of the reason.
  ///   - text: The reason in words.
  ///   - producer: The producer of the dead letters.
  /// - Throws: `KafkaError` of the producer.
  func refuse(_ index: Int, reason: String, text: String, _ producer: any ClusterProducer) throws(KafkaError) {
    guard letters[index] == nil else { return }
    let letter = DeadLetter(underway[index], reason: reason, text: text)
    letters[index] = letter
    counters.add(.deadLetters)
    try send(letter, of: index, producer)
  }

  private func send(_ letter: DeadLetter, of index: Int, _ producer: any ClusterProducer) throws(KafkaError) {
    do throws(KafkaError) {
      try producer.send(
        topic: settings.topics.deadLetters, partition: nil, key: letter.key, value: letter.value,
        headers: letter.headers, timestampMilliseconds: nil, tag: RecordTag.letter(index).number)
    } catch {
      guard error.code.refusesRecord else { throw error }
      try sendSmaller(index, after: error, producer)
    }
  }

  /// Sends the next smaller form of a dead letter that was refused. If there is none, the record stays in its topic alone.
  private func sendSmaller(
    _ index: Int, after error: KafkaError, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    guard let letter = letters[index] else { return }
    guard let smaller = letter.smaller else {
      counters.add(.deadLettersRefused)
      logger.critical(
        "a record could not be accepted, and the broker refuses its dead letter; the record is passed over and stays in its topic alone",
        metadata: [
          "place": "\(letter.message.topicPartition)@\(letter.message.offset)", "reason": "\(letter.reason)",
          "error": "\(error)",
        ])
      return
    }
    letters[index] = smaller
    try send(smaller, of: index, producer)
  }

  // MARK: Delivery

  /// Waits until everything that is under way has arrived, then commits the offsets.
  ///
  /// - Parameter timeout: The longest wait. What has not arrived by then stays under way.
  /// - Throws: `KafkaError` for a record that was not delivered, unless it was refused for its size, time or content.
  func deliver(timeout: Duration) throws(KafkaError) {
    guard let producer, let consumer else { return }
    let isFlushed = try producer.flush(timeout: timeout)
    try takeFailures(producer)
    guard isFlushed, producer.counts.inFlight == 0 else { return }
    if let (index, partitions) = refused.min(by: { $0.key < $1.key }) {
      // One record at a time: what is refused then is bad itself.
      refused[index] = nil
      alone = index
      return try appendAgain(index, to: partitions, producer)
    }
    let done = underway
    underway = []
    letters = [:]
    alone = nil
    try commit(done, consumer)
  }

  /// Deals with deliveries that failed. A broker refuses a whole batch for one bad record, so log records that were refused in
  /// company are sent again, each alone.
  private func takeFailures(_ producer: any ClusterProducer) throws(KafkaError) {
    let failures = producer.takeDeliveryFailures()
    failuresTaken += UInt64(failures.count)
    guard failuresTaken == producer.counts.failed else {
      throw KafkaError(
        code: .queueFull, message: "more deliveries failed than are kept", operation: "delivering to the log",
        isRetriable: true)
    }
    for failure in failures {
      guard let error = failure.error else { continue }
      guard error.code.refusesRecord else { throw error }
      switch RecordTag(number: failure.tag) {
      case .letter(let index): try sendSmaller(index, after: error, producer)
      case .logRecord(let index) where index == alone:
        try refuse(index, reason: DeadLetter.refused, text: error.description, producer)
      case .logRecord(let index): refused[index, default: []].insert(failure.partition.partition)
      }
    }
  }

  private func commit(_ messages: [KafkaMessage], _ consumer: any ClusterConsumer) throws(KafkaError) {
    var next: [KafkaTopicPartition: Int64] = [:]
    for message in messages {
      next[message.topicPartition] = max(next[message.topicPartition] ?? 0, message.offset + 1)
    }
    // The next commit makes up for one that fails during a rebalance. Records that are read again meanwhile are dropped by
    // their origin.
    try consumer.commitInBackground(next.sorted { $0.key < $1.key }.map { KafkaPosition($0.key, offset: $0.value) })
  }
}
