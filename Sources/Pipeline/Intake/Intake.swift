import Domain
import Foundation
import KafkaClient
public import Logging

/// One intake thread: reads the public topics, validates, and appends to `rouse.log`; what it cannot accept goes to
/// `rouse.dead-letters` with the reason. At least once: offsets are committed when all that came of them is delivered,
/// and planners drop an origin that they have seen.
public final class Intake {
  private let settings: PipelineSettings
  private let stop: StopSignal
  private let counters: PipelineCounters
  private let logger: Logger
  private let cluster: any Cluster
  private let clock: any StageClock
  private let events = CloudEventDecoder()
  private let signals = SignalDecoder()
  private let registrations = RegistrationDecoder()
  private var window: DuplicateWindow
  /// Channels that were told to their partition lately.
  private var channels = DuplicateWindow(size: 10_000)
  private var partitions: Int32 = 0
  private var buffer: [UInt8] = []
  /// Dead letters of the batch in hand; their tags count from 1.
  private var letters: [(message: KafkaMessage, error: DomainError)] = []
  private var consumer: (any ClusterConsumer)?
  private var producer: (any ClusterProducer)?
  private var lag: PlannerLag
  /// Messages that are appended and not all delivered yet; nothing more is read before they are.
  private var underway: [KafkaMessage] = []
  private var isPaused = false

  public convenience init(settings: PipelineSettings, stop: StopSignal, counters: PipelineCounters, logger: Logger) {
    self.init(
      settings: settings, stop: stop, counters: counters, logger: logger, cluster: KafkaCluster(), clock: SystemClock())
  }

  init(
    settings: PipelineSettings, stop: StopSignal, counters: PipelineCounters, logger: Logger, cluster: any Cluster,
    clock: any StageClock
  ) {
    self.settings = settings
    self.stop = stop
    self.counters = counters
    self.logger = logger
    self.cluster = cluster
    self.clock = clock
    window = DuplicateWindow(size: settings.intake.duplicateWindow)
    lag = PlannerLag(settings: settings, cluster: cluster, clock: clock)
  }

  /// Works until asked to stop, on the calling thread.
  public func run() throws(PipelineError) {
    defer { end() }
    try start()
    while !stop.isAsked { try workOnce() }
    try finish()
  }

  /// Connects and joins the group.
  func start() throws(PipelineError) {
    do throws(KafkaError) {
      partitions = try settings.logPartitionCount(cluster)
      producer = try cluster.producer(
        settings.client(
          [
            "enable.idempotence": "true", "partitioner": "murmur2_random", "message.max.bytes": "4194304",
            // Never given up for its age: planners drop an origin below the highest that they have seen, so a record that
            // fails while the one behind it arrives would be lost when it is read again.
            "message.timeout.ms": "0",
          ],
          defaults: ["linger.ms": "5", "compression.type": "lz4"]), queueFullTimeout: .seconds(60))
      let consumer = try cluster.consumer(
        settings.client(
          [
            "group.id": "\(settings.group)-intake", "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "isolation.level": "read_committed", "auto.offset.reset": "earliest",
          ],
          defaults: [
            "partition.assignment.strategy": "cooperative-sticky", "fetch.wait.max.ms": "50",
            "fetch.message.max.bytes": "4194304", "topic.metadata.refresh.interval.ms": "10000",
            // What is read ahead while intake pauses or the log takes its time.
            "queued.max.messages.kbytes": "65536",
          ]), listener: nil)
      self.consumer = consumer
      try consumer.subscribe(settings.eventTopics + [settings.topics.devices, settings.topics.signals])
    } catch { throw .kafka(error) }
  }

  /// Waits for what is under way, so that it need not be read again.
  func finish() throws(PipelineError) {
    let deadline = clock.elapsed + .seconds(4)
    do throws(KafkaError) {
      while !underway.isEmpty {
        try deliver(timeout: .milliseconds(100))
        guard clock.elapsed < deadline else {
          logger.warning("asked to stop before everything was delivered; it is read again after the restart")
          return
        }
      }
    } catch { throw .kafka(error) }
  }

  /// Lets go of everything.
  func end() {
    consumer?.close(timeout: .seconds(5))
    consumer = nil
    producer = nil
    lag.close()
  }

  /// One turn: reads a batch and appends it, or waits for the one before. Memory is bounded by one batch and what the
  /// consumer reads ahead: while the log or the planners are behind, the partitions are paused, and polled on, so that
  /// intake stays in its group.
  func workOnce() throws(PipelineError) {
    do throws(KafkaError) {
      try work()
    } catch { throw .kafka(error) }
  }

  private func work() throws(KafkaError) {
    guard let consumer, let producer else { return }
    let reason = try reasonToPause()
    if (reason != nil) != isPaused { try pause(reason) }
    // Of paused partitions nothing comes; a partition that the group gives meanwhile is paused with the next turn.
    let batch = try consumer.poll(
      maxMessages: settings.intake.pollRecordsMax, timeout: .milliseconds(underway.isEmpty ? 50 : 0))
    for case .error(let error) in batch.events { logger.warning("kafka", metadata: ["error": "\(error)"]) }
    if isPaused { try pauseAgain(consumer) }
    if !batch.messages.isEmpty {
      try take(batch.messages, producer)
      underway += batch.messages
    }
    if !underway.isEmpty { try deliver(timeout: .milliseconds(isPaused ? 100 : 1000)) }
  }

  // MARK: Back-pressure

  private func reasonToPause() throws(KafkaError) -> String? {
    if !underway.isEmpty { return "the log takes its time" }
    guard let behind = try lag.excess() else { return nil }
    return "the planner of log partition \(behind.partition) is \(behind.records) records behind"
  }

  private func pause(_ reason: String?) throws(KafkaError) {
    guard let consumer else { return }
    isPaused = reason != nil
    if let reason {
      counters.add(.intakePauses)
      logger.warning("intake pauses", metadata: ["reason": "\(reason)"])
      try pauseAgain(consumer)
    } else {
      logger.notice("intake goes on")
      try consumer.resume(consumer.assignment())
    }
  }

  private func pauseAgain(_ consumer: any ClusterConsumer) throws(KafkaError) {
    try consumer.pause(consumer.assignment())
  }

  private func take(_ messages: [KafkaMessage], _ producer: any ClusterProducer) throws(KafkaError) {
    for message in messages {
      let record: LogRecord
      do throws(DomainError) {
        guard let accepted = try decode(message) else { continue }
        record = accepted
      } catch {
        letters.append((message, error))
        try send(letter: letters.count - 1, whole: true, producer)
        counters.add(.deadLetters)
        continue
      }
      try append(record, arrival: message.timestampMilliseconds.map { Timestamp(milliseconds: $0) }, producer)
    }
  }

  /// - Returns: nil for what was accepted before.
  private func decode(_ message: KafkaMessage) throws(DomainError) -> LogRecord? {
    let origin = Origin(topic: message.topic, partition: message.partition, offset: message.offset)
    if message.topic == settings.topics.devices {
      counters.add(.registrationsAccepted)
      return LogRecord(origin: origin, content: try decodeDevice(message))
    }
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0))
    if message.topic == settings.topics.signals {
      let signal = try signals.decode(record)
      try Registration.requireDevice(signal.device, path: "$.data.device")
      counters.add(.signalsAccepted)
      return LogRecord(origin: origin, content: .signal(signal))
    }
    let event = try events.decode(record)
    if window.contains(source: event.source, id: event.id) {
      counters.add(.duplicatesDropped)
      return nil
    }
    window.insert(source: event.source, id: event.id)
    counters.add(.eventsAccepted)
    return LogRecord(origin: origin, content: .event(event))
  }

  private func decodeDevice(_ message: KafkaMessage) throws(DomainError) -> LogRecord.Content {
    if let value = message.value { return .registration(try registrations.decode(value, key: message.key)) }
    guard let key = message.key, !key.isEmpty else {
      throw DomainError(.missingField, path: "key", message: "missing; a tombstone needs the device as its key")
    }
    guard let device = String(validating: key, as: UTF8.self) else {
      throw DomainError(.invalidUTF8, path: "key", message: "not UTF-8; expected a device id")
    }
    try Registration.requireDevice(device, path: "key")
    return .forget(device: device)
  }

  /// Device records go to the device's partition, events to every partition.
  private func append(_ record: LogRecord, arrival: Timestamp?, _ producer: any ClusterProducer) throws(KafkaError) {
    buffer.removeAll(keepingCapacity: true)
    record.encode(into: &buffer)
    let device: String
    switch record.content {
    case .event(let event):
      for partition in 0..<partitions { try send(nil, partition, time: event.time, producer) }
      return
    case .registration(let registration):
      device = registration.device
      try send(
        device, DevicePartitioner.partition(of: device, count: partitions), time: registration.updatedAt, producer)
      for channel in registration.channels() { try append(channel: channel, producer) }
    case .forget(let id):
      try send(id, DevicePartitioner.partition(of: id, count: partitions), time: arrival, producer)
    case .signal(let signal):
      device = signal.device
      try send(device, DevicePartitioner.partition(of: device, count: partitions), time: signal.time, producer)
    case .policy, .tick: return
    }
  }

  /// Tells the channel's partition of it, unless that was told lately: thousands of devices name the same channel. No
  /// origin: repeating it changes nothing.
  private func append(channel: Registration, _ producer: any ClusterProducer) throws(KafkaError) {
    guard let activity = channel.activities.first else { return }
    let seen = "\(activity.startedAt.microseconds) \(activity.kind) \(activity.interests)"
    guard !channels.contains(source: channel.device, id: seen) else { return }
    channels.insert(source: channel.device, id: seen)
    buffer.removeAll(keepingCapacity: true)
    LogRecord(origin: nil, content: .registration(channel)).encode(into: &buffer)
    try send(
      channel.device, DevicePartitioner.partition(of: channel.device, count: partitions), time: channel.updatedAt,
      producer)
  }

  private func send(_ key: String?, _ partition: Int32, time: Timestamp?, _ producer: any ClusterProducer)
    throws(KafkaError)
  {
    let bytes = buffer
    try producer.send(
      topic: settings.topics.log, partition: partition, key: key.map { Array($0.utf8) }, value: bytes, headers: [],
      timestampMilliseconds: settings.timestamps == .event ? time.map { max(1, $0.milliseconds) } : nil, tag: 0)
  }

  /// Sends a dead letter; `whole` false leaves the value out, for a broker that refuses its size. The origin in the
  /// headers tells where it still stands.
  private func send(letter index: Int, whole: Bool, _ producer: any ClusterProducer) throws(KafkaError) {
    let (message, error) = letters[index]
    var headers = DeadLetter.headers(for: message, reason: error.code.rawValue, message: error.description)
    if !whole { headers.append(KafkaHeader("rouse-truncated", "\(message.value?.count ?? 0)")) }
    do throws(KafkaError) {
      try producer.send(
        topic: settings.topics.deadLetters, partition: nil, key: message.key, value: whole ? message.value : [],
        headers: headers, timestampMilliseconds: nil, tag: UInt64(index + 1))
    } catch {
      guard whole, error.code == .messageTooLarge else { throw error }
      try send(letter: index, whole: false, producer)
    }
  }

  /// All that was queued must have arrived before the offsets move.
  private func deliver(timeout: Duration) throws(KafkaError) {
    guard let producer, let consumer else { return }
    let all = try producer.flush(timeout: timeout)
    for failure in producer.takeDeliveryFailures() {
      guard let error = failure.error else { continue }
      guard failure.tag > 0, error.code == .messageTooLarge else { throw error }
      try send(letter: Int(failure.tag) - 1, whole: false, producer)
    }
    guard all, producer.counts.inFlight == 0 else { return }
    let done = underway
    underway = []
    letters = []
    try commit(done, consumer)
  }

  private func commit(_ messages: [KafkaMessage], _ consumer: any ClusterConsumer) throws(KafkaError) {
    var next: [KafkaTopicPartition: Int64] = [:]
    for message in messages {
      next[message.topicPartition] = max(next[message.topicPartition] ?? 0, message.offset + 1)
    }
    // A commit that fails during a rebalance is made good by the next one; what is read again meanwhile is dropped.
    try consumer.commitInBackground(next.sorted { $0.key < $1.key }.map { KafkaPosition($0.key, offset: $0.value) })
  }
}
