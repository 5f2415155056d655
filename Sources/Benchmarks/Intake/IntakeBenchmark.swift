import Domain
import Foundation
import Installation
import KafkaClient
import Logging
import Pipeline

/// Measures intake alone: events from a public topic to the partitions of the log, beside a loop that only copies bytes.
///
/// The events are published before anything is measured. Intake and passthrough read the same topic in turns, each as a group
/// of its own; the first tenth of the events warms up. A run ends when the broker has every record.
package struct IntakeBenchmark {
  private let broker: BenchmarkBroker
  private let events: Int
  private let sourcePartitions: Int
  private let threads: Int
  private let progress: (String) -> Void
  private let prefix = "rouse-bench-\(UInt32.random(in: 0 ..< .max))."

  /// The approximate size of an event in its public topic, in bytes.
  package static let eventBytes = 270
  /// The longest time without progress before the benchmark gives up, in seconds.
  private static let patienceSeconds = 60.0
  /// The number of subjects that the events are about.
  private static let subjects = 10_000

  /// Creates a benchmark.
  /// - Parameters:
  ///   - broker: the broker to run on.
  ///   - events: the number of events, at least 10.
  ///   - sourcePartitions: the number of partitions of the topic of events.
  ///   - threads: the number of intake threads.
  ///   - progress: called with a few words before each part of the work.
  package init(
    broker: BenchmarkBroker, events: Int, sourcePartitions: Int, threads: Int, progress: @escaping (String) -> Void
  ) {
    self.broker = broker
    self.events = events
    self.sourcePartitions = sourcePartitions
    self.threads = threads
    self.progress = progress
  }

  private var eventTopic: String { prefix + "events" }

  /// Publishes the events.
  /// - Throws: `KafkaError` when the broker fails, ``BenchmarkError`` when it is too slow.
  package func publish() throws {
    progress("publishing \(events) events")
    try broker.create([KafkaNewTopic(name: eventTopic, partitions: sourcePartitions)])
    let producer = try KafkaProducer(
      broker.kafka.merging([
        "enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4", "partitioner": "murmur2_random",
      ]))
    let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    for number in 0..<events {
      let subject = "flight/UA\(number % Self.subjects)/2026-07-01"
      try producer.send(
        topic: eventTopic, key: Array(subject.utf8), value: Array(Self.json(number, subject, now).utf8))
      if number % 1000 == 0 { try producer.poll() }
    }
    guard try producer.flush(timeout: .seconds(60)) else {
      throw BenchmarkError("the broker did not take the benchmark's events within 60 s")
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }

  private static func json(_ number: Int, _ subject: String, _ time: Timestamp) -> String {
    #"{"specversion":"1.0","id":"event-\#(number)","source":"/airline/operations","type":"flight.delay.changed","#
      + #""subject":"\#(subject)","time":"\#(time)","datacontenttype":"application/json","#
      + #""data":{"delay":\#(number % 90),"previous":\#(number % 50),"gate":"B\#(number % 40)"}}"#
  }

  /// The size of the log record of an event, in bytes.
  private func logRecordBytes() -> Int {
    var bytes: [UInt8] = []
    let event = DomainEvent(
      id: "event-\(events / 2)", source: "/airline/operations", type: "flight.delay.changed",
      subject: "flight/UA\(Self.subjects / 2)/2026-07-01", time: Timestamp(microseconds: 1_782_907_200_000_000),
      fields: [
        EventField(path: "data.delay", value: .number(45)), EventField(path: "data.gate", value: .string("B20")),
        EventField(path: "data.previous", value: .number(25)),
      ])
    LogRecord(
      origin: Origin(topic: eventTopic, partition: 0, offset: Int64(events / 2), generation: 1 << 60),
      content: .event(event)
    ).encode(into: &bytes)
    return bytes.count
  }

  /// Measures intake at one number of log partitions, then the passthrough.
  /// - Parameter partitions: the number of partitions of the log.
  /// - Returns: both rounds.
  /// - Throws: ``BenchmarkError`` when the figures would be meaningless, `KafkaError` when the broker fails.
  package func run(partitions: Int) throws -> [IntakeRound] {
    let run = prefix + "\(partitions).\(UInt32.random(in: 0 ..< .max))."
    var settings = PipelineSettings(
      kafka: broker.kafka, topics: TopicNames(prefix: run), eventTopics: [eventTopic], group: run + "group",
      instance: "bench")
    settings.intake.plannerLagMax = 0
    let copyTopic = run + "copy"
    var topics = [settings.topics.log, copyTopic].map { KafkaNewTopic(name: $0, partitions: partitions) }
    topics += [settings.topics.devices, settings.topics.signals, settings.topics.deadLetters].map {
      KafkaNewTopic(name: $0, partitions: 1)
    }
    try broker.create(topics)
    progress("\(partitions) log partitions: intake")
    let intake = try measureIntake(settings, partitions)
    progress("\(partitions) log partitions: passthrough")
    let copy = try IntakePassthrough(
      kafka: broker.kafka, source: eventTopic, sourcePartitions: sourcePartitions, target: copyTopic,
      partitions: partitions, bytes: logRecordBytes(), events: events
    ).run()
    try broker.delete(topics.map(\.name))
    return [intake, copy]
  }

  /// Deletes the topic of events from a real broker.
  /// - Throws: `KafkaError` when the broker does not answer.
  package func remove() throws { try broker.delete([eventTopic]) }

  private func measureIntake(_ settings: PipelineSettings, _ partitions: Int) throws -> IntakeRound {
    var logger = Logger(label: "rouse") { PrintableLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    let (stop, counters) = (StopSignal(), PipelineCounters())
    let runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    for number in 0..<threads {
      runner.start("intake-\(number)") { [logger] () throws(PipelineError) in
        try Intake(settings: settings, number: number, stop: stop, counters: counters, logger: logger).run()
      }
    }
    let warmUp = events / 10
    try wait(runner, counters) { counters[.eventsAccepted] >= warmUp }
    let (start, before) = (ProcessUsage.now(), counters[.eventsAccepted])
    try wait(runner, counters) { counters[.eventsAccepted] >= events }
    try waitForEnd(settings, partitions)
    let usage = ProcessUsage.now() - start
    stop.ask()
    guard runner.join(timeout: .seconds(30)) else { throw BenchmarkError("intake did not end within 30 s") }
    guard counters[.deadLetters] == 0, counters[.duplicatesDropped] == 0, counters[.restarts] == 0 else {
      throw BenchmarkError("intake refused, dropped or read again some of the benchmark's events")
    }
    return IntakeRound(
      kind: .intake, partitions: partitions, events: events - before, wallSeconds: usage.wallSeconds,
      processorSeconds: usage.processorSeconds)
  }

  private func wait(
    _ runner: RoleRunner, _ counters: PipelineCounters, until done: () -> Bool
  ) throws(BenchmarkError) {
    var (moved, last) = (MonotonicClock.seconds(), -1)
    while !done() {
      if let error = runner.fatalError { throw BenchmarkError(error.description) }
      let now = counters[.eventsAccepted]
      if now != last { (moved, last) = (MonotonicClock.seconds(), now) }
      if MonotonicClock.seconds() - moved > Self.patienceSeconds {
        throw BenchmarkError("intake: nothing moved for \(Int(Self.patienceSeconds)) s")
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  /// Waits until every log partition has every event.
  private func waitForEnd(_ settings: PipelineSettings, _ partitions: Int) throws {
    let reader = try KafkaConsumer(broker.kafka.merging(["group.id": settings.group + "-ends"]))
    defer { reader.close(timeout: .seconds(2)) }
    let deadline = MonotonicClock.seconds() + Self.patienceSeconds
    for number in 0..<Int32(partitions) {
      let partition = KafkaTopicPartition(topic: settings.topics.log, partition: number)
      while try reader.watermarks(of: partition, timeout: .seconds(10)).high < events {
        guard MonotonicClock.seconds() < deadline else { throw BenchmarkError("the log did not get every event") }
        Thread.sleep(forTimeInterval: 0.002)
      }
    }
  }
}

/// The figures of one run of the intake benchmark, without its warm-up.
package struct IntakeRound: Sendable {
  /// The program that ran.
  package enum Kind: String, Sendable {
    /// Intake, as `rouse run` runs it.
    case intake
    /// A loop that only copies bytes, and writes as many records of the same size.
    case passthrough
  }

  /// The program that ran.
  package var kind: Kind
  /// The number of partitions of the log.
  package var partitions: Int
  /// The number of events that were read.
  package var events: Int
  /// The time until their last record was delivered, in seconds.
  package var wallSeconds: Double
  /// The processor time of the whole process meanwhile, librdkafka's threads included.
  package var processorSeconds: Double

  /// Events per second of elapsed time.
  package var eventsPerSecond: Double { Double(events) / wallSeconds }
  /// Seconds of processor time for a million events.
  package var processorPerMillion: Double { processorSeconds * 1e6 / Double(max(1, events)) }
}
