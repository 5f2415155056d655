import ArgumentParser
import Foundation
import KafkaClient
import Pipeline

/// How a round of the pipeline's benchmark runs.
enum BenchMode: String, CaseIterable, ExpressibleByArgument {
  /// As in operation.
  case transactional
  /// A plain C loop that copies what the transactional round wrote, record by record, in transactions of its own.
  case passthrough
  /// Without transactions.
  case idempotent
  /// Without decision records.
  case unlogged

  var words: String {
    switch self {
    case .transactional: "transactional"
    case .passthrough: "passthrough"
    case .idempotent: "idempotent only"
    case .unlogged: "no decision log"
    }
  }
}

/// What one round measured, after its warm-up.
struct BenchRound {
  var mode: BenchMode
  var wallSeconds: Double
  var processorSeconds: Double
  /// Log records planned, decisions, commands and state records; the passthrough has output records only.
  var logRecords = 0
  var decisions = 0
  var commands = 0
  var stateRecords = 0
  var outputRecords: Int
  var transactions = 0
  var peakBytes: Int?

  /// µs
  var processorPerRecord: Double { processorSeconds * 1e6 / Double(max(1, outputRecords)) }
  var processorPerMillionDecisions: Double { processorSeconds * 1e6 / Double(max(1, decisions)) }
  var decisionsPerSecond: Double { Double(decisions) / wallSeconds }
  var recordsPerSecond: Double { Double(outputRecords) / wallSeconds }
}

/// Runs rounds: each on topics of its own, with the same fleet and the same events in its log.
struct BenchPipelineRun {
  var broker: BenchBroker
  var load: BenchLoad
  var events: Int
  var partitions: Int
  var workers: Int
  var commitInterval: Duration
  /// Called with what is being done.
  var progress: (String) -> Void

  /// Records that a planner reads at once.
  private static let readMax = PipelineSettings.Planning().pollRecordsMax
  /// The first tenth of the events warms up.
  private var warmUpEvents: Int { events / 10 }
  /// With so few events the fleet is registered first; more are in the log from the start.
  private static let lateEventsMax = 100

  /// One round of the pipeline, and one of the passthrough over its output if asked for.
  func run(_ mode: BenchMode, passthrough: Bool) throws -> [BenchRound] {
    var planning = PipelineSettings.Planning()
    planning.commitInterval = commitInterval
    planning.isExactlyOnce = mode != .idempotent
    planning.logsDecisions = mode != .unlogged
    let stage = try BenchStage(broker: broker, partitions: partitions, planning: planning)
    progress("\(mode.words): feeding")
    let feeder = try stage.feeder(load)
    try feeder.feedFleet()
    var rounds = [try events <= Self.lateEventsMax ? runLate(stage, feeder, mode) : runWhole(stage, feeder, mode)]
    try stage.end()
    progress("\(mode.words): counting what stands in the topics")
    try verify(stage, mode)
    if passthrough {
      progress("passthrough")
      rounds.append(try BenchPassthrough(stage: stage, commitInterval: commitInterval).run())
    }
    try stage.remove()
    return rounds
  }

  /// The events lie in the log behind the fleet.
  private func runWhole(_ stage: BenchStage, _ feeder: BenchFeeder, _ mode: BenchMode) throws -> BenchRound {
    let warm = try feeder.feedEvents(0..<warmUpEvents)
    let measured = try feeder.feedEvents(warmUpEvents..<events)
    progress("\(mode.words): registering the fleet, warming up")
    let counters = stage.counters
    let before = partitions + load.devices + warm
    stage.startPlanners(workers)
    // Nothing of the fleet falls into what is measured.
    try stage.wait("registering") {
      counters[.registrationsPlanned] >= load.devices && counters[.logRecordsPlanned] >= before
    }
    return try measure(stage, mode) {
      try stage.wait("planning") { counters[.logRecordsPlanned] >= before + measured }
    }
  }

  /// The events come once the fleet is registered and committed: from the first being produced to the last commit.
  private func runLate(_ stage: BenchStage, _ feeder: BenchFeeder, _ mode: BenchMode) throws -> BenchRound {
    progress("\(mode.words): registering the fleet")
    let counters = stage.counters
    let before = partitions + load.devices
    stage.startPlanners(workers)
    try stage.wait("registering") { counters[.logRecordsPlanned] >= before }
    _ = try stage.waitForCommit()
    return try measure(stage, mode) {
      let measured = try feeder.feedEvents(0..<events)
      try stage.wait("planning") { counters[.logRecordsPlanned] >= before + measured }
    }
  }

  private func measure(_ stage: BenchStage, _ mode: BenchMode, _ work: () throws -> Void) throws -> BenchRound {
    progress("\(mode.words): measuring")
    let counters = stage.counters
    Machine.restartPeak()
    let counts = counts(counters)
    let start = BenchUsage.now()
    try work()
    let usage = try stage.waitForCommit() - start
    let made = zip(self.counts(counters), counts).map { $0 - $1 }
    guard made[1] > 0 else {
      throw Failure(
        "--events \(events): the warm-up took them all, as the log is read in pieces of \(Self.readMax) records; give at least \(4 * Self.readMax) for each partition"
      )
    }
    let written = (mode == .unlogged ? 0 : made[1]) + made[2] + made[3]
    return BenchRound(
      mode: mode, wallSeconds: usage.wallSeconds, processorSeconds: usage.processorSeconds, logRecords: made[0],
      decisions: made[1], commands: made[2], stateRecords: made[3], outputRecords: written, transactions: made[4],
      peakBytes: Machine.peakBytes)
  }

  private func counts(_ counters: PipelineCounters) -> [Int] {
    [
      counters[.logRecordsPlanned], counters[.decisions], counters[.commands], counters[.stateRecords],
      counters[.transactionsCommitted],
    ]
  }

  /// What the pipeline counted must stand in the topics, record for record.
  private func verify(_ stage: BenchStage, _ mode: BenchMode) throws {
    let names = stage.settings.topics
    let counters = stage.counters
    for (topic, expected) in [
      (names.decisions, mode == .unlogged ? 0 : counters[.decisions]), (names.commands, counters[.commands]),
      (names.state, counters[.stateRecords]),
    ] {
      let found = try broker.count(topic, partitions: partitions)
      guard found == expected else {
        throw Failure("\(topic) holds \(found) records, but \(expected) were written: records were dropped or doubled")
      }
    }
  }
}

/// The yardstick: a loop in C's manner, through the same librdkafka with the same settings, that reads committed records
/// and writes each again, committing as often as the pipeline does.
struct BenchPassthrough {
  var stage: BenchStage
  var commitInterval: Duration

  func run() throws -> BenchRound {
    let kafka = stage.broker.kafka
    let names = stage.settings.topics
    let producer = try KafkaProducer(
      kafka.merging([
        "transactional.id": stage.copyTopic, "enable.idempotence": "true", "partitioner": "murmur2_random",
        "message.max.bytes": "4194304", "linger.ms": "5", "compression.type": "lz4",
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
    let sources = [names.decisions, names.commands, names.state].flatMap { topic in
      (0..<Int32(stage.partitions)).map { KafkaTopicPartition(topic: topic, partition: $0) }
    }
    let total = try held(sources, consumer)
    try consumer.assign(Dictionary(uniqueKeysWithValues: sources.map { ($0, KafkaOffset.beginning) }))
    return try copy(consumer, producer, sources, warmUp: total / 10)
  }

  /// About how many records there are: transaction marks count too.
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
  ) throws -> BenchRound {
    var open = Set(sources)
    var (copied, transactions) = (0, 0)
    var start: (usage: BenchUsage, copied: Int, transactions: Int)?
    var lastCommit = ContinuousClock.now
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
      // The warm-up ends with a transaction of its own, however fast the rest would have come along.
      let isWarm = start == nil && copied >= warmUp
      guard isWarm || ContinuousClock.now - lastCommit >= commitInterval || open.isEmpty else { continue }
      lastCommit = .now
      let positions = try consumer.positions(sources)
      try producer.sendOffsetsToTransaction(
        positions, group: try consumer.groupMetadata(), timeout: .seconds(30))
      try producer.commitTransaction(timeout: .seconds(60))
      transactions += 1
      inTransaction = false
      if start == nil, copied >= warmUp {
        Machine.restartPeak()
        start = (.now(), copied, transactions)
      }
    }
    guard let start, copied > start.copied else { throw Failure("there are too few records for a passthrough") }
    let usage = BenchUsage.now() - start.usage
    return BenchRound(
      mode: .passthrough, wallSeconds: usage.wallSeconds, processorSeconds: usage.processorSeconds,
      outputRecords: copied - start.copied, transactions: transactions - start.transactions,
      peakBytes: Machine.peakBytes)
  }
}
