import Auditing
import Domain
import Foundation
import Installation
import JSON
import KafkaClient
import LineFiles
import Logging
import Operating
import Pipeline
import Policies
import Replay
import Storing

/// The pipeline of the demo: the stages of `rouse run` on an embedded broker, and a publisher that never runs further
/// ahead than that broker can hold.
final class DemoStage {
  /// The settings of the stages.
  let settings: PipelineSettings
  private let policy: PolicyDocument
  private let partitions: Int
  let counters = PipelineCounters()
  let stop = Shutdown.onSignal()
  private let runner: RoleRunner
  private let producer: KafkaProducer
  let logger: Logger
  private let progress = ProgressLine()
  private var playSeconds = 0.0
  private var published = 0

  /// The largest number of decisions that are not audited yet. The embedded broker keeps about 5 MB of a partition, and
  /// they must fit into that.
  private static let unauditedMax = 12_000
  /// The largest number of published events that intake has not accepted yet. At most twice as many are not planned
  /// yet.
  private static let eventsUnderwayMax = 400

  /// Creates the topics and a publisher.
  /// - Throws: `KafkaError` when the broker refuses.
  init(broker: EmbeddedBroker, partitions: Int, policy: PolicyDocument) throws {
    self.policy = policy
    self.partitions = partitions
    var settings = PipelineSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers), ("session.timeout.ms", "6000")]),
      eventTopics: ["flights"], instance: "demo", timestamps: .event)
    settings.cluster.isBrokerEmbedded = true
    self.settings = settings
    for name in settings.topics.all { try broker.createTopic(name, partitions: partitions) }
    // A single partition keeps the events in order.
    try broker.createTopic("flights", partitions: 1)
    var logger = Logger(label: "rouse") { PrintableLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    self.logger = logger
    runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    producer = try KafkaProducer(
      KafkaConfiguration([
        ("bootstrap.servers", broker.bootstrapServers), ("enable.idempotence", "true"), ("linger.ms", "5"),
        ("partitioner", "murmur2_random"),
      ]))
  }

  /// The number of planner threads.
  private var plannerCount: Int { min(partitions, ProcessInfo.processInfo.activeProcessorCount) }

  /// The threads of the stages.
  var threads: [PipelineStatus.StageThread] {
    [PipelineStatus.StageThread(role: .intake, number: 0), PipelineStatus.StageThread(role: .audit, number: 0)]
      + (0..<plannerCount).map { PipelineStatus.StageThread(role: .planner, number: $0) }
  }

  /// Puts the policy into force and starts the stages.
  ///
  /// - Parameters:
  ///   - auditStore: The path of the audit store.
  ///   - devicesView: The path of a view of the registrations, for the console.
  ///   - stories: Gets the decisions that are worth a look.
  /// - Throws: `KafkaError` when the broker refuses, `Failure` when the view cannot be made.
  func start(auditStore: String, devicesView: String, stories: DemoStories) throws {
    let stop = stop
    let counters = counters
    let logger = logger
    let settings = settings
    _ = try PolicyAppender(settings: settings.cluster).seed(policy)
    for number in 0..<plannerCount {
      runner.start("planner-\(number)") { () throws(PipelineError) in
        try PlannerWorker(settings: settings, number: number, stop: stop, counters: counters, logger: logger).run()
      }
    }
    let view = try DevicesView(devicesView, .consoleDevicesView, group: settings.cluster.readerGroup, settings, logger)
    view.keep(on: runner, counters, isOnlyShown: true) { !stop.isAsked }
    runner.start("intake") { () throws(PipelineError) in
      try Intake(settings: settings, stop: stop, counters: counters, logger: logger).run()
    }
    runner.start("audit") { () throws(PipelineError) in
      let sink: AuditSink
      do throws(AuditError) {
        sink = try AuditSink(path: auditStore, retention: Retention())
      } catch {
        throw .setup(error.description)
      }
      try AuditFeed(
        settings: settings, sink: DemoSink(sink, stories), stop: stop, counters: counters, logger: logger
      ).run()
    }
  }

  /// Registers the fleet, publishes the day, and advances log time until nothing is pending.
  /// - Parameters:
  ///   - fleet: The fleet.
  ///   - events: The path of the events.
  ///   - speed: The seconds of the day that pass in a second; nil for as many as this machine can.
  /// - Returns: false when it was interrupted.
  func play(fleet: FleetGenerator, events: String, speed: Double?) throws -> Bool {
    let began = Machine.seconds()
    try publishFleet(fleet)
    guard try wait("registering", until: { self.counters[.registrationsPlanned] >= fleet.options.devices }) else {
      return false
    }
    let end = try publishEvents(events, speed)
    guard !stop.isAsked else { return false }
    let perPartition = published * partitions + fleet.options.devices
    guard try wait("planning", until: { self.counters[.logRecordsPlanned] >= perPartition }) else { return false }
    // Pending changes end within the longest expiry of the policy's kinds, which is below 48 hours.
    for hour in 1...48 { try tick(at: end + .hours(Int64(hour))) }
    let all = perPartition + 48 * partitions
    let done = try wait(
      "auditing",
      until: {
        self.counters[.logRecordsPlanned] >= all && self.counters[.auditedDecisions] >= self.counters[.decisions]
          && self.counters[.auditedCommands] >= self.counters[.commands]
      })
    playSeconds = Machine.seconds() - began
    progress.end()
    return done
  }

  /// Publishes the registrations, and waits whenever too many are in flight.
  private func publishFleet(_ fleet: FleetGenerator) throws {
    var writer = JSONWriter()
    for index in 0..<fleet.options.devices where !stop.isAsked {
      let registration = fleet.registration(at: index)
      writer.reset()
      registration.encode(to: &writer)
      try producer.send(topic: settings.topics.devices, key: Array(registration.device.utf8), value: writer.bytes)
      if index % 500 == 499 {
        _ = try wait("registering", until: { index - self.counters[.registrationsPlanned] < 4000 })
      }
    }
    _ = try producer.flush(timeout: .seconds(10))
  }

  /// Publishes the events of a file, and waits whenever too many are in flight.
  /// - Returns: the time of the last event.
  private func publishEvents(_ path: String, _ speed: Double?) throws -> Timestamp {
    var reader = try LineReader(path: path)
    let json = JSONReader()
    var last = Timestamp(microseconds: 0)
    var began: (at: Double, time: Timestamp)?
    while !stop.isAsked, let line = try reader.next() {
      let bytes = Array(line)
      last = try json.read(bytes) { (node) throws(JSONError) in
        Timestamp(rfc3339: try node.member("time", "a string").string()) ?? last
      }
      if let speed {
        let since = began ?? (Machine.seconds(), last)
        began = since
        let due = since.at + Double((last - since.time).microseconds) / 1e6 / speed
        guard try wait("\(last)", until: { Machine.seconds() >= due }) else { break }
      }
      try producer.send(topic: "flights", key: nil, value: bytes)
      published += 1
      if published % 50 == 0 {
        let events = published
        _ = try wait(
          "\(last)",
          until: {
            events - self.counters[.eventsAccepted] < Self.eventsUnderwayMax
              && self.counters[.decisions] - self.counters[.auditedDecisions] < Self.unauditedMax
              && events - self.counters[.logRecordsPlanned] / self.partitions < 2 * Self.eventsUnderwayMax
          })
      }
    }
    _ = try producer.flush(timeout: .seconds(10))
    return last
  }

  /// Appends a tick to every partition of the log.
  private func tick(at time: Timestamp) throws {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    for partition in 0..<partitions {
      try producer.send(
        topic: settings.topics.log, partition: Int32(partition), key: nil, value: bytes,
        timestampMilliseconds: time.milliseconds)
    }
    _ = try producer.flush(timeout: .seconds(10))
  }

  /// Waits until a condition holds, and shows progress meanwhile.
  /// - Returns: false when a signal asked the demo to end.
  private func wait(_ what: String, until done: () -> Bool) throws -> Bool {
    try producer.poll()
    while !done() {
      if let error = runner.fatalError { throw Failure(error.description) }
      if stop.isAsked { return false }
      progress.show(
        "\(what): \(Digits.grouped(published)) events, \(Digits.grouped(counters[.decisions])) decisions, "
          + "\(Digits.grouped(counters[.commands])) commands")
      Thread.sleep(forTimeInterval: 0.002)
      try producer.poll()
    }
    return true
  }

  /// Ends the stages.
  /// - Returns: whether they ended within ten seconds.
  func end() -> Bool {
    stop.ask()
    return runner.join(timeout: .seconds(10))
  }

  /// Returns the figures of the day in one paragraph.
  func summary(seconds: Double) -> PrintableText {
    """
    \(Digits.grouped(counters[.eventsAccepted])) events of a day became \(Digits.grouped(counters[.decisions])) decisions and \
    \(Digits.grouped(counters[.commands])) commands in \(Digits.decimal(playSeconds, 1)) s \
    (\(Digits.grouped(counters[.transactionsCommitted])) transactions, \
    \(Digits.grouped(counters[.stateRecords])) state records, \(Digits.grouped(counters[.deadLetters])) dead letters); \
    \(Digits.decimal(seconds, 1)) s in all
    """
  }
}

/// Writes to the audit store, and shows every decision to ``DemoStories``.
private final class DemoSink: DecisionSink {
  private let sink: AuditSink
  private let stories: DemoStories

  init(_ sink: AuditSink, _ stories: DemoStories) {
    self.sink = sink
    self.stories = stories
  }

  func positions() throws -> [AuditPosition] { try sink.positions() }

  func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {
    try sink.store(records, positions: positions)
    for case .decision(let line) in records.map(\.content) { stories.see(line.decision) }
  }

  func note(_ hole: AuditHole, positions: [AuditPosition]) throws { try sink.note(hole, positions: positions) }

  func idle() throws { try sink.idle() }
}
