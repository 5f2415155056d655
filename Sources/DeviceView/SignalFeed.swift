import Domain
public import Foundation
public import KafkaClient
public import Logging
import Observing

/// Keeps the newest looks and fetches of each device in a `DeviceStore`, from `rouse.signals`. Works on one thread.
///
/// The view's age says nothing of signals: they are what people see of a device, and nothing is decided by them here. If the topic was made
/// anew, what the view has stays, and the topic is read from its beginning.
public final class SignalFeed {
  private let store: DeviceStore
  private let topic: FollowedTopic
  private let metrics: DeviceViewMetrics
  private let logger: Logger
  /// The offset of the next record, by partition.
  private var next: [Int32: Int64] = [:]
  /// The end of a partition that was reached, by partition.
  private var reached: [Int32: Int64] = [:]
  private var nextLook = ContinuousClock.now
  private var nextCount = ContinuousClock.now

  /// Makes a feed that does not run yet.
  ///
  /// - Parameters:
  ///   - store: The view.
  ///   - topic: The topic of signals.
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
  }

  /// Reads on the calling thread until it is not wanted any longer, or until the topic has another number of partitions: the next feed reads
  /// all of them.
  ///
  /// - Parameter isWanted: Whether to go on. Asked several times a second.
  /// - Throws: `DeviceFeed.FeedError`. The file is whole then, and the next feed goes on.
  public func run(while isWanted: () -> Bool) throws(DeviceFeed.FeedError) {
    let consumer = try start()
    defer { consumer.close(timeout: .seconds(2)) }
    while isWanted() {
      try workOnce(consumer)
      guard ContinuousClock.now >= nextCount else { continue }
      nextCount = .now + FollowedTopic.countInterval
      let partitions: [Int32]
      do throws(DeviceFeed.FeedError) { partitions = try topic.partitions() } catch {
        logger.debug("the brokers did not tell the partitions of the signals", metadata: ["error": "\(error)"])
        continue
      }
      if !partitions.isEmpty, Set(partitions) != Set(next.keys) { return }
    }
  }

  private func start() throws(DeviceFeed.FeedError) -> KafkaConsumer {
    let known = try FollowedTopic.store { () throws(DeviceStoreError) in try store.signalPositions() }
    let partitions = try topic.partitions()
    nextCount = .now + FollowedTopic.countInterval
    next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, known[$0] ?? 0) })
    let (consumer, ends) = try topic.consumer(of: partitions)
    for end in ends where end.offset < next[end.partition.partition] ?? 0 {
      logger.notice(
        "the topic of signals was made anew, so it is read from its beginning",
        metadata: ["partition": "\(end.partition)"])
      next[end.partition.partition] = 0
    }
    // Known before the first record, also to a feed whose records are refused.
    show(lagTo: ends)
    try topic.assign(consumer, next)
    return consumer
  }

  private func show(lagTo ends: [KafkaPosition]) {
    metrics.signalsLag.set(Double(FollowedTopic.lag(to: ends, next: next, reached: reached)))
  }

  private func workOnce(_ consumer: KafkaConsumer) throws(DeviceFeed.FeedError) {
    let batch = try topic.poll(consumer)
    if !batch.messages.isEmpty { try add(batch.messages) }
    for event in batch.events {
      switch event {
      case .partitionEnd(let position): reached[position.partition.partition] = position.offset
      case .error(let error):
        if error.code.refusesPrincipal { throw .kafka(error) }
        logger.debug("kafka", metadata: ["error": "\(error)"])
      }
    }
    if ContinuousClock.now >= nextLook {
      look(consumer)
      nextLook = .now + FollowedTopic.lookInterval
    }
  }

  private func add(_ messages: [KafkaMessage]) throws(DeviceFeed.FeedError) {
    var signals: [StoredSignal] = []
    var (others, refused) = (0, 0)
    for message in messages {
      next[message.partition] = message.nextPosition.offset
      guard case .signal(let signal)? = topic.content(of: message, .signals)?.content else {
        refused += 1
        continue
      }
      if let stored = StoredSignal(signal) { signals.append(stored) } else { others += 1 }
    }
    let (all, offsets) = (signals, next)
    let counts = try FollowedTopic.store { () throws(DeviceStoreError) in try store.add(all, next: offsets) }
    metrics.signals.add(counts.kept, ["kept"])
    metrics.signals.add(counts.unknown, ["unknown"])
    metrics.signals.add(others, ["other"])
    metrics.signals.add(refused, ["refused"])
  }

  /// Asks the brokers for the ends of all partitions, for the lag.
  private func look(_ consumer: KafkaConsumer) {
    do throws(KafkaError) {
      show(lagTo: try topic.ends(consumer, of: next.keys))
    } catch {
      logger.debug("the brokers did not tell the ends of partitions", metadata: ["error": "\(error)"])
    }
  }
}
