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
  private let topic: FollowedTopic
  private let metrics: DeviceViewMetrics
  private let logger: Logger
  private let now: () -> Date
  /// The offset of the next record, by partition.
  private var next: [Int32: Int64] = [:]
  /// The end of a partition that was reached, by partition. Control records stand between the last record and the end.
  private var reached: [Int32: Int64] = [:]
  private var nextLook = ContinuousClock.now
  private var nextKeeping = ContinuousClock.now
  private var nextCount = ContinuousClock.now

  /// The longest time without a proof that the view has everything. After 24 hours (`delete.retention.ms`) a broker may drop the record
  /// that forgets a device.
  /// - Beyond: the view is made anew.
  public static let currentAgoMax = Duration.seconds(12 * 3600)
  /// The time between two notes in the file that the view has everything.
  private static let keepingInterval = Duration.seconds(10)

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
    self.topic = FollowedTopic(topic, kafka: kafka, now: now)
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
      nextCount = .now + FollowedTopic.countInterval
      if try hasOtherPartitions() { return }
    }
  }

  /// Whether the topic has other partitions than at the start of the feed. Brokers that do not answer change nothing.
  private func hasOtherPartitions() throws(FeedError) -> Bool {
    let now: [Int32]
    do throws(FeedError) { now = try topic.partitions() } catch {
      logger.debug("the brokers did not tell the partitions of the devices", metadata: ["error": "\(error)"])
      return false
    }
    guard !now.isEmpty, Set(now) != Set(next.keys) else { return false }
    logger.notice(
      "the topic of devices has another number of partitions, so the view reads it with all of them",
      metadata: ["topic": "\(topic.name)", "before": "\(next.count)", "now": "\(now.count)"])
    return true
  }

  private func start() throws(FeedError) -> KafkaConsumer {
    let known = try FollowedTopic.store { () throws(DeviceStoreError) in try store.positions() }
    let partitions = try topic.partitions()
    nextCount = .now + FollowedTopic.countInterval
    next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, known[$0] ?? 0) })
    if known.keys.contains(where: { next[$0] == nil }) {
      logger.warning("the topic of devices has fewer partitions than before, so the view of it starts over")
      try FollowedTopic.store { () throws(DeviceStoreError) in try store.startOver() }
      for partition in partitions { next[partition] = 0 }
    }
    let (consumer, ends) = try topic.consumer(of: partitions)
    let back = ends.filter { $0.offset < next[$0.partition.partition] ?? 0 }
    if !back.isEmpty { try startOver(Set(back.map(\.partition.partition))) }
    try topic.assign(consumer, next)
    return consumer
  }

  /// Removes the devices of partitions whose topic was made anew.
  private func startOver(_ partitions: Set<Int32>) throws(FeedError) {
    logger.warning(
      "the topic of devices was made anew, so these partitions of the view start over",
      metadata: ["topic": "\(topic.name)", "partitions": "\(partitions.sorted())"])
    let offsets = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Int64(0)) })
    _ = try FollowedTopic.store { () throws(DeviceStoreError) in try store.apply([], anew: partitions, next: offsets) }
    for partition in partitions { (next[partition], reached[partition]) = (0, nil) }
  }

  private func workOnce(_ consumer: KafkaConsumer) throws(FeedError) {
    let batch = try topic.poll(consumer)
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
      nextLook = .now + FollowedTopic.lookInterval
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
    let counts = try FollowedTopic.store { () throws(DeviceStoreError) in try store.apply(all, next: offsets) }
    metrics.records.add(counts.kept, ["kept"])
    metrics.records.add(counts.older, ["older"])
    metrics.records.add(counts.forgotten, ["forgotten"])
    metrics.records.add(refused, ["refused"])
  }

  /// Reads a record as intake does.
  ///
  /// - Returns: The change; nil for a record that intake refuses.
  private func change(_ message: KafkaMessage) -> DeviceStore.DeviceChange? {
    guard let key = message.key, let (content, time) = topic.content(of: message, .devices) else { return nil }
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
    do throws(KafkaError) { ends = try topic.ends(consumer, of: next.keys) } catch {
      return logger.debug("the brokers did not tell the ends of partitions", metadata: ["error": "\(error)"])
    }
    let back = ends.filter { $0.offset < next[$0.partition.partition] ?? 0 }
    if !back.isEmpty {
      try startOver(Set(back.map(\.partition.partition)))
      return try topic.assign(consumer, next)
    }
    guard ends.count == next.count, !next.isEmpty else { return }
    let lag = FollowedTopic.lag(to: ends, next: next, reached: reached)
    metrics.lag.set(Double(lag))
    if let age = store.age(at: asked), .seconds(age) > Self.currentAgoMax { return try startOver(consumer) }
    if lag == 0 {
      let isKept = ContinuousClock.now >= nextKeeping
      if isKept { nextKeeping = .now + Self.keepingInterval }
      try FollowedTopic.store { () throws(DeviceStoreError) in try store.isCurrent(since: asked, isKept: isKept) }
    }
  }

  private func startOver(_ consumer: KafkaConsumer) throws(FeedError) {
    logger.warning(
      "the view of devices has missed too much, so it starts over; until it is full, devices cannot be read",
      metadata: ["hours": "\(Int(Self.currentAgoMax / .seconds(3600)))"])
    try FollowedTopic.store { () throws(DeviceStoreError) in try store.startOver() }
    reached = [:]
    for partition in next.keys { next[partition] = 0 }
    try topic.assign(consumer, next)
  }
}
