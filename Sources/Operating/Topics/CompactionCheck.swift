public import Installation
public import KafkaClient

/// Measures the compacted topics: how much they hold, beside what can be alive in them.
///
/// - The planners write how many bytes of `rouse.state` can be alive with every commit (`StateFormat`). So each partition is
///   judged by itself.
/// - `rouse.devices` has one living record for each device. Its partitions are judged together, because an app backend chooses
///   the partition of a device.
///
/// The size of the topics is estimated from a sample (`PartitionSample`). Reading is bounded: up to `partitionsAtOnce` partitions are read
/// together, and after `timeMax` no further ones are begun.
public struct CompactionCheck {
  private let settings: ClusterSettings
  private let state: StateFormat
  private let cluster: any Cluster
  private let clock: any StageClock
  private let timeMax: Duration
  /// The time after which `rouse topics check` begins to measure no further partitions.
  /// - Beyond: the command names the partitions that were not measured.
  static let timeMax = Duration.seconds(30)
  /// The longest wait for the next record or the end of a partition.
  private static let patience = Duration.seconds(10)
  private static let partitionsAtOnce = 32
  /// The numbers of offsets before the end of a partition in which the newest clock is looked for, one after the other. Each
  /// commit writes one; behind it lie the position, the marker of the commit and, rarely, aborted transactions.
  private static let clockWindows: [Int64] = [64, 1024, 16_384]

  /// Makes a check of a real cluster.
  ///
  /// - Parameters:
  ///   - settings: The topics, and how to reach Kafka.
  ///   - state: The format of the state records.
  ///   - timeMax: The time after which no further partitions are measured; nil for that of `rouse topics check`.
  public init(settings: ClusterSettings, state: StateFormat, timeMax: Duration? = nil) {
    self.init(settings: settings, state: state, cluster: RealCluster(), clock: SystemClock(), timeMax: timeMax)
  }

  /// Makes a check.
  ///
  /// - Parameters:
  ///   - settings: The topics, and how to reach Kafka.
  ///   - state: The format of the state records.
  ///   - cluster: Makes the consumer.
  ///   - clock: Bounds the time, and says which records are old.
  ///   - timeMax: The time after which no further partitions are measured; nil for that of `rouse topics check`.
  init(
    settings: ClusterSettings, state: StateFormat, cluster: any Cluster, clock: any StageClock,
    timeMax: Duration? = nil
  ) {
    self.timeMax = timeMax ?? Self.timeMax
    self.settings = settings
    self.state = state
    self.cluster = cluster
    self.clock = clock
  }

  /// Measures `rouse.state` and `rouse.devices`. Topics that are missing are left out.
  ///
  /// - Parameters:
  ///   - admin: The client that asks for partitions and settings.
  ///   - timeout: The longest wait for each of its answers.
  /// - Returns: The topics that are there.
  /// - Throws: `KafkaError` if the broker does not answer, with the code `timedOut` if neither a record nor the end of a
  ///   partition comes in time.
  public func run(_ admin: KafkaAdmin, timeout: Duration = .seconds(30)) throws(KafkaError) -> [CompactedTopic] {
    let described = try admin.describeCluster(timeout: timeout).topics
    var topics: [MeasuredTopic] = []
    for name in [settings.topics.state, settings.topics.devices] {
      guard let found = described.first(where: { $0.name == name }), !found.partitions.isEmpty else { continue }
      let settings = try admin.describeTopicConfiguration(name, timeout: timeout)
      topics.append(
        MeasuredTopic(
          name: name, partitions: found.partitions.map(\.id).sorted(),
          segmentBytes: settings["segment.bytes"].flatMap { Int64($0) } ?? 1 << 30))
    }
    return try measure(topics)
  }

  /// A topic to measure.
  struct MeasuredTopic {
    var name: String
    /// The numbers of its partitions, in ascending order.
    var partitions: [Int32]
    /// The size of a segment. Bytes.
    var segmentBytes: Int64
  }

  /// Measures topics: `rouse.state`, if it is among them, before the others, because it states the number of devices.
  ///
  /// - Parameter topics: The topics.
  /// - Returns: The topics, in the same order.
  /// - Throws: `KafkaError`, with the code `timedOut` if neither a record nor the end of a partition comes in time.
  func measure(_ topics: [MeasuredTopic]) throws(KafkaError) -> [CompactedTopic] {
    let consumer = try cluster.consumer(
      settings.client(
        [
          "group.id": settings.readerGroup, "isolation.level": "read_committed", "enable.auto.commit": "false",
          "enable.partition.eof": "true", "auto.offset.reset": "earliest",
          // A window takes a few records of what the broker sends.
          "fetch.message.max.bytes": "65536", "queued.min.messages": "1",
        ], defaults: ["fetch.wait.max.ms": "50"]), listener: nil)
    defer { consumer.close(timeout: .seconds(2)) }
    let began = clock.elapsed
    var measured: [CompactedTopic] = []
    var devices: Int64?
    for topic in topics {
      var result = CompactedTopic(topic: topic.name, segmentBytes: topic.segmentBytes, parts: [])
      var extents: [Int32: StateFormat.StatedSize] = [:]
      for start in stride(from: 0, to: topic.partitions.count, by: Self.partitionsAtOnce) {
        let group = topic.partitions[start...].prefix(Self.partitionsAtOnce)
        guard clock.elapsed - began < timeMax else {
          result.unmeasured += group
          continue
        }
        let ends = try ends(of: group.map { KafkaTopicPartition(topic: topic.name, partition: $0) }, consumer)
        if topic.name == settings.topics.state { extents.merge(try self.extents(ends, consumer)) { $1 } }
        let samples = try sample(ends, consumer)
        result.parts += samples.sorted { $0.key < $1.key }.map { place, sample in
          CompactedTopic.Part(
            partition: place.partition, records: sample.records, bytes: sample.bytes,
            settledBytes: sample.settledBytes, livingBytes: extents[place.partition]?.bytes)
        }
      }
      if topic.name == settings.topics.state {
        devices = extents.count == topic.partitions.count ? extents.values.reduce(0) { $0 + $1.devices } : nil
      } else {
        result.parts = [Self.whole(result, devices: devices)]
      }
      measured.append(result)
    }
    return measured
  }

  /// Returns all partitions of `rouse.devices` as one part.
  ///
  /// - Parameters:
  ///   - topic: The topic with its partitions.
  ///   - devices: The number of living records; nil if it is not known.
  private static func whole(_ topic: CompactedTopic, devices: Int64?) -> CompactedTopic.Part {
    let mean = topic.records > 0 ? Double(topic.bytes) / Double(topic.records) : 0
    return CompactedTopic.Part(
      partition: nil, partitionCount: topic.parts.count, records: topic.records, bytes: topic.bytes,
      settledBytes: topic.parts.reduce(0) { $0 + $1.settledBytes },
      livingBytes: devices.map { Int64(Double($0) * mean) })
  }

  private func ends(
    of partitions: [KafkaTopicPartition], _ consumer: any ClusterConsumer
  ) throws(KafkaError) -> [KafkaTopicPartition: KafkaWatermarks] {
    var ends: [KafkaTopicPartition: KafkaWatermarks] = [:]
    for partition in partitions {
      ends[partition] = try retrying(clock: clock) { () throws(KafkaError) in
        try consumer.watermarks(of: partition, timeout: .seconds(10))
      }
    }
    return ends
  }

  /// Reads the newest clock of each partition. A partition without a clock among its last records is left out, and so is one
  /// whose clock another release has written.
  private func extents(
    _ ends: [KafkaTopicPartition: KafkaWatermarks], _ consumer: any ClusterConsumer
  ) throws(KafkaError) -> [Int32: StateFormat.StatedSize] {
    var clocks: [KafkaTopicPartition: [UInt8]] = [:]
    for window in Self.clockWindows {
      var starts: [KafkaTopicPartition: Int64] = [:]
      for (partition, end) in ends where clocks[partition] == nil && end.high > end.low {
        starts[partition] = max(end.low, end.high - window)
      }
      try read(starts, consumer) { message in
        if message.key == state.sizeKey, let value = message.value { clocks[message.topicPartition] = value }
        return message.offset + 1 >= ends[message.topicPartition]?.high ?? 0
      } end: { _ in
      }
    }
    var extents: [Int32: StateFormat.StatedSize] = [:]
    for (partition, clock) in clocks { extents[partition.partition] = state.size(clock) }
    return extents
  }

  private func sample(
    _ ends: [KafkaTopicPartition: KafkaWatermarks], _ consumer: any ClusterConsumer
  ) throws(KafkaError) -> [KafkaTopicPartition: PartitionSample] {
    let settledBefore = clock.wallMicroseconds / 1000 - CompactedTopic.settledAge.milliseconds
    var samples = ends.mapValues { PartitionSample(low: $0.low, high: $0.high, recordBytes: state.recordBytes) }
    while true {
      let starts = samples.compactMapValues(\.start)
      guard !starts.isEmpty else { return samples }
      try read(starts, consumer) { message in
        let isSettled = message.timestampMilliseconds.map { $0 < settledBefore } ?? false
        return samples[message.topicPartition]?.take(
          message.offset, bytes: (message.key?.count ?? 0) + (message.value?.count ?? 0), isSettled: isSettled) ?? true
      } end: { position in
        samples[position.partition]?.pass(to: max(position.offset, ends[position.partition]?.high ?? 0))
      }
    }
  }

  /// Reads partitions until each has told that it is done, or is at its end.
  ///
  /// - Parameters:
  ///   - starts: The offset to start from in each partition.
  ///   - consumer: The consumer, to which nothing is assigned.
  ///   - take: Gets each record, and returns whether its partition is done.
  ///   - end: Gets the end of each partition that reached it.
  private func read(
    _ starts: [KafkaTopicPartition: Int64], _ consumer: any ClusterConsumer, _ take: (KafkaMessage) -> Bool,
    end: (KafkaPosition) -> Void
  ) throws(KafkaError) {
    var open = Set(starts.keys)
    guard !open.isEmpty else { return }
    try consumer.incrementalAssign(starts.mapValues { .at($0) })
    var progressed = clock.elapsed
    while !open.isEmpty {
      let batch = try consumer.poll(maxMessages: 1000, timeout: .milliseconds(100))
      var done: [KafkaTopicPartition] = []
      for message in batch.messages where open.contains(message.topicPartition) && take(message) {
        open.remove(message.topicPartition)
        done.append(message.topicPartition)
      }
      for case .partitionEnd(let position) in batch.events where open.remove(position.partition) != nil {
        end(position)
        done.append(position.partition)
      }
      for case .error(let error) in batch.events where error.unreadableBatch != nil { throw error }
      if !done.isEmpty { try consumer.incrementalUnassign(done) }
      if !batch.messages.isEmpty || !done.isEmpty { progressed = clock.elapsed }
      if clock.elapsed - progressed > Self.patience {
        throw KafkaError(
          code: .timedOut, message: "no record and no end for \(Self.patience.milliseconds / 1000) s",
          operation: "measuring \(open.sorted().map(\.description).joined(separator: ", "))", isRetriable: true)
      }
    }
  }
}
