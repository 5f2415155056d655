import Domain
public import KafkaClient

/// Reads the dead letters, and gives their records back: it writes them to the topics that they came from.
public struct DeadLetterBox {
  /// The address of Kafka, and the names of the topics.
  let settings: PipelineSettings
  private static let patience = Duration.seconds(20)

  /// The reason codes of all letters: those of records that intake refuses, in the order of `DomainError.Code`, then those of what
  /// the broker or a planner refuses.
  public static let reasons: [String] =
    DomainError.Code.allCases.map(\.rawValue) + [
      DeadLetter.refused, DeadLetter.unreadableLogRecord, DeadLetter.tooOld, DeadLetter.setAside,
    ]

  /// Makes a box.
  ///
  /// - Parameter settings: The address of Kafka, and the topics.
  public init(settings: PipelineSettings) { self.settings = settings }

  /// Returns the newest letters, newest first. It holds up to `2 * limit` letters of each partition, and all receipts,
  /// in memory.
  ///
  /// - Parameters:
  ///   - limit: The most letters to return.
  ///   - reason: The reason code of the letters to return; nil for letters of every reason.
  ///   - waiting: Whether to leave out letters that were given back already.
  /// - Throws: `KafkaError` if the topic cannot be read.
  public func newest(_ limit: Int, reason: String? = nil, waiting: Bool = false) throws(KafkaError)
    -> [DeadLetterRecord]
  {
    var kept: [Int32: [DeadLetterRecord]] = [:]
    var receipts: [KafkaPosition: Int64] = [:]
    // Receipts are read first, because they come after their letters.
    _ = try TopicReader(settings: settings).read(settings.topics.deadLetters) { message in
      if let place = DeadLetterRecord(message).receiptOf { receipts[place] = message.timestampMilliseconds ?? 0 }
    }
    _ = try TopicReader(settings: settings).read(settings.topics.deadLetters) { message in
      let letter = DeadLetterRecord(message)
      if letter.receiptOf != nil || waiting && receipts[letter.place] != nil { return }
      if let reason, letter.reason != reason { return }
      kept[message.partition, default: []].append(letter)
      if kept[message.partition, default: []].count > 2 * limit { kept[message.partition]?.removeFirst(limit) }
    }
    let letters = kept.values.flatMap(\.self).sorted { a, b in
      (a.message.timestampMilliseconds ?? 0, a.message.offset, a.message.partition)
        > (b.message.timestampMilliseconds ?? 0, b.message.offset, b.message.partition)
    }
    return letters.prefix(limit).map { letter in
      var letter = letter
      letter.replayedAt = receipts[letter.place]
      return letter
    }
  }

  /// Returns the letter at a place.
  ///
  /// - Parameter place: The offset in a partition of the dead letters.
  /// - Throws: `KafkaError`, with the code `noOffset` if there is no record.
  public func letter(at place: KafkaPosition) throws(KafkaError) -> DeadLetterRecord {
    var letter = DeadLetterRecord(try record(at: place))
    letter.replayedAt = try receipts(for: [letter])[place]
    return letter
  }

  /// Returns the times at which letters were given back, as their receipts say.
  ///
  /// - Parameter letters: The letters.
  /// - Returns: The time in ms since 1970 by the place of the letter. Letters that were not given back are absent.
  /// - Throws: `KafkaError` if the topic cannot be read.
  func receipts(for letters: [DeadLetterRecord]) throws(KafkaError) -> [KafkaPosition: Int64] {
    var starts: [KafkaTopicPartition: Int64] = [:]
    for letter in letters {
      starts[letter.place.partition] = min(starts[letter.place.partition] ?? .max, letter.place.offset)
    }
    var found: [KafkaPosition: Int64] = [:]
    try TopicReader(settings: settings).read(from: starts) { message in
      if let place = DeadLetterRecord(message).receiptOf { found[place] = message.timestampMilliseconds ?? 0 }
    }
    return found
  }

  /// Returns the record at a place of any topic.
  ///
  /// - Parameter place: The offset in a partition.
  /// - Throws: `KafkaError`, with the code `noOffset` if there is no record.
  func record(at place: KafkaPosition) throws(KafkaError) -> KafkaMessage {
    let consumer = try KafkaConsumer(
      settings.client([
        "group.id": "\(settings.group)-reader", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "error", "fetch.message.max.bytes": "4194304",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.assign([place.partition: .at(place.offset)])
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      let batch = try consumer.poll(maxMessages: 1, timeout: .milliseconds(100))
      if let message = batch.messages.first {
        if message.offset == place.offset { return message }
        break
      }
      // The end, or an offset out of range.
      if batch.events.contains(where: { event in
        switch event {
        case .partitionEnd: true
        case .error(let error): !error.isRetriable
        }
      }) {
        break
      }
    }
    throw KafkaError(
      code: .noOffset, message: "there is no record; it may have been removed by the topic's retention",
      operation: "reading \(place)", isRetriable: false)
  }
}
