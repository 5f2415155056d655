import Domain
public import Installation
public import KafkaClient

/// Reads the dead letters, and gives their records back: it writes them to the topics that they came from.
public struct DeadLetterQueue {
  /// The address of Kafka, and the names of the topics.
  let settings: ClusterSettings
  private static let patience = Duration.seconds(20)
  /// The longest wait for the next record of a topic that is read to its end.
  private let topicPatience: Duration
  /// The number of offsets of a partition that are read at a time on the way back from the end.
  private let window: Int64

  /// The number of offsets after which a part of the list ends even if it has found fewer letters than asked for.
  /// - Beyond: the next part goes on there.
  public static let readMax: Int64 = 100_000

  /// The reason codes of all letters: those of records that intake refuses, in the order of `DomainError.Code`, then those of what
  /// the broker or a planner refuses.
  public static let reasons: [String] =
    DomainError.Code.allCases.map(\.rawValue) + [
      DeadLetterReason.refused, DeadLetterReason.unreadableLogRecord, DeadLetterReason.setAside,
    ]

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - patience: The longest wait for the next record of a topic that is read to its end.
  public init(settings: ClusterSettings, patience: Duration = .seconds(60)) {
    self.init(settings: settings, patience: patience, window: 200)
  }

  /// Makes a queue that reads windows of a given size.
  init(settings: ClusterSettings, patience: Duration = .seconds(60), window: Int64) {
    self.settings = settings
    topicPatience = patience
    self.window = window
  }

  /// Returns the newest letters, newest first. It reads from the end until it has found as many.
  ///
  /// - Parameters:
  ///   - limit: The most letters to return. They are held in memory.
  ///   - reason: The reason code of the letters to return; nil for letters of every reason.
  ///   - waiting: Whether to leave out letters that were replayed already.
  /// - Throws: `KafkaError` if the topic cannot be read.
  public func newest(_ limit: Int, reason: String? = nil, waiting: Bool = false) throws(KafkaError)
    -> [DeadLetterRecord]
  {
    try page(limit, reason: reason, waiting: waiting, readMax: .max).letters
  }

  /// Returns a part of the list of letters, newest first. It reads backwards, and no more than it needs; behind a place also what is newer,
  /// for its receipts.
  ///
  /// - Parameters:
  ///   - limit: The most letters to return. They are held in memory, and a window of each partition.
  ///   - reason: The reason code of the letters to return; nil for letters of every reason.
  ///   - waiting: Whether to leave out letters that were replayed already.
  ///   - start: The place at which an earlier part ended; nil for the newest.
  ///   - readMax: The number of offsets after which no further window is read. The part then has fewer letters, perhaps none, and a
  ///     place at which to go on.
  /// - Throws: `KafkaError` if the topic cannot be read.
  public func page(
    _ limit: Int, reason: String? = nil, waiting: Bool = false, from start: DeadLetterCursor? = nil,
    readMax: Int64 = DeadLetterQueue.readMax
  ) throws(KafkaError) -> DeadLetterPage {
    let walk = try DeadLetterWalk(settings, from: start, window: window, patience: topicPatience)
    defer { walk.close() }
    var receipts = try newerReceipts(start)
    var page = DeadLetterPage()
    while page.letters.count < limit {
      let unknown = walk.unknown
      if !unknown.isEmpty {
        guard walk.readCount < readMax else { break }
        try walk.read(unknown) { messages in
          let records = messages.map { DeadLetterRecord($0) }
          for record in records {
            if let place = record.receiptOf { receipts[place] = record.message.timestampMilliseconds ?? 0 }
          }
          return records.filter { letter in
            letter.receiptOf == nil && (reason == nil || letter.reason == reason)
              && !(waiting && receipts[letter.place] != nil)
          }
        }
      } else if var letter = walk.takeNewest() {
        letter.replayedAt = receipts[letter.place]
        page.letters.append(letter)
      } else {
        break
      }
    }
    page.next = walk.place
    return page
  }

  /// Returns the receipts behind a place for letters before it.
  private func newerReceipts(_ start: DeadLetterCursor?) throws(KafkaError) -> [KafkaPosition: Int64] {
    guard let start else { return [:] }
    var starts: [KafkaTopicPartition: Int64] = [:]
    for (number, top) in start.tops {
      starts[KafkaTopicPartition(topic: settings.topics.deadLetters, partition: number)] = top
    }
    var found: [KafkaPosition: Int64] = [:]
    try TopicReader(settings: settings, patience: topicPatience).read(from: starts) { message in
      guard let place = DeadLetterRecord(message).receiptOf, place.offset < starts[place.partition] ?? 0 else { return }
      found[place] = message.timestampMilliseconds ?? 0
    }
    return found
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

  /// Returns the times at which letters were replayed, as their receipts say.
  ///
  /// - Parameter letters: The letters.
  /// - Returns: The time in ms since 1970 by the place of the letter. Letters that were not replayed are absent.
  /// - Throws: `KafkaError` if the topic cannot be read.
  func receipts(for letters: [DeadLetterRecord]) throws(KafkaError) -> [KafkaPosition: Int64] {
    var starts: [KafkaTopicPartition: Int64] = [:]
    for letter in letters {
      starts[letter.place.partition] = min(starts[letter.place.partition] ?? .max, letter.place.offset)
    }
    var found: [KafkaPosition: Int64] = [:]
    try TopicReader(settings: settings, patience: topicPatience).read(from: starts) { message in
      if let place = DeadLetterRecord(message).receiptOf { found[place] = message.timestampMilliseconds ?? 0 }
    }
    return found
  }

  /// Returns the record at a place of any topic.
  ///
  /// - Parameter place: The offset in a partition.
  /// - Throws: `KafkaError`, with the code `noOffset` if there is no record.
  package func record(at place: KafkaPosition) throws(KafkaError) -> KafkaMessage {
    let consumer = try KafkaConsumer(
      settings.client([
        "group.id": settings.readerGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
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
      for case .error(let error) in batch.events where error.code == .topicAuthorizationFailed { throw error }
      // The end, or an offset out of range.
      if batch.events.contains(where: { event in
        switch event {
        case .partitionEnd: true
        // Only members of a group need a permission for it.
        case .error(let error): !error.isRetriable && error.code != .groupAuthorizationFailed
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

/// A part of the list of dead letters, the newest first.
public struct DeadLetterPage: Sendable {
  public var letters: [DeadLetterRecord] = []
  /// The place at which the list goes on; nil if there are no older letters.
  public var next: DeadLetterCursor?
}

/// A place in the list of dead letters: the offset in each partition before which the older letters are. A partition without older letters is
/// left out.
public struct DeadLetterCursor: Sendable, Equatable {
  /// The offsets, by the number of the partition.
  public var tops: [Int32: Int64]

  /// Makes a place.
  ///
  /// - Parameter tops: The offsets, by the number of the partition.
  public init(tops: [Int32: Int64]) { self.tops = tops }
}

/// The outcome of a replay, letter by letter.
public struct ReplayReport: Sendable {
  /// A letter that cannot be replayed, or must not be.
  public struct Refusal: Sendable {
    public var letter: DeadLetterRecord
    /// A sentence for a person: the reason, and what to do.
    public var why: String
  }

  /// Letters that were replayed now.
  public var replayed: [DeadLetterRecord] = []
  /// Letters of an earlier replay; they are not replayed again.
  public var replayedBefore: [DeadLetterRecord] = []
  /// Letters that were not replayed.
  public var refused: [Refusal] = []

  /// Begins without letters.
  public init() {}
}
