public import KafkaClient

/// One record that was not accepted, as it stands in `rouse.dead-letters`.
public struct Letter: Sendable {
  public var message: KafkaMessage
  /// Where the letter stands.
  public var place: KafkaPosition { KafkaPosition(message.topicPartition, offset: message.offset) }
  /// Why it was not accepted: a code, and words.
  public var reason: String
  public var text: String
  /// Where the record stood; nil for a letter that Rouse did not write.
  public var origin: KafkaPosition?
  /// Bytes of a value that was left out because the broker refused its size.
  public var leftOutBytes: Int?
  /// When it was given back, in ms since 1970; nil while it was not.
  public var replayedAt: Int64?

  public init(_ message: KafkaMessage) {
    self.message = message
    func header(_ name: String) -> String? {
      // The last one: those before it belong to the record.
      message.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
    reason = header("rouse-reason") ?? "UNKNOWN"
    text = header("rouse-message") ?? ""
    if let topic = header("rouse-origin-topic"),
      let partition = header("rouse-origin-partition").flatMap({ Int32($0) }),
      let offset = header("rouse-origin-offset").flatMap({ Int64($0) })
    {
      origin = KafkaPosition(KafkaTopicPartition(topic: topic, partition: partition), offset: offset)
    }
    leftOutBytes = header("rouse-truncated").flatMap { Int($0) }
  }

  /// The letter that this record is a receipt for: not a letter, but the note that one was given back, in its partition.
  var receiptOf: KafkaPosition? {
    guard reason == Self.replayedReason,
      let offset = message.headers.last(where: { $0.name == Self.replayedOffset })?.value
        .flatMap({ Int64(String(decoding: $0, as: UTF8.self)) })
    else { return nil }
    return KafkaPosition(message.topicPartition, offset: offset)
  }

  /// Headers of the receipt for this letter.
  var receiptHeaders: [KafkaHeader] {
    [
      KafkaHeader("rouse-reason", Self.replayedReason),
      KafkaHeader("rouse-message", "\(place) was replayed to \(origin?.partition.topic ?? "")"),
      KafkaHeader(Self.replayedOffset, "\(place.offset)"),
    ]
  }

  /// The record's own headers, and where it comes from now.
  var replayHeaders: [KafkaHeader] {
    message.headers.filter { !$0.name.hasPrefix("rouse-") } + [KafkaHeader(Self.replayedFrom, "\(place)")]
  }

  static let replayedFrom = "rouse-replayed-from"
  private static let replayedReason = "REPLAYED"
  private static let replayedOffset = "rouse-replayed-offset"
}

/// Reads the dead letters, and gives them back to the topics they came from.
public struct DeadLetterBox {
  /// Where the letters lie, and the topics that they go back to.
  let settings: PipelineSettings
  private static let patience = Duration.seconds(20)

  public init(settings: PipelineSettings) { self.settings = settings }

  /// The newest letters first; holds no more than it returns, for each partition, and where letters were given back.
  /// - Parameters:
  ///   - reason: only those with this code.
  ///   - waiting: only those that were not given back.
  public func newest(_ limit: Int, reason: String? = nil, waiting: Bool = false) throws(KafkaError) -> [Letter] {
    var kept: [Int32: [Letter]] = [:]
    var receipts: [KafkaPosition: Int64] = [:]
    // A receipt stands behind its letter.
    _ = try TopicReader(settings: settings).read(settings.topics.deadLetters) { message in
      if let place = Letter(message).receiptOf { receipts[place] = message.timestampMilliseconds ?? 0 }
    }
    _ = try TopicReader(settings: settings).read(settings.topics.deadLetters) { message in
      let letter = Letter(message)
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

  /// The letter at a place.
  public func letter(at place: KafkaPosition) throws(KafkaError) -> Letter {
    var letter = Letter(try record(at: place))
    letter.replayedAt = try receipts(for: [letter])[place]
    return letter
  }

  /// When letters were given back, in ms since 1970, for those that were.
  func receipts(for letters: [Letter]) throws(KafkaError) -> [KafkaPosition: Int64] {
    var starts: [KafkaTopicPartition: Int64] = [:]
    for letter in letters {
      starts[letter.place.partition] = min(starts[letter.place.partition] ?? .max, letter.place.offset)
    }
    var found: [KafkaPosition: Int64] = [:]
    try TopicReader(settings: settings).read(from: starts) { message in
      if let place = Letter(message).receiptOf { found[place] = message.timestampMilliseconds ?? 0 }
    }
    return found
  }

  /// The record at a place; an error with the code `noOffset` says that there is none.
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
