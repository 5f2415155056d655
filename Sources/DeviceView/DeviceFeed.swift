import Domain
public import Foundation
public import KafkaClient
public import Logging
import Observing

/// Keeps a `DeviceStore` up to date with `rouse.devices`. Works on one thread.
///
///     start ──positions of the file──► reading ──batch──► file: devices and positions in one transaction
///                                         │
///                                         ├─ nothing new: asks for the ends of the partitions; all read: current
///                                         ├─ an offset behind the last: the topic was made anew; the partition starts over
///                                         └─ current too long ago: everything starts over
public final class DeviceFeed {
  /// The reason why a feed ended.
  public enum FeedError: Error, Sendable {
    /// Kafka failed.
    case kafka(KafkaError)
    /// The file failed.
    case store(DeviceStoreError)
  }

  private let store: DeviceStore
  private let topic: String
  private let kafka: KafkaConfiguration
  private let metrics: DeviceViewMetrics
  private let logger: Logger
  private let now: () -> Date
  private let decoder = PublicRecordDecoder()
  /// The offset of the next record, by partition.
  private var next: [Int32: Int64] = [:]
  /// The end of a partition that was reached, by partition. Control records stand between the last record and the end.
  private var reached: [Int32: Int64] = [:]
  private var nextLook = ContinuousClock.now
  private var nextKeeping = ContinuousClock.now
  private var nextCount = ContinuousClock.now

  /// The largest number of records of a transaction.
  /// - Beyond: the others go into the next one.
  static let batchRecordsMax = 2000
  /// The longest time without a proof that the view has everything. After 24 hours (`delete.retention.ms`) a broker may drop the record
  /// that forgets a device.
  /// - Beyond: the view is made anew.
  public static let currentAgoMax = Duration.seconds(12 * 3600)
  /// The time between two looks at the ends of the partitions.
  static let lookInterval = Duration.seconds(1)
  /// The time between two notes in the file that the view has everything.
  private static let keepingInterval = Duration.seconds(10)
  /// The time between two looks at the number of partitions.
  static let countInterval = Duration.seconds(60)
  /// The longest wait for an answer of the brokers. A process that is told to end waits for two of them at most.
  static let brokerTimeout = Duration.seconds(3)
  /// The longest wait for the ends of the partitions. Nothing is read meanwhile.
  static let lookTimeout = Duration.seconds(1)
  /// The longest wait for records.
  static let pollTimeout = Duration.milliseconds(100)

  /// Makes a feed that does not run yet.
  ///
  /// - Parameters:
  ///   - store: The view.
  ///   - topic: The topic.
  ///   - kafka: The properties of librdkafka, with a `group.id`, which only names the client: nothing is committed.
  ///   - metrics: The metrics of the view.
  ///   - logger: Gets failures.
  ///   - now: The wall clock.
  public init(
    _ store: DeviceStore, topic: String, kafka: KafkaConfiguration, metrics: DeviceViewMetrics, logger: Logger,
    now: @escaping () -> Date = { Date() }
  ) {
    self.store = store
    self.topic = topic
    let defaults: KafkaConfiguration = [
      "fetch.wait.max.ms": "100", "queued.min.messages": "100000", "queued.max.messages.kbytes": "16384",
    ]
    self.kafka = defaults.merging(kafka).merging([
      "enable.auto.commit": "false", "auto.offset.reset": "earliest", "enable.partition.eof": "true",
      "isolation.level": "read_committed",
    ])
    self.metrics = metrics
    self.logger = logger
    self.now = now
  }

  /// Reads on the calling thread until it is not wanted any longer, or until the topic has more partitions: the next feed reads them, too.
  ///
  /// - Parameter isWanted: Whether to go on. Asked several times a second.
  /// - Throws: `FeedError`. The file is whole then, and the next feed goes on.
  public func run(while isWanted: () -> Bool) throws(FeedError) {
    let consumer = try start()
    defer { consumer.close(timeout: .seconds(2)) }
    while isWanted() {
      try workOnce(consumer)
      guard ContinuousClock.now >= nextCount else { continue }
      nextCount = .now + Self.countInterval
      if try hasOtherPartitions() { return }
    }
  }

  private func partitions() throws(FeedError) -> [Int32] {
    try kafka { () throws(KafkaError) in
      try KafkaAdmin(kafka).describeTopics([topic], timeout: Self.brokerTimeout).flatMap(\.partitions).map(\.id)
    }
  }

  /// Whether the topic has other partitions than at the start of the feed. Brokers that do not answer change nothing.
  private func hasOtherPartitions() throws(FeedError) -> Bool {
    let now: [Int32]
    do throws(FeedError) { now = try partitions() } catch {
      logger.debug("the brokers did not tell the partitions of the devices", metadata: ["error": "\(error)"])
      return false
    }
    guard !now.isEmpty, Set(now) != Set(next.keys) else { return false }
    logger.notice(
      "the topic of devices has another number of partitions, so the view reads it with all of them",
      metadata: ["topic": "\(topic)", "before": "\(next.count)", "now": "\(now.count)"])
    return true
  }

  private func start() throws(FeedError) -> KafkaConsumer {
    let known = try store { () throws(DeviceStoreError) in try store.positions() }
    let partitions = try partitions()
    nextCount = .now + Self.countInterval
    next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, known[$0] ?? 0) })
    if known.keys.contains(where: { next[$0] == nil }) {
      logger.warning("the topic of devices has fewer partitions than before, so the view of it starts over")
      try store { () throws(DeviceStoreError) in try store.startOver() }
      for partition in partitions { next[partition] = 0 }
    }
    let consumer = try kafka { () throws(KafkaError) in try KafkaConsumer(kafka) }
    let ends = try kafka { () throws(KafkaError) in
      try consumer.ends(partitions.map(place), timeout: Self.brokerTimeout)
    }
    let back = ends.filter { $0.offset < next[$0.partition.partition] ?? 0 }
    if !back.isEmpty { try startOver(Set(back.map(\.partition.partition))) }
    try assign(consumer)
    return consumer
  }

  private func place(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: topic, partition: partition)
  }

  /// Reads on from the known positions.
  private func assign(_ consumer: KafkaConsumer) throws(FeedError) {
    let starts = next.map { (place($0.key), $0.value == 0 ? KafkaOffset.beginning : .at($0.value)) }
    try kafka { () throws(KafkaError) in try consumer.assign(Dictionary(uniqueKeysWithValues: starts)) }
  }

  /// Removes the devices of partitions whose topic was made anew.
  private func startOver(_ partitions: Set<Int32>) throws(FeedError) {
    logger.warning(
      "the topic of devices was made anew, so these partitions of the view start over",
      metadata: ["topic": "\(topic)", "partitions": "\(partitions.sorted())"])
    let offsets = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Int64(0)) })
    _ = try store { () throws(DeviceStoreError) in try store.apply([], anew: partitions, next: offsets) }
    for partition in partitions { (next[partition], reached[partition]) = (0, nil) }
  }

  private func workOnce(_ consumer: KafkaConsumer) throws(FeedError) {
    let batch = try kafka { () throws(KafkaError) in
      try consumer.poll(maxMessages: Self.batchRecordsMax, timeout: Self.pollTimeout)
    }
    if !batch.messages.isEmpty { try apply(batch.messages) }
    for event in batch.events {
      switch event {
      case .partitionEnd(let position): reached[position.partition.partition] = position.offset
      case .error(let error):
        if error.code.refusesPrincipal { throw .kafka(error) }
        logger.debug("kafka", metadata: ["error": "\(error)"])
      }
    }
    if ContinuousClock.now >= nextLook {
      try look(consumer)
      nextLook = .now + Self.lookInterval
    }
  }

  // MARK: Records

  private func apply(_ messages: [KafkaMessage]) throws(FeedError) {
    // Offsets that go back: librdkafka has found that the topic is another one, and reads it from its beginning.
    var last: [Int32: Int64] = [:]
    let back = messages.filter { message in
      defer { last[message.partition] = message.offset }
      return message.offset < last[message.partition] ?? next[message.partition] ?? 0
    }
    if !back.isEmpty { try startOver(Set(back.map(\.partition))) }
    var (changes, refused) = ([DeviceStore.DeviceChange](), 0)
    for message in messages {
      next[message.partition] = message.nextPosition.offset
      if let change = change(message) { changes.append(change) } else { refused += 1 }
    }
    let (all, offsets) = (changes, next)
    let counts = try store { () throws(DeviceStoreError) in try store.apply(all, next: offsets) }
    metrics.records.add(counts.kept, ["kept"])
    metrics.records.add(counts.older, ["older"])
    metrics.records.add(counts.forgotten, ["forgotten"])
    metrics.records.add(refused, ["refused"])
  }

  /// Reads a record as intake does.
  ///
  /// - Returns: The change; nil for a record that intake refuses.
  private func change(_ message: KafkaMessage) -> DeviceStore.DeviceChange? {
    guard let key = message.key else { return nil }
    let written = message.timestampMilliseconds.flatMap { time in
      time >= 0 && time < Int64.max / 1000 ? Timestamp(microseconds: time * 1000) : nil
    }
    let time = written ?? Timestamp(microseconds: Int64(now().timeIntervalSince1970 * 1_000_000))
    let record = CloudEventRecord(key: key, value: message.value, timestamp: time)
    // Intake has made a dead letter of what it refuses, with the reason.
    guard let content = try? decoder.decode(record, from: .devices, now: time) else { return nil }
    switch content {
    case .registration(let registration):
      let device = StoredDevice(app: "\(registration.app)", value: message.value ?? [])
      return DeviceStore.DeviceChange(
        device: key, partition: message.partition, registration: (device, min(registration.updatedAt, time)),
        interests: interests(of: registration), instances: instances(of: registration))
    case .forget: return DeviceStore.DeviceChange(device: key, partition: message.partition, registration: nil)
    default: return nil
    }
  }

  /// Returns the kinds of a device's instances with the keys that they listen to.
  private func interests(of registration: Registration) -> Set<DeviceStore.DeviceInterest> {
    let instances =
      registration.widgets.map { ($0.kind, $0.interests) } + registration.controls.map { ($0.kind, $0.interests) }
      + registration.activities.map { ($0.kind, $0.interests) }
      + registration.pushToStart.map { ($0.kind, $0.interests) }
    return Set(instances.flatMap { kind, keys in keys.map { DeviceStore.DeviceInterest(key: $0, kind: kind) } })
  }

  /// Returns the number of a device's placed widgets, placed controls and running activities, by kind.
  private func instances(of registration: Registration) -> [Identifier: Int] {
    let kinds =
      registration.widgets.map(\.kind) + registration.controls.map(\.kind) + registration.activities.map(\.kind)
    return kinds.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  // MARK: Age

  /// Asks the brokers for the ends of all partitions. If everything before them was read, the view was current when it asked.
  private func look(_ consumer: KafkaConsumer) throws(FeedError) {
    let asked = now()
    let ends: [KafkaPosition]
    do throws(KafkaError) { ends = try consumer.ends(next.keys.map(place), timeout: Self.lookTimeout) } catch {
      return logger.debug("the brokers did not tell the ends of partitions", metadata: ["error": "\(error)"])
    }
    let back = ends.filter { $0.offset < next[$0.partition.partition] ?? 0 }
    if !back.isEmpty {
      try startOver(Set(back.map(\.partition.partition)))
      return try assign(consumer)
    }
    guard ends.count == next.count, !next.isEmpty else { return }
    let lag = ends.reduce(Int64(0)) { lag, end in
      let partition = end.partition.partition
      return lag + max(0, end.offset - max(next[partition] ?? 0, reached[partition] ?? 0))
    }
    metrics.lag.set(Double(lag))
    if let age = store.age(at: asked), .seconds(age) > Self.currentAgoMax { return try startOver(consumer) }
    if lag == 0 {
      let isKept = ContinuousClock.now >= nextKeeping
      if isKept { nextKeeping = .now + Self.keepingInterval }
      try store { () throws(DeviceStoreError) in try store.isCurrent(since: asked, isKept: isKept) }
    }
  }

  private func startOver(_ consumer: KafkaConsumer) throws(FeedError) {
    logger.warning(
      "the view of devices has missed too much, so it starts over; until it is full, devices cannot be read",
      metadata: ["hours": "\(Int(Self.currentAgoMax / .seconds(3600)))"])
    try store { () throws(DeviceStoreError) in try store.startOver() }
    reached = [:]
    for partition in next.keys { next[partition] = 0 }
    try assign(consumer)
  }

  // MARK: Errors

  private func kafka<Value>(_ body: () throws(KafkaError) -> Value) throws(FeedError) -> Value {
    do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
  }

  private func store<Value>(_ body: () throws(DeviceStoreError) -> Value) throws(FeedError) -> Value {
    do throws(DeviceStoreError) { return try body() } catch { throw .store(error) }
  }
}
