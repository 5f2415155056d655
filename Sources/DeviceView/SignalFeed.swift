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
  private let topic: String
  private let kafka: KafkaConfiguration
  private let metrics: DeviceViewMetrics
  private let logger: Logger
  private let now: () -> Date
  private let decoder = PublicRecordDecoder()
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
      nextCount = .now + DeviceFeed.countInterval
      let partitions: [Int32]
      do throws(DeviceFeed.FeedError) { partitions = try self.partitions() } catch {
        logger.debug("the brokers did not tell the partitions of the signals", metadata: ["error": "\(error)"])
        continue
      }
      if !partitions.isEmpty, Set(partitions) != Set(next.keys) { return }
    }
  }

  private func partitions() throws(DeviceFeed.FeedError) -> [Int32] {
    try kafka { () throws(KafkaError) in
      try KafkaAdmin(kafka).describeTopics([topic], timeout: DeviceFeed.brokerTimeout).flatMap(\.partitions).map(\.id)
    }
  }

  private func place(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: topic, partition: partition)
  }

  private func start() throws(DeviceFeed.FeedError) -> KafkaConsumer {
    let known = try store { () throws(DeviceStoreError) in try store.signalPositions() }
    let partitions = try partitions()
    nextCount = .now + DeviceFeed.countInterval
    next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, known[$0] ?? 0) })
    let consumer = try kafka { () throws(KafkaError) in try KafkaConsumer(kafka) }
    let ends = try kafka { () throws(KafkaError) in
      try consumer.ends(partitions.map(place), timeout: DeviceFeed.brokerTimeout)
    }
    for end in ends where end.offset < next[end.partition.partition] ?? 0 {
      logger.notice(
        "the topic of signals was made anew, so it is read from its beginning",
        metadata: ["partition": "\(end.partition)"])
      next[end.partition.partition] = 0
    }
    let starts = next.map { (place($0.key), $0.value == 0 ? KafkaOffset.beginning : .at($0.value)) }
    try kafka { () throws(KafkaError) in try consumer.assign(Dictionary(uniqueKeysWithValues: starts)) }
    return consumer
  }

  private func workOnce(_ consumer: KafkaConsumer) throws(DeviceFeed.FeedError) {
    let batch = try kafka { () throws(KafkaError) in
      try consumer.poll(maxMessages: DeviceFeed.batchRecordsMax, timeout: DeviceFeed.pollTimeout)
    }
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
      nextLook = .now + DeviceFeed.lookInterval
    }
  }

  private func add(_ messages: [KafkaMessage]) throws(DeviceFeed.FeedError) {
    var signals: [StoredSignal] = []
    var (others, refused) = (0, 0)
    for message in messages {
      next[message.partition] = message.nextPosition.offset
      guard let signal = signal(message) else {
        refused += 1
        continue
      }
      if let stored = StoredSignal(signal) { signals.append(stored) } else { others += 1 }
    }
    let (all, offsets) = (signals, next)
    let counts = try store { () throws(DeviceStoreError) in try store.add(all, next: offsets) }
    metrics.signals.add(counts.kept, ["kept"])
    metrics.signals.add(counts.unknown, ["unknown"])
    metrics.signals.add(others, ["other"])
    metrics.signals.add(refused, ["refused"])
  }

  /// Reads a record as intake does.
  ///
  /// - Returns: The signal; nil for a record that intake refuses.
  private func signal(_ message: KafkaMessage) -> Signal? {
    let written = message.timestampMilliseconds.flatMap { time in
      time >= 0 && time < Int64.max / 1000 ? Timestamp(microseconds: time * 1000) : nil
    }
    let time = written ?? Timestamp(microseconds: Int64(now().timeIntervalSince1970 * 1_000_000))
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: time)
    // Intake has made a dead letter of what it refuses, with the reason.
    guard case .signal(let signal)? = try? decoder.decode(record, from: .signals, now: time) else { return nil }
    return signal
  }

  /// Asks the brokers for the ends of all partitions, for the lag.
  private func look(_ consumer: KafkaConsumer) {
    do throws(KafkaError) {
      let ends = try consumer.ends(next.keys.map(place), timeout: DeviceFeed.lookTimeout)
      let lag = ends.reduce(Int64(0)) { lag, end in
        let partition = end.partition.partition
        return lag + max(0, end.offset - max(next[partition] ?? 0, reached[partition] ?? 0))
      }
      metrics.signalsLag.set(Double(lag))
    } catch {
      logger.debug("the brokers did not tell the ends of partitions", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Errors

  private func kafka<Value>(_ body: () throws(KafkaError) -> Value) throws(DeviceFeed.FeedError) -> Value {
    do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
  }

  private func store<Value>(_ body: () throws(DeviceStoreError) -> Value) throws(DeviceFeed.FeedError) -> Value {
    do throws(DeviceStoreError) { return try body() } catch { throw .store(error) }
  }
}
