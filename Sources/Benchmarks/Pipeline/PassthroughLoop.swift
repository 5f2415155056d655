import Domain
import Installation
import KafkaClient
import Pipeline

/// The reference of the pipeline benchmark: a loop that reads committed records and writes each again, through the same
/// librdkafka with the same settings, and commits as often as the pipeline does. It does no other work on a record.
///
/// It reads and writes one small record for each decision, as a program does that knows of no blocks. So its cost for a record does not
/// depend on how the pipeline divides its output.
struct PassthroughLoop {
  var stage: BenchmarkStage
  var commitInterval: Duration

  /// Copies the stage's decisions, commands and state records to its copy topic.
  /// - Returns: the figures after a warm-up over the first tenth of the records.
  /// - Throws: `KafkaError` when the broker fails, ``BenchmarkError`` when there are too few records to measure.
  func run() throws -> PipelineRound {
    let kafka = stage.broker.kafka
    let names = stage.settings.topics
    try writeSingles()
    let producer = try KafkaProducer(
      kafka.merging([
        "transactional.id": stage.copyTopic, "enable.idempotence": "true", "partitioner": "murmur2_random",
        "message.max.bytes": "4194304", "linger.ms": "1000", "batch.num.messages": "100000", "compression.type": "lz4",
        "queue.buffering.max.messages": "500000", "delivery.report.only.error": "true",
      ]))
    try producer.initTransactions(timeout: .seconds(30))
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": stage.copyTopic, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
        "auto.offset.reset": "earliest", "isolation.level": "read_committed", "enable.partition.eof": "true",
        "fetch.wait.max.ms": "50", "queued.min.messages": "1000000", "queued.max.messages.kbytes": "65536",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    let sources = [stage.singlesTopic, names.commands, names.state].flatMap { topic in
      (0..<Int32(stage.partitions)).map { KafkaTopicPartition(topic: topic, partition: $0) }
    }
    let total = try held(sources, consumer)
    try consumer.assign(Dictionary(uniqueKeysWithValues: sources.map { ($0, KafkaOffset.beginning) }))
    return try copy(consumer, producer, sources, warmUp: total / 10)
  }

  /// Writes each decision of the stage as a record of its own, whose key is the decision's device. This is not measured.
  private func writeSingles() throws {
    let producer = try KafkaProducer(
      stage.broker.kafka.merging([
        "enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4",
        "queue.buffering.max.messages": "500000", "delivery.report.only.error": "true",
      ]), queueFullTimeout: .seconds(60))
    var failure: KafkaError?
    try stage.broker.read(stage.settings.topics.decisions, partitions: stage.partitions) { message in
      do throws(KafkaError) {
        guard failure == nil else { return }
        let block = DecisionBlock(message.value, count: nil)
        for line in block.lines {
          try producer.send(
            topic: stage.singlesTopic, partition: message.partition, key: Self.device(of: block.bytes[line]).span,
            value: block.bytes.span.extracting(line))
        }
        try producer.poll()
      } catch { failure = error }
    }
    if let failure { throw failure }
    guard try producer.flush(timeout: .seconds(120)), producer.takeDeliveryFailures().isEmpty else {
      throw BenchmarkError("the broker did not take the single decisions for the passthrough")
    }
  }

  /// Returns the text of the member `device` of a decision.
  private static func device(of line: ArraySlice<UInt8>) -> [UInt8] {
    guard let mark = line.firstRange(of: Array("\"device\":\"".utf8)) else { return [] }
    return Array(line[mark.upperBound...].prefix { $0 != UInt8(ascii: "\"") })
  }

  /// Returns the approximate number of records: transaction marks are counted as well.
  private func held(_ sources: [KafkaTopicPartition], _ consumer: KafkaConsumer) throws(KafkaError) -> Int {
    var count = 0
    for source in sources {
      let ends = try consumer.watermarks(of: source, timeout: .seconds(10))
      count += Int(ends.high - ends.low)
    }
    return count
  }

  private func copy(
    _ consumer: KafkaConsumer, _ producer: KafkaProducer, _ sources: [KafkaTopicPartition], warmUp: Int
  ) throws -> PipelineRound {
    var open = Set(sources)
    var (copied, transactions) = (0, 0)
    var start: (usage: ProcessUsage, copied: Int, transactions: Int)?
    let began = ContinuousClock.now
    // It commits as a planner does that has records to plan.
    var schedule = WorkerSchedule(commitInterval: commitInterval)
    var inTransaction = false
    while !open.isEmpty || inTransaction {
      if !inTransaction {
        try producer.beginTransaction()
        inTransaction = true
      }
      copied += try consumer.forward(
        maxMessages: 500, timeout: .milliseconds(20), to: producer, topic: stage.copyTopic)
      for case .partitionEnd(let position) in consumer.takeEvents() { open.remove(position.partition) }
      try producer.poll()
      // The warm-up ends with a commit, so that no transaction is measured in part.
      let isWarm = start == nil && copied >= warmUp
      let isDue = schedule.isCommitDue(at: ContinuousClock.now - began, isIdle: false)
      guard isWarm || isDue || open.isEmpty else { continue }
      schedule.commits(at: ContinuousClock.now - began)
      let positions = try consumer.positions(sources)
      try producer.sendOffsetsToTransaction(
        positions, group: try consumer.groupMetadata(), timeout: .seconds(30))
      try producer.commitTransaction(timeout: .seconds(60))
      schedule.committed(at: ContinuousClock.now - began)
      transactions += 1
      inTransaction = false
      if start == nil, copied >= warmUp {
        ProcessMemory.restartPeak()
        start = (.now(), copied, transactions)
      }
    }
    guard let start, copied > start.copied else { throw BenchmarkError("there are too few records for a passthrough") }
    let usage = ProcessUsage.now() - start.usage
    return PipelineRound(
      mode: .passthrough, wallSeconds: usage.wallSeconds, processorSeconds: usage.processorSeconds,
      outputRecords: copied - start.copied, transactions: transactions - start.transactions,
      peakBytes: ProcessMemory.peakBytes)
  }
}
