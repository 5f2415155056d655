import KafkaClient

/// The reference of the intake benchmark: a loop that reads the events and writes the first bytes of each to every partition of
/// a topic, through the same librdkafka with the same settings. It decodes nothing.
struct IntakePassthrough {
  var kafka: KafkaConfiguration
  var source: String
  var sourcePartitions: Int
  var target: String
  /// The number of partitions of the target.
  var partitions: Int
  /// The size of a written record.
  var bytes: Int
  /// The number of events in the source.
  var events: Int

  /// The number of records that are read before delivery reports are taken.
  private static let readMax = 1000

  /// Copies the events.
  /// - Returns: the figures after a warm-up over the first tenth.
  /// - Throws: `KafkaError` when the broker fails.
  func run() throws -> IntakeRound {
    let producer = try KafkaProducer(
      kafka.merging([
        "enable.idempotence": "true", "message.max.bytes": "4194304", "linger.ms": "5", "compression.type": "lz4",
      ]), queueFullTimeout: .seconds(60))
    let consumer = try KafkaConsumer.committed(
      source, partitions: sourcePartitions, group: target, kafka: kafka,
      properties: [
        "enable.auto.offset.store": "false", "fetch.wait.max.ms": "50", "fetch.message.max.bytes": "4194304",
        "queued.max.messages.kbytes": "65536",
      ])
    defer { consumer.close(timeout: .seconds(2)) }
    var copied = 0
    var start: (usage: ProcessUsage, copied: Int)?
    let deadline = ContinuousClock.now + .seconds(600)
    while copied < events {
      copied += try consumer.forEachMessage(maxMessages: Self.readMax, timeout: .milliseconds(50)) {
        (message: borrowing KafkaMessageView) throws(KafkaError) in
        try message.withValue { (value: Span<UInt8>?) throws(KafkaError) in
          guard let value else { return }
          let part = value.extracting(0..<min(bytes, value.count))
          for partition in 0..<Int32(partitions) {
            try producer.send(topic: target, partition: partition, key: nil, value: part)
          }
        }
      }
      try producer.poll()
      if start == nil, copied >= events / 10 { start = (.now(), copied) }
      guard ContinuousClock.now < deadline else { throw BenchmarkError("the passthrough took more than 600 s") }
    }
    guard try producer.flush(timeout: .seconds(60)), let start else {
      throw BenchmarkError("the broker did not take the passthrough's records within 60 s")
    }
    let usage = ProcessUsage.now() - start.usage
    return IntakeRound(
      kind: .passthrough, partitions: partitions, events: copied - start.copied, wallSeconds: usage.wallSeconds,
      processorSeconds: usage.processorSeconds)
  }
}
