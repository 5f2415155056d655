import KafkaClient
import Logging

extension Intake {
  /// Makes and sends the dead letter of a record, unless the record has one already.
  ///
  /// - Parameters:
  ///   - index: The index of the record in the batch.
  ///   - reason: The code of the reason.
  ///   - text: The reason in words.
  /// - Throws: `KafkaError` of the producer of dead letters.
  func refuse(_ index: Int, reason: String, text: String) throws(KafkaError) {
    guard underway.letters[index] == nil else { return }
    let letter = DeadLetter(underway.messages[index], reason: reason, text: text)
    underway.letters[index] = letter
    counters.add(.deadLetters)
    try send(letter, of: index)
  }

  private func send(_ letter: DeadLetter, of index: Int) throws(KafkaError) {
    let producer = try letterProducer()
    do throws(KafkaError) {
      try producer.send(letter.record(for: settings.topics.deadLetters, tag: UInt64(index)))
    } catch {
      guard error.code.refusesRecord else { throw error }
      try sendSmaller(index, after: error)
    }
  }

  /// Sends the next smaller form of a dead letter that was refused. If there is none, the record is passed over.
  private func sendSmaller(_ index: Int, after error: KafkaError) throws(KafkaError) {
    guard let letter = underway.letters[index] else { return }
    guard let smaller = letter.smaller else {
      counters.add(.deadLettersRefused)
      logger.critical(
        "a record could not be accepted, and the broker refuses its dead letter; the record is passed over, and only its own topic has it",
        metadata: [
          "place": "\(letter.message.topicPartition)@\(letter.message.offset)", "reason": "\(letter.reason)",
          "error": "\(error)",
        ])
      return
    }
    underway.letters[index] = smaller
    try send(smaller, of: index)
  }

  /// Waits until the dead letters in flight have arrived. A letter that the broker refuses is sent again in a smaller form.
  ///
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether all have arrived.
  /// - Throws: `KafkaError` for a letter that was not delivered, unless it was refused for its size, time or content.
  func deliverLetters(timeout: Duration) throws(KafkaError) -> Bool {
    guard let producer = letterProducerIfAny else { return true }
    let isFlushed = try producer.flush(timeout: timeout)
    for failure in producer.takeDeliveryFailures() {
      guard failure.error.code.refusesRecord else { throw failure.error }
      try sendSmaller(Int(failure.tag), after: failure.error)
    }
    return isFlushed && producer.counts.inFlight == 0
  }
}
