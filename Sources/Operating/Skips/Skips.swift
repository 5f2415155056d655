public import Installation
public import KafkaClient

/// Finds the records that stop the readers of a partition, and gives the order to pass over them.
public struct Skips {
  private let settings: ClusterSettings
  private let state: StateFormat
  /// The longest wait for an answer of the broker.
  private static let patience = Duration.seconds(30)

  /// Makes the access to the orders of an installation. Nothing is asked yet.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the names of the topics.
  ///   - state: The format of the state records.
  public init(settings: ClusterSettings, state: StateFormat) {
    self.settings = settings
    self.state = state
  }

  /// The topics whose readers take orders.
  public var topics: [String] {
    settings.eventTopics
      + [settings.topics.devices, settings.topics.signals, settings.topics.log, settings.topics.decisions]
      + [settings.topics.commands, settings.topics.state]
  }

  /// Finds the records at a place that must be passed over together: the batch, if librdkafka cannot unpack it, else one
  /// record.
  ///
  /// The error of a batch does not say where the batch ends. So the offsets behind it are tried, in growing steps first and by
  /// bisection then: about 30 reads for a batch of a million records.
  ///
  /// - Parameter place: The place at which readers are stopped. Every offset of a batch stands for the whole batch.
  /// - Returns: The order, which is not given yet.
  /// - Throws: `KafkaError`, with the code `noOffset` if there is no record at the place, or `invalidArgument` for a topic
  ///   whose readers take no orders, or for a state record that a planner cannot go on without.
  public func find(at place: KafkaPosition) throws(KafkaError) -> Skip {
    guard topics.contains(place.partition.topic) else {
      throw KafkaError(
        code: .invalidArgument,
        message: "no reader of this topic can pass over records; expected one of \(topics.joined(separator: ", "))",
        operation: "looking at \(place)", isRetriable: false)
    }
    let consumer = try KafkaConsumer(
      settings.client([
        "group.id": settings.skipGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "error", "fetch.message.max.bytes": "4194304",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    let isState = place.partition.topic == settings.topics.state
    switch try look(consumer, place) {
    case .record(let offset, let key) where offset == place.offset:
      guard isState else { return Skip(place, next: offset + 1) }
      guard state.isDispensable(key) else { throw indispensable(state.meaning(key), place) }
      return Skip(place, next: offset + 1, loss: state.meaning(key))
    case .batch(let first):
      guard !isState else { throw indispensable("a batch of state records", place) }
      return Skip(first, next: try end(of: first, consumer))
    case .record, .end:
      throw KafkaError(
        code: .noOffset, message: "there is no record; retention may have removed it", operation: "looking at \(place)",
        isRetriable: false)
    }
  }

  private func indispensable(_ content: String, _ place: KafkaPosition) -> KafkaError {
    KafkaError(
      code: .invalidArgument,
      message:
        "it holds \(content), without which a planner cannot go on; delete \(place.partition.topic) and the snapshots, and create the topic again: planners then decide again what the log still holds",
      operation: "looking at \(place)", isRetriable: false)
  }

  /// Gives an order. Readers that are stopped at its place take it within seconds; a reader that reaches the place
  /// later takes it, too, for as long as the broker keeps offsets of a group without members, a week by default.
  ///
  /// - Parameter skip: The order. It replaces an earlier one of the same partition.
  /// - Throws: `KafkaError` if the broker does not take it.
  public func give(_ skip: Skip) throws(KafkaError) {
    let consumer = try KafkaConsumer(
      settings.client(["group.id": settings.skipGroup, "enable.auto.commit": "false"]))
    defer { consumer.close(timeout: .seconds(2)) }
    try retrying(for: Self.patience) { () throws(KafkaError) in
      try consumer.commit([skip.committedOffset], timeout: .seconds(10))
    }
  }

  // MARK: Looking

  /// The result of reading at an offset.
  private enum Find {
    /// A record: its offset, which is the one that was asked for or a later one, and its key.
    case record(Int64, key: [UInt8])
    /// A batch that cannot be unpacked, with its first offset.
    case batch(KafkaPosition)
    /// The end of the partition, with its offset.
    case end(Int64)
  }

  private func look(_ consumer: KafkaConsumer, _ place: KafkaPosition) throws(KafkaError) -> Find {
    try consumer.assign([place.partition: .at(place.offset)])
    let deadline = ContinuousClock.now + Self.patience
    while ContinuousClock.now < deadline {
      let batch = try consumer.poll(maxMessages: 1, timeout: .milliseconds(100))
      if let message = batch.messages.first { return .record(message.offset, key: message.key ?? []) }
      for event in batch.events {
        switch event {
        case .partitionEnd(let end): return .end(end.offset)
        case .error(let error):
          if let first = error.unreadableBatch { return .batch(first) }
          if !error.isRetriable { throw error }
        }
      }
    }
    throw KafkaError(
      code: .timedOut, message: "neither a record nor an error came for 30 s", operation: "looking at \(place)",
      isRetriable: true)
  }

  /// Returns the offset after a batch that cannot be unpacked.
  private func end(of first: KafkaPosition, _ consumer: KafkaConsumer) throws(KafkaError) -> Int64 {
    let high = try consumer.watermarks(of: first.partition, timeout: Self.patience).high
    var (inside, behind) = (first.offset, high)
    var step: Int64 = 1
    while behind - inside > 1 {
      let isGrowing = behind == high && step < behind - inside
      let middle = isGrowing ? inside + step : inside + (behind - inside) / 2
      step *= 4
      switch try look(consumer, KafkaPosition(first.partition, offset: middle)) {
      case .batch(let other) where other.offset <= first.offset: inside = middle
      case .batch, .record, .end: behind = middle
      }
    }
    return behind
  }
}
