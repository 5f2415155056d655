import Installation
import KafkaClient

/// Reads the topic of dead letters backwards, a window of each partition at a time, so that the newest letters cost the same however many older
/// ones there are. Belongs to one thread.
///
/// In a window, records come in their order. A receipt is behind its letter, so walking backwards finds it first.
final class DeadLetterWalk {
  /// The part of a partition that has not been walked over, and the letters that wait for their turn.
  private struct WalkedPartition {
    /// The oldest offset of the partition.
    let low: Int64
    /// The offset before which nothing has been read yet.
    var top: Int64
    /// Letters that were read and not given out, the oldest first.
    var letters: [DeadLetterRecord] = []

    /// The offset before which letters are that were not given out; nil if there are none.
    var rest: Int64? {
      if let newest = letters.last { return newest.place.offset + 1 }
      return top > low ? top : nil
    }
  }

  private let topic: String
  private let window: Int64
  private let patience: Duration
  private let consumer: KafkaConsumer
  private var lanes: [Int32: WalkedPartition] = [:]

  /// The number of offsets that were walked over.
  private(set) var readCount: Int64 = 0

  /// Starts behind the newest record, or at a place.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - start: The place; nil for the end.
  ///   - window: The number of offsets of a partition that are read at a time.
  ///   - patience: The longest wait for the next record.
  /// - Throws: `KafkaError` if the topic cannot be read.
  init(_ settings: ClusterSettings, from start: DeadLetterCursor?, window: Int64, patience: Duration)
    throws(KafkaError)
  {
    topic = settings.topics.deadLetters
    self.window = window
    self.patience = patience
    let consumer = try KafkaConsumer(
      settings.client(
        [
          "group.id": settings.readerGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
          "enable.partition.eof": "true", "auto.offset.reset": "earliest",
        ], defaults: ["fetch.wait.max.ms": "50", "queued.max.messages.kbytes": "32768"]))
    self.consumer = consumer
    let topics = try KafkaAdmin(settings.client([:])).describeTopics([topic], timeout: .seconds(30))
    for number in topics.flatMap(\.partitions).map(\.id) {
      let place = KafkaTopicPartition(topic: topic, partition: number)
      let ends = try retrying { () throws(KafkaError) in try consumer.watermarks(of: place, timeout: .seconds(10)) }
      let top = start.map { min($0.tops[number] ?? 0, ends.high) } ?? ends.high
      if top > ends.low { lanes[number] = WalkedPartition(low: ends.low, top: top) }
    }
  }

  /// Closes the consumer.
  func close() { consumer.close(timeout: .seconds(2)) }

  /// The place at which the walk goes on; nil at its end.
  var place: DeadLetterCursor? {
    let tops = lanes.compactMapValues(\.rest)
    return tops.isEmpty ? nil : DeadLetterCursor(tops: tops)
  }

  /// The partitions of which the next letter is not known yet.
  var unknown: [Int32] { lanes.filter { $0.value.letters.isEmpty && $0.value.top > $0.value.low }.keys.sorted() }

  /// Reads the next window of partitions.
  ///
  /// - Parameters:
  ///   - partitions: Some of `unknown`.
  ///   - choose: Gets the records of a window, the oldest first, and returns the letters to give out.
  /// - Throws: `KafkaError`, with the code `timedOut` if neither a record nor the end comes in time.
  func read(_ partitions: [Int32], _ choose: ([KafkaMessage]) -> [DeadLetterRecord]) throws(KafkaError) {
    var open: [Int32: Range<Int64>] = [:]
    for number in partitions {
      guard let lane = lanes[number] else { continue }
      open[number] = max(lane.low, lane.top - window)..<lane.top
    }
    let windows = open
    var records: [Int32: [KafkaMessage]] = [:]
    var starts: [KafkaTopicPartition: KafkaOffset] = [:]
    for (number, range) in open {
      starts[KafkaTopicPartition(topic: topic, partition: number)] = .at(range.lowerBound)
    }
    try consumer.assign(starts)
    var deadline = ContinuousClock.now + patience
    while !open.isEmpty {
      let batch = try consumer.poll(maxMessages: 1000, timeout: .milliseconds(100))
      for message in batch.messages {
        guard let range = open[message.partition] else { continue }
        if range.contains(message.offset), message.offset > records[message.partition]?.last?.offset ?? -1 {
          records[message.partition, default: []].append(message)
        }
        // Behind the last record of the window there may be only markers of transactions.
        if message.offset >= range.upperBound - 1 { open[message.partition] = nil }
      }
      // Only members of a group need a permission for it.
      for case .error(let error) in batch.events where error.code == .topicAuthorizationFailed { throw error }
      for case .partitionEnd(let position) in batch.events { open[position.partition.partition] = nil }
      if !batch.messages.isEmpty { deadline = .now + patience }
      guard ContinuousClock.now <= deadline else {
        throw KafkaError(
          code: .timedOut, message: "no record and no end for \(patience.milliseconds / 1000) s",
          operation: "reading \(topic)", isRetriable: true)
      }
    }
    for (number, range) in windows {
      lanes[number]?.top = range.lowerBound
      lanes[number]?.letters = choose(records[number] ?? [])
      readCount += range.upperBound - range.lowerBound
    }
  }

  /// Returns the newest of the letters that wait; nil if none does. The order of each partition stays, whatever its timestamps are.
  func takeNewest() -> DeadLetterRecord? {
    let newest = lanes.max { a, b in Self.age(a.value.letters.last) < Self.age(b.value.letters.last) }
    guard let number = newest?.key else { return nil }
    return lanes[number]?.letters.popLast()
  }

  private static func age(_ letter: DeadLetterRecord?) -> (Int64, Int64, Int32) {
    guard let message = letter?.message else { return (.min, .min, .min) }
    return (message.timestampMilliseconds ?? 0, message.offset, message.partition)
  }
}
