import Domain
import Installation
import KafkaClient
import Logging

/// The rules by which intake makes sure that a planner takes each record of a source topic once, and in order.
///
/// A planner drops a log record whose origin (source partition and offset) is not above the highest that it has seen.
/// So a log record must never reach a partition before an earlier record of the same source partition. A broker refuses
/// a whole batch of the producer for one bad record, and batches behind it may be in flight. Three things together keep
/// the order:
///
/// - The producer is gapless (`enable.gapless.guarantee`): after a refused batch it sends nothing more.
/// - A broker refuses a batch in flight behind a gap, if it has taken a batch of that producer in that partition before.
///   So the first record to each partition is sent alone.
/// - After a refusal, a new producer sends all records under way again: those of the oldest batches, up to the last one
///   with a refused record, each alone; then a gapless producer sends the rest together. Planners drop those that had
///   arrived. A record that is refused alone is bad itself, and becomes a dead letter.
///
/// At any moment the records that one producer has brought to a log partition are the first ones of those that it was
/// given, without a gap, and a new producer begins at the oldest record that is not confirmed. So whatever still arrives
/// from the old producer, the records in the partition stay without a gap.
///
/// Several batches are under way at once. Each log record carries the number of its batch as its tag, and the producer
/// counts the records in flight by tag. A batch is done when all of its records were sent, none of them is in flight,
/// none failed, and its dead letters have arrived. Batches leave from the oldest on, so offsets never pass a record that
/// is not delivered. A crash at any moment loses nothing: what was not committed is read and appended again.
extension Intake {
  /// The time between two commits while batches are under way. Each commit is a request to the group's coordinator.
  private static let commitInterval = Duration.milliseconds(50)
  /// The longest wait for deliveries when few records come. After it, intake looks for further records.
  private static let idleWait = Duration.milliseconds(20)
  /// The longest wait for one delivery report.
  private static let reportWait = Duration.milliseconds(10)
  /// The longest wait for the reports of a producer that has ended.
  private static let endWait = Duration.seconds(1)

  /// Sends the records that wait, takes delivery reports, and commits the offsets of the oldest batches that are
  /// delivered. Waits as long as no further batch is to be read.
  ///
  /// - Parameters:
  ///   - timeout: The longest wait. Records that have not arrived by then remain in flight.
  ///   - isBacklogged: Whether more source records are known to be there, so that it need not wait for deliveries when
  ///     there is room for another batch.
  /// - Throws: `KafkaError` for a record that was not delivered, unless it was refused itself.
  func deliver(timeout: Duration, isBacklogged: Bool = false) throws(KafkaError) {
    guard consumer != nil else { return }
    let deadline = clock.elapsed + timeout
    repeat {
      guard let producer else { return }
      let outcome = try sendNext(producer)
      try awaitReports(producer, outcome, until: deadline, isBacklogged)
      // All failures of a record that was sent alone are taken together.
      if isCareful, producer.counts.inFlight > 0 { continue }
      if try !takeFailures(producer) {
        try requireNoneDiscarded(producer)
        if producer.counts.inFlight == 0, let alone = underway.alone {
          known.formUnion(alone.partitions)
          underway.alone = nil
        }
      }
      let isIdle = outcome == .everything && !isBacklogged
      try takeLetterReports(
        timeout: isIdle || isCareful ? min(Self.idleWait, max(.zero, deadline - clock.elapsed)) : .zero)
      try finishBatches()
    } while underway.isFull(settings.intake) && clock.elapsed < deadline
    try commitDelivered()
  }

  /// Waits for delivery reports, as long as the outcome of the last send asks for it.
  private func awaitReports(
    _ producer: any ClusterProducer, _ outcome: SendOutcome, until deadline: Duration, _ isBacklogged: Bool
  ) throws(KafkaError) {
    let left = max(.zero, deadline - clock.elapsed)
    let isFull = underway.isFull(settings.intake)
    do throws(KafkaError) {
      switch outcome {
      case .mustDrain: _ = try producer.flush(timeout: left)
      case .mustWait: try producer.poll(timeout: min(Self.reportWait, left))
      case .everything where isFull: try producer.poll(timeout: min(Self.reportWait, left))
      case .everything where isBacklogged: try producer.poll(timeout: .zero)
      case .everything: _ = try producer.flush(timeout: min(Self.idleWait, left))
      }
    } catch {
      // The delivery report of an earlier record says why.
      guard error.code == .gaplessGuarantee else { throw error }
      ended = error
    }
  }

  /// Handles the deliveries to the log that failed.
  ///
  /// - Parameter producer: The producer of the log.
  /// - Returns: Whether records were refused themselves.
  /// - Throws: `KafkaError` of any other failure.
  private func takeFailures(_ producer: any ClusterProducer) throws(KafkaError) -> Bool {
    var failures = producer.takeDeliveryFailures()
    guard !failures.isEmpty || ended != nil else { return false }
    if !failures.contains(where: { refuses($0.error.code) }) {
      // The report that says why may come from another broker, and later.
      _ = try producer.flush(timeout: Self.endWait)
      failures += producer.takeDeliveryFailures()
    }
    let refused = failures.filter { refuses($0.error.code) }
    guard let refusal = refused.first else {
      if let error = failures.first?.error ?? ended { throw error }
      return false
    }
    if isCareful, let alone = underway.alone, let batch = underway.list.firstIndex(where: { $0.number == alone.batch })
    {
      underway.alone = nil
      try refuse(alone.index, of: batch, reason: DeadLetterReason.refused, text: refusal.error.description)
    } else {
      let last = refused.reduce(refusal.tag) { max($0, $1.tag) }
      try sendAgain(carefulThrough: last, because: refusal.error)
    }
    return true
  }

  /// Whether an error says that a record of the log was refused itself: for its size, its content, or a timestamp that is not the
  /// time of this process.
  ///
  /// - Parameter code: The code of the error.
  func refuses(_ code: KafkaErrorCode) -> Bool {
    code.refusesRecord || code.refusesTime && settings.timestamps == .event
  }

  /// Replaces the producer after a refusal, and has all records under way sent again.
  ///
  /// - Parameters:
  ///   - number: The number of the last batch that is known to have a refused record. The records up to its end are
  ///     sent one by one.
  ///   - error: The refusal.
  /// - Throws: `KafkaError` for invalid properties.
  func sendAgain(carefulThrough number: UInt64, because error: KafkaError) throws(KafkaError) {
    logger.warning(
      "the broker refused a batch of log records; its records are sent again, one by one",
      metadata: ["error": "\(error)"])
    try useProducer(careful: true)
    underway.restart(carefulThrough: number)
    // A channel that was appended recently may not have arrived.
    channels = DuplicateWindow(size: Self.channelsKnown)
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

  // MARK: Offsets

  /// Removes the oldest batches of which everything was delivered, and notes their offsets.
  private func finishBatches() throws(KafkaError) {
    guard let producer else { return }
    while let first = underway.list.first, underway.sending > 0, underway.alone?.batch != first.number,
      producer.inFlight(tag: first.number) == 0, letterProducerIfAny?.inFlight(tag: first.number) ?? 0 == 0
    {
      let batch = underway.removeFirst()
      note(batch)
      batch.spans.end(at: clock.wallMicroseconds)
    }
    if isCareful, !(underway.list.first.map { underway.isCareful($0) } ?? false) {
      underway.endCare()
      try useProducer(careful: false)
    }
  }

  private func note(_ batch: IntakeBatch) {
    for run in batch.runs where !run.isReleased {
      let last = batch.messages[run.indices.upperBound - 1]
      let mark = SourceMark(generation: run.generation, last: SourceMark.fingerprint(last))
      delivered[run.partition] = KafkaCommittedOffset(last.nextPosition, metadata: mark.text)
    }
  }

  /// Commits the offsets of the delivered batches, at once if nothing is under way.
  ///
  /// A commit that fails during a rebalance is covered by the next one. Records that are read again meanwhile are dropped by
  /// their origin.
  private func commitDelivered() throws(KafkaError) {
    guard underway.isEmpty || clock.elapsed - committedAt >= Self.commitInterval else { return }
    try commitNow()
  }

  private func commitNow() throws(KafkaError) {
    guard let consumer, !delivered.isEmpty else { return }
    let offsets = delivered.values.sorted { $0.position.partition < $1.position.partition }
    delivered = [:]
    committedAt = clock.elapsed
    try consumer.commitInBackground(offsets)
  }

  /// Waits up to a second for the batches under way, and commits the offsets of those that are delivered.
  ///
  /// - Throws: `KafkaError` for a record that was not delivered.
  func deliverBeforeRevocation() throws(KafkaError) {
    let deadline = clock.elapsed + .seconds(1)
    while !underway.isEmpty {
      try deliver(timeout: .milliseconds(100))
      if clock.elapsed >= deadline { break }
    }
    try commitNow()
  }

  /// Leaves the offsets of partitions to their next owner.
  ///
  /// - Parameter partitions: The partitions that were taken away.
  func release(_ partitions: [KafkaTopicPartition]) {
    underway.release(partitions)
    for partition in partitions {
      (delivered[partition], positions[partition]) = (nil, nil)
      ends.forget(partition)
    }
  }
}
