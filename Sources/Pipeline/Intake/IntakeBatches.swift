import KafkaClient

/// The batches that intake has under way, oldest first, and the place up to which their records were sent.
///
///     list: │ sent, in part delivered │ being sent │ not sent yet │
///           0                      sending                      count
///
/// Only the oldest batches leave, and only when each of their records is delivered. So the offsets that may be committed
/// are those of a prefix of everything that was read.
struct IntakeBatches {
  /// The batches, oldest first.
  var list: [IntakeBatch] = []
  /// The index of the first batch with records that were not sent yet; the number of batches if there is none.
  var sending = 0
  /// The number of the last batch whose records are sent one by one; nil if there is none.
  private(set) var carefulThrough: UInt64?
  /// The record of the batch at `sending`, or before it, that was sent alone and is not confirmed yet; nil if there is none.
  var alone: SentAlone?
  private var nextNumber: UInt64 = 0

  /// Whether no batch is under way.
  var isEmpty: Bool { list.isEmpty }
  /// Whether records wait to be sent.
  var hasUnsent: Bool { sending < list.count }
  /// The bytes of the source records.
  private(set) var bytes = 0
  /// An upper bound of the bytes of the log records in flight, each partition's copy counted.
  private(set) var sentBytes = 0

  /// Whether a batch is sent one by one.
  func isCareful(_ batch: IntakeBatch) -> Bool { carefulThrough.map { batch.number <= $0 } ?? false }

  /// Whether no further batch is to be read.
  func isFull(_ settings: IntakeSettings) -> Bool {
    hasUnsent || list.count >= settings.batchesUnderwayMax || bytes + sentBytes >= settings.bytesUnderwayMax
  }

  /// Whether records of a source partition are under way.
  func holds(_ partition: KafkaTopicPartition) -> Bool {
    list.contains { $0.runs.contains { $0.partition == partition } }
  }

  /// Adds the records of a poll as the newest batch.
  ///
  /// - Parameters:
  ///   - messages: The records; not empty.
  ///   - generation: Returns the present generation of a source partition.
  ///   - isReleased: Whether a source partition was taken away since the records were read.
  mutating func append(
    _ messages: [KafkaMessage], generation: (KafkaTopicPartition) -> Int64, isReleased: (KafkaTopicPartition) -> Bool
  ) {
    let batch = IntakeBatch(number: nextNumber, messages: messages, generation: generation, isReleased: isReleased)
    list.append(batch)
    bytes += batch.bytes
    nextNumber += 1
  }

  /// Notes that records were handed to the producer.
  ///
  /// - Parameters:
  ///   - count: The bytes of the records, each partition's copy counted.
  ///   - batch: The index of their batch.
  mutating func noteSent(_ count: Int, of batch: Int) {
    list[batch].sentBytes += count
    sentBytes += count
  }

  /// Notes that no record is in flight.
  mutating func forgetSentBytes() {
    guard sentBytes > 0 else { return }
    for batch in list.indices { list[batch].sentBytes = 0 }
    sentBytes = 0
  }

  /// Removes the oldest batch, of which everything was delivered.
  mutating func removeFirst() -> IntakeBatch {
    sending -= 1
    let batch = list.removeFirst()
    bytes -= batch.bytes
    sentBytes -= batch.sentBytes
    return batch
  }

  /// Notes that partitions were taken away: the offsets of their records are no longer committed.
  mutating func release(_ partitions: [KafkaTopicPartition]) {
    for batch in list.indices {
      for run in list[batch].runs.indices where partitions.contains(list[batch].runs[run].partition) {
        list[batch].runs[run].isReleased = true
      }
    }
  }

  /// Has all records sent again, by a new producer.
  ///
  /// - Parameter number: The number of the last batch whose records are sent one by one.
  mutating func restart(carefulThrough number: UInt64) {
    forgetSentBytes()
    for batch in list.indices { list[batch].next = 0 }
    sending = 0
    alone = nil
    carefulThrough = number
  }

  /// Notes that records are sent together again.
  mutating func endCare() { carefulThrough = nil }

  /// Checks what holds between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations = list.flatMap { $0.checkInvariants() }
    if !(0...list.count).contains(sending) { violations.append("batch \(sending) of \(list.count) is being sent") }
    for (index, batch) in list.enumerated() {
      if index < sending, !batch.isSent { violations.append("batch \(batch.number) was passed with records unsent") }
      if index > sending, batch.next > 0 { violations.append("batch \(batch.number) was sent before an older one") }
      if index > 0, batch.number != list[index - 1].number + 1 {
        violations.append("batch \(batch.number) is misplaced")
      }
    }
    if bytes != list.reduce(0, { $0 + $1.bytes }) || sentBytes != list.reduce(0, { $0 + $1.sentBytes }) {
      violations.append("the batches under way hold other than \(bytes) and \(sentBytes) bytes")
    }
    if let carefulThrough, let last = list.last, carefulThrough > last.number {
      violations.append("batch \(carefulThrough) is sent with care, and the newest is \(last.number)")
    }
    if alone != nil, isEmpty { violations.append("a record was sent alone, and none is under way") }
    return violations
  }
}
