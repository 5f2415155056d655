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

  /// The record's own headers, and where it comes from now.
  var replayHeaders: [KafkaHeader] {
    message.headers.filter { !$0.name.hasPrefix("rouse-") } + [KafkaHeader(Self.replayedFrom, "\(place)")]
  }

  static let replayedFrom = "rouse-replayed-from"
}

/// Reads the dead letters, and gives them back to the topics they came from.
public struct DeadLetterBox {
  private let settings: PipelineSettings
  private static let patience = Duration.seconds(20)

  public init(settings: PipelineSettings) { self.settings = settings }

  /// The newest letters first; holds no more than it returns, for each partition.
  /// - Parameter reason: only those with this code.
  public func newest(_ limit: Int, reason: String? = nil) throws(KafkaError) -> [Letter] {
    var kept: [Int32: [Letter]] = [:]
    _ = try TopicReader(settings: settings).read(settings.topics.deadLetters) { message in
      let letter = Letter(message)
      if let reason, letter.reason != reason { return }
      kept[message.partition, default: []].append(letter)
      if kept[message.partition, default: []].count > 2 * limit { kept[message.partition]?.removeFirst(limit) }
    }
    let letters = kept.values.flatMap(\.self).sorted { a, b in
      (a.message.timestampMilliseconds ?? 0, a.message.offset, a.message.partition)
        > (b.message.timestampMilliseconds ?? 0, b.message.offset, b.message.partition)
    }
    return Array(letters.prefix(limit))
  }

  /// The letter at a place.
  public func letter(at place: KafkaPosition) throws(KafkaError) -> Letter {
    Letter(try record(at: place))
  }

  private func record(at place: KafkaPosition) throws(KafkaError) -> KafkaMessage {
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

  /// Writes the original bytes, key and headers to the topic they came from. What was accepted meanwhile is a duplicate
  /// there and changes nothing; what still cannot be accepted becomes a letter again.
  public func replay(_ letters: [Letter]) throws(KafkaError) {
    let producer = try KafkaProducer(
      settings.client([
        "enable.idempotence": "true", "partitioner": "murmur2_random", "message.max.bytes": "4194304",
      ]))
    for letter in letters {
      guard let origin = letter.origin else {
        throw Self.refusal(letter, "it does not tell where it came from; write it to its topic by hand")
      }
      if origin.partition.topic == settings.topics.log {
        throw Self.refusal(
          letter, "it is an internal record of \(origin); what it was made of stands in the topics that intake reads")
      }
      // A value that was left out still stands where it came from, if retention left it there.
      let value = letter.leftOutBytes == nil ? letter.message.value : try record(at: origin).value
      try producer.send(
        topic: origin.partition.topic, key: letter.message.key, value: value, headers: letter.replayHeaders)
    }
    let all = try producer.flush(timeout: .seconds(30))
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
    guard all else {
      throw KafkaError(
        code: .timedOut, message: "the broker did not confirm in 30 s; replaying again does no harm",
        operation: "replaying", isRetriable: true)
    }
  }

  private static func refusal(_ letter: Letter, _ why: String) -> KafkaError {
    KafkaError(code: .invalidArgument, message: why, operation: "replaying \(letter.place)", isRetriable: false)
  }
}
