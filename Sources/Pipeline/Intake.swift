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
  private let events = CloudEventDecoder()
  private let signals = SignalDecoder()
  private let registrations = RegistrationDecoder()
  private var window: DuplicateWindow
  /// Channels that were told to their partition lately.
  private var channels = DuplicateWindow(size: 10_000)
  private var partitions: Int32 = 0
  private var buffer: [UInt8] = []

  public init(settings: PipelineSettings, stop: StopSignal, counters: PipelineCounters, logger: Logger) {
    self.settings = settings
    self.stop = stop
    self.counters = counters
    self.logger = logger
    window = DuplicateWindow(size: settings.intake.duplicateWindow)
  }

  /// Works until asked to stop, on the calling thread.
  public func run() throws(PipelineError) {
    do throws(KafkaError) {
      try work()
    } catch { throw .kafka(error) }
  }

  private func work() throws(KafkaError) {
    partitions = try settings.logPartitionCount()
    let producer = try KafkaProducer(
      settings.client(
        ["enable.idempotence": "true", "partitioner": "murmur2_random", "message.max.bytes": "4194304"],
        defaults: ["linger.ms": "5", "compression.type": "lz4"]), queueFullTimeout: .seconds(60))
    let consumer = try KafkaConsumer(
      settings.client(
        [
          "group.id": "\(settings.group)-intake", "enable.auto.commit": "false", "enable.auto.offset.store": "false",
          "isolation.level": "read_committed", "auto.offset.reset": "earliest",
        ],
        defaults: [
          "partition.assignment.strategy": "cooperative-sticky", "fetch.wait.max.ms": "50",
          "fetch.message.max.bytes": "4194304",
        ]))
    defer { consumer.close(timeout: .seconds(5)) }
    try consumer.subscribe(settings.eventTopics + [settings.topics.devices, settings.topics.signals])
    while !stop.isAsked {
      let batch = try consumer.poll(maxMessages: settings.intake.pollRecordsMax, timeout: .milliseconds(50))
      for case .error(let error) in batch.events { logger.warning("kafka", metadata: ["error": "\(error)"]) }
      if batch.messages.isEmpty { continue }
      try take(batch.messages, producer)
      try deliver(producer)
      try commit(batch.messages, consumer)
    }
  }

  private func take(_ messages: [KafkaMessage], _ producer: KafkaProducer) throws(KafkaError) {
    for message in messages {
      let record: LogRecord
      do throws(DomainError) {
        guard let accepted = try decode(message) else { continue }
        record = accepted
      } catch {
        try producer.send(
          topic: settings.topics.deadLetters, key: message.key, value: message.value,
          headers: DeadLetter.headers(for: message, reason: error.code.rawValue, message: error.description))
        counters.add(.deadLetters)
        continue
      }
      try append(record, producer)
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
  private func append(_ record: LogRecord, _ producer: KafkaProducer) throws(KafkaError) {
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
      try send(id, DevicePartitioner.partition(of: id, count: partitions), time: nil, producer)
    case .signal(let signal):
      device = signal.device
      try send(device, DevicePartitioner.partition(of: device, count: partitions), time: signal.time, producer)
    case .policy, .tick: return
    }
  }

  /// Tells the channel's partition of it, unless that was told lately: thousands of devices name the same channel. No
  /// origin: repeating it changes nothing.
  private func append(channel: Registration, _ producer: KafkaProducer) throws(KafkaError) {
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

  private func send(_ key: String?, _ partition: Int32, time: Timestamp?, _ producer: KafkaProducer) throws(KafkaError)
  {
    let bytes = buffer
    try producer.send(
      topic: settings.topics.log, partition: partition, key: key.map { Array($0.utf8) }, value: bytes.span,
      timestampMilliseconds: settings.timestamps == .event ? time.map { max(1, $0.milliseconds) } : nil)
  }

  /// All that was queued must have arrived before the offsets move.
  private func deliver(_ producer: KafkaProducer) throws(KafkaError) {
    while try !producer.flush(timeout: .seconds(1)) {
      logger.warning("the log takes its time", metadata: ["inFlight": "\(producer.counts.inFlight)"])
      if stop.isAsked {
        throw KafkaError(
          code: .timedOut, message: "asked to stop before everything was delivered; it is read again after the restart",
          operation: "appending to \(settings.topics.log)", isRetriable: true)
      }
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }

  private func commit(_ messages: [KafkaMessage], _ consumer: KafkaConsumer) throws(KafkaError) {
    var next: [KafkaTopicPartition: Int64] = [:]
    for message in messages { next[message.topicPartition] = message.offset + 1 }
    // A commit that fails during a rebalance is made good by the next one; what is read again meanwhile is dropped.
    try consumer.commitInBackground(next.sorted { $0.key < $1.key }.map { KafkaPosition($0.key, offset: $0.value) })
  }
}
