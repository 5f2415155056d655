public import Installation
public import KafkaClient

/// Reads the committed records of a topic once: from its beginning or from given offsets, up to the end that the topic
/// has when reading starts.
public struct TopicReader {
  private let settings: ClusterSettings
  /// The longest wait for the next record.
  private let patience: Duration

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - patience: The longest wait for the next record.
  public init(settings: ClusterSettings, patience: Duration = .seconds(60)) {
    self.settings = settings
    self.patience = patience
  }

  /// Reads a whole topic.
  ///
  /// - Parameters:
  ///   - topic: The name of the topic.
  ///   - take: Gets each record, in the order of its partition.
  /// - Returns: Whether the broker has already removed the oldest records.
  /// - Throws: `KafkaError`, with the code `timedOut` if neither a record nor the end comes in time.
  public func read(_ topic: String, _ take: (KafkaMessage) -> Void) throws(KafkaError) -> Bool {
    let partitions = try KafkaAdmin(settings.client([:])).describeTopics([topic], timeout: .seconds(30))
      .flatMap(\.partitions).map { KafkaTopicPartition(topic: topic, partition: $0.id) }
    return try read(Dictionary(uniqueKeysWithValues: partitions.map { ($0, KafkaOffset.beginning) }), topic, take)
  }

  /// Reads partitions of one topic up to the ends that they have when reading starts.
  ///
  /// - Parameters:
  ///   - starts: The offset to start from in each partition. If retention has removed it, the oldest record that is left is
  ///     the first.
  ///   - take: Gets each record, in the order of its partition.
  /// - Throws: `KafkaError`, with the code `timedOut` if neither a record nor the end comes in time.
  public func read(
    from starts: [KafkaTopicPartition: Int64], _ take: (KafkaMessage) -> Void
  ) throws(KafkaError) {
    guard let topic = starts.keys.first?.topic else { return }
    _ = try read(starts.mapValues { .at($0) }, topic, take)
  }

  /// - Returns: Whether a partition no longer begins at offset 0.
  private func read(
    _ starts: [KafkaTopicPartition: KafkaOffset], _ topic: String, _ take: (KafkaMessage) -> Void
  ) throws(KafkaError) -> Bool {
    let consumer = try KafkaConsumer(
      settings.client(
        [
          "group.id": settings.readerGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
          "enable.partition.eof": "true", "auto.offset.reset": "earliest",
        ], defaults: ["fetch.wait.max.ms": "50", "queued.max.messages.kbytes": "32768"]))
    defer { consumer.close(timeout: .seconds(2)) }
    var isCut = false
    var open: Set<KafkaTopicPartition> = []
    for (partition, start) in starts {
      let ends = try retrying { () throws(KafkaError) in try consumer.watermarks(of: partition, timeout: .seconds(10)) }
      if ends.low > 0 { isCut = true }
      // There is nothing to wait for behind the end.
      if case .at(let offset) = start, offset >= ends.high { continue }
      if ends.high > ends.low { open.insert(partition) }
    }
    try consumer.assign(starts.filter { open.contains($0.key) })
    var deadline = ContinuousClock.now + patience
    while !open.isEmpty {
      let batch = try consumer.poll(maxMessages: 10_000, timeout: .milliseconds(100))
      for message in batch.messages where open.contains(message.topicPartition) { take(message) }
      // Only members of a group need a permission for it.
      for case .error(let error) in batch.events where error.code == .topicAuthorizationFailed { throw error }
      // The event of the end comes behind the last record.
      for case .partitionEnd(let position) in batch.events { open.remove(position.partition) }
      if !batch.messages.isEmpty { deadline = .now + patience }
      if ContinuousClock.now > deadline {
        throw KafkaError(
          code: .timedOut, message: "no record and no end for \(patience.milliseconds / 1000) s",
          operation: "reading \(topic)", isRetriable: true)
      }
    }
    return isCut
  }
}
