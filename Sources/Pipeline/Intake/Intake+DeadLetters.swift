import Installation
import KafkaClient
import Logging

extension Intake {
  /// Makes and sends the dead letter of a record, unless the record has one already.
  ///
  /// - Parameters:
  ///   - index: The index of the record in its batch.
  ///   - batch: The index of the batch.
  ///   - reason: The code of the reason.
  ///   - text: The reason in words.
  /// - Throws: `KafkaError` of the producer of dead letters.
  func refuse(_ index: Int, of batch: Int, reason: String, text: String) throws(KafkaError) {
    guard underway.list[batch].letters[index] == nil else { return }
    let letter = DeadLetter(underway.list[batch].messages[index], reason: reason, text: text)
    underway.list[batch].letters[index] = letter
    counters.add(letter, settings.topics)
    try send(letter, of: index, in: batch)
  }

  private func send(_ letter: DeadLetter, of index: Int, in batch: Int) throws(KafkaError) {
    let producer = try letterProducer()
    do throws(KafkaError) {
      let tag = LetterTag(index: index, batch: underway.list[batch].number)
      try producer.send(letter.record(for: settings.topics.deadLetters, tag: tag.rawValue))
    } catch {
      guard error.code.refusesRecord else { throw error }
      try sendSmaller(index, in: batch, after: error)
    }
  }

  /// Sends the next smaller form of a dead letter that was refused. If there is none, the record is passed over.
  private func sendSmaller(_ index: Int, in batch: Int, after error: KafkaError) throws(KafkaError) {
    guard let letter = underway.list[batch].letters[index] else { return }
    guard let smaller = letter.smaller else {
      counters.add(.deadLettersRefused)
      logger.report(
        .deadLetterRefused,
        metadata: [
          "place": "\(letter.message.topicPartition)@\(letter.message.offset)", "reason": "\(letter.reason)",
          "error": "\(error)",
        ])
      return
    }
    underway.list[batch].letters[index] = smaller
    try send(smaller, of: index, in: batch)
  }

  /// Waits until the dead letters in flight have arrived. A letter that the broker refuses is sent again in a smaller form.
  ///
  /// - Parameter timeout: The longest wait; zero only takes what has arrived.
  /// - Throws: `KafkaError` for a letter that was not delivered, unless it was refused for its size or content.
  func takeLetterReports(timeout: Duration) throws(KafkaError) {
    guard let producer = letterProducerIfAny, producer.counts.inFlight > 0 else { return }
    if timeout > .zero { _ = try producer.flush(timeout: timeout) } else { try producer.poll(timeout: .zero) }
    for failure in producer.takeDeliveryFailures() {
      guard failure.error.code.refusesRecord else { throw failure.error }
      let tag = LetterTag(rawValue: failure.tag)
      guard let batch = underway.list.firstIndex(where: { tag.isOf($0.number) }) else { continue }
      try sendSmaller(tag.index, in: batch, after: failure.error)
    }
  }
}

/// The tag of a dead letter in delivery reports. Its lowest eight bits are the lowest eight of its batch's number: by them the
/// producer counts the letters of each batch that are in flight.
struct LetterTag: RawRepresentable {
  let rawValue: UInt64

  /// Takes a tag from a report.
  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes the tag of a record's letter.
  ///
  /// - Parameters:
  ///   - index: The index of the record in its batch.
  ///   - batch: The number of the batch.
  init(index: Int, batch: UInt64) { rawValue = UInt64(index) << 8 | batch & 0xff }

  /// The index of the record in its batch.
  var index: Int { Int(rawValue >> 8) }

  /// Whether the letter is of the batch with a number, among fewer than 256 batches in a row.
  func isOf(_ batch: UInt64) -> Bool { (rawValue ^ batch) & 0xff == 0 }
}
