import Domain
import Installation
import KafkaClient
import Logging

/// The generations of the source partitions that intake reads.
///
/// A topic that is deleted and made again has the old name, and offsets from 0. Planners drop a record whose origin is
/// not above the highest that they have seen, so they must learn that it is another topic. librdkafka 2.0.2 tells no
/// topic id. So the generation of a partition is the fingerprint of its record at offset 0, and intake keeps it,
/// together with the fingerprint of the last consumed record, beside its committed offset:
///
/// | at the first record, when offsets fall, and after an error that a topic is gone | the generation |
/// | --- | --- |
/// | the record before the committed offset is the one that was consumed | as committed |
/// | it is another one, or the partition ends before it | of the new topic, which is read from its beginning |
/// | retention or compaction removed it | as committed, unless the offsets fell |
/// | nothing is committed | of the record at offset 0; as before if that was removed |
///
/// Brokers remove the committed offsets of a deleted topic, so the last row covers a topic that was made again before a
/// start. Belongs to intake's thread.
struct SourceGenerations {
  /// A partition that is being read.
  private struct Reading {
    var generation: Int64
    /// The offset after the last record that was read.
    var next: Int64
    /// Whether the topic may have been made again since the last record.
    var isDoubtful = false
  }

  private let clock: any StageClock
  private let logger: Logger
  private var readings: [KafkaTopicPartition: Reading] = [:]
  /// The consumer that reads single records again.
  private var looker: OnDemandConsumer
  /// The longest wait for an answer of the broker.
  private static let patience = Duration.seconds(10)

  /// Makes the generations of an intake. None is known yet.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - cluster: Makes the consumer that reads single records again.
  ///   - clock: The thread's clock.
  ///   - logger: Gets topics that were made again.
  init(settings: PipelineSettings, cluster: any Cluster, clock: any StageClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
    looker = OnDemandConsumer(
      cluster,
      settings.client([
        "group.id": settings.cluster.intakeGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "earliest", "fetch.message.max.bytes": "4194304",
      ]))
  }

  /// The generation of a partition that is being read; 0 if it is not known.
  func generation(of partition: KafkaTopicPartition) -> Int64 { readings[partition]?.generation ?? 0 }

  /// Notes the records of a poll, and finds the generations of partitions that are new, or whose offsets fell.
  ///
  /// - Parameters:
  ///   - messages: The records, in the order of each partition.
  ///   - consumer: The consumer that they come from.
  /// - Returns: The records to take: all but those of a topic that must be read from its beginning first.
  /// - Throws: `KafkaError` if the broker does not answer.
  mutating func current(
    _ messages: [KafkaMessage], _ consumer: any ClusterConsumer
  ) throws(KafkaError) -> [KafkaMessage] {
    var rewound: Set<KafkaTopicPartition> = []
    var partition: KafkaTopicPartition?
    var reading = Reading(generation: 0, next: 0)
    for message in messages {
      // Records of a partition come in runs.
      if message.partition != partition?.partition || message.topic != partition?.topic {
        if let partition { readings[partition] = reading }
        let next = message.topicPartition
        partition = next
        reading = readings[next] ?? Reading(generation: 0, next: .max)
      }
      guard let partition, !rewound.contains(partition) else { continue }
      if message.offset < reading.next || reading.isDoubtful {
        let (generation, isRewound) = try look(at: message, previous: reading.generation, consumer)
        reading = Reading(generation: generation, next: isRewound ? 0 : message.offset)
        if isRewound {
          try consumer.seek(partition, to: .beginning)
          rewound.insert(partition)
          continue
        }
      }
      reading.next = message.offset + 1
    }
    if let partition { readings[partition] = reading }
    return rewound.isEmpty ? messages : messages.filter { !rewound.contains($0.topicPartition) }
  }

  /// Takes an error of a poll: one that says that a topic is gone casts doubt on all partitions, because it does not name one.
  ///
  /// - Parameter error: The error.
  mutating func take(_ error: KafkaError) {
    guard [.unknownPartition, .unknownTopicOrPartition, .unknownLocalTopic].contains(error.code) else { return }
    for partition in readings.keys { readings[partition]?.isDoubtful = true }
  }

  /// Closes the consumer, and forgets the partitions.
  mutating func close() {
    looker.close()
    readings = [:]
  }

  // MARK: Looking

  /// Finds the generation of a partition.
  ///
  /// - Parameters:
  ///   - message: A record of the partition that was just read.
  ///   - previous: The generation of the records before it; 0 if it is not known.
  ///   - consumer: The consumer that it comes from.
  /// - Returns: The generation, and whether the partition must be read from its beginning.
  private mutating func look(
    at message: KafkaMessage, previous: Int64, _ consumer: any ClusterConsumer
  ) throws(KafkaError) -> (generation: Int64, isRewound: Bool) {
    let partition = message.topicPartition
    let committed = try consumer.committedOffsets([partition], timeout: Self.patience).first
    guard let committed, let mark = SourceMark(committed.metadata), committed.position.offset > 0 else {
      let first = try firstFingerprint(message)
      guard previous != 0, first != 0, first != previous else { return (first == 0 ? previous : first, false) }
      noteNew(partition)
      return (first, message.offset > 0)
    }
    let hasFallen = message.offset < committed.position.offset
    let isSame: Bool
    switch try record(at: committed.position.offset - 1, of: partition) {
    case .some(let found) where found.offset == committed.position.offset - 1:
      isSame = SourceMark.fingerprint(found) == mark.last
    case .some: isSame = !hasFallen
    case nil: isSame = false
    }
    if isSame { return (mark.generation, false) }
    noteNew(partition)
    let first = try firstFingerprint(message)
    // Two topics may begin with the same record.
    let generation = first == mark.generation || first == 0 ? mark.generation &+ 1 : first
    return (generation == 0 ? 1 : generation, !hasFallen)
  }

  private func noteNew(_ partition: KafkaTopicPartition) {
    logger.notice(
      "a source topic was deleted and made again; its records count as new",
      metadata: ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
  }

  /// Returns the fingerprint of the record at offset 0; 0 if it was removed.
  private mutating func firstFingerprint(_ message: KafkaMessage) throws(KafkaError) -> Int64 {
    if message.offset == 0 { return SourceMark.fingerprint(message) }
    guard let first = try record(at: 0, of: message.topicPartition), first.offset == 0 else { return 0 }
    return SourceMark.fingerprint(first)
  }

  /// Reads the record at an offset, or the first one after it.
  ///
  /// - Returns: The record; nil if the partition ends before it.
  private mutating func record(
    at offset: Int64, of partition: KafkaTopicPartition
  ) throws(KafkaError) -> KafkaMessage? {
    let consumer = try looker.use()
    let ends = try consumer.watermarks(of: partition, timeout: Self.patience)
    guard offset < ends.high else { return nil }
    try consumer.incrementalAssign([partition: .at(max(offset, ends.low))])
    let result = try poll(consumer, partition)
    try consumer.incrementalUnassign([partition])
    return result
  }

  private func poll(_ consumer: any ClusterConsumer, _ partition: KafkaTopicPartition) throws(KafkaError)
    -> KafkaMessage?
  {
    let deadline = clock.elapsed + Self.patience
    while clock.elapsed < deadline {
      let batch = try consumer.poll(maxMessages: 1, timeout: .milliseconds(50))
      if let message = batch.messages.first(where: { $0.topicPartition == partition }) { return message }
      for event in batch.events {
        switch event {
        case .partitionEnd(let end) where end.partition == partition: return nil
        case .partitionEnd: break
        case .error(let error):
          // A batch that cannot be unpacked says nothing about the topic, so the record counts as removed.
          if let place = error.unreadableBatch {
            return KafkaMessage(
              topic: partition.topic, partition: partition.partition, offset: place.offset + 1,
              timestampMilliseconds: nil, key: nil, value: nil, headers: [])
          }
          if !error.isRetriable { throw error }
        }
      }
    }
    throw KafkaError(
      code: .timedOut, message: "neither a record nor the end came for 10 s", operation: "looking at \(partition)",
      isRetriable: true)
  }
}

/// The metadata of a committed offset of intake: a fingerprint of the last consumed record, by which a later start sees
/// whether the topic is still the same.
struct SourceMark: Equatable {
  /// The generation of the partition; 0 if it is not known.
  var generation: Int64
  /// The fingerprint of the record before the committed offset.
  var last: Int64

  /// The mark as the text that is committed as the metadata of the offset.
  var text: String { "generation=\(generation) last=\(last)" }

  /// Makes a mark.
  init(generation: Int64, last: Int64) {
    self.generation = generation
    self.last = last
  }

  /// Reads a mark from the metadata of a committed offset. Nil for any other text, such as the empty one that a tool
  /// leaves when it moves offsets.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].hasPrefix("generation="), words[1].hasPrefix("last="),
      let generation = Int64(words[0].dropFirst("generation=".count)),
      let last = Int64(words[1].dropFirst("last=".count))
    else { return nil }
    self.init(generation: generation, last: last)
  }

  /// Returns 64 bits of FNV-1a over timestamp, key and value of a record; never 0.
  static func fingerprint(_ message: KafkaMessage) -> Int64 {
    var hash = FNV1a()
    let timestamp = UInt64(bitPattern: message.timestampMilliseconds ?? -1)
    for shift in stride(from: 0, to: 64, by: 8) { hash.add(UInt8(truncatingIfNeeded: timestamp >> UInt64(shift))) }
    for bytes in [message.key, message.value] {
      hash.add(bytes == nil ? 0 : 1)
      if let bytes { hash.add(bytes.span) }
    }
    return hash.value == 0 ? 1 : Int64(bitPattern: hash.value)
  }
}
