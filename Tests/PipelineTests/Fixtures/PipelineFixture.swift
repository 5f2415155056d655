import Domain
import Foundation
import JSON
import KafkaClient
import Logging
import Planning
import Policies
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline

/// A whole pipeline on a broker: publishes, runs stages on threads, and reads what comes out.
final class PipelineFixture {
  let bootstrap: String
  private let broker: EmbeddedBroker?
  var settings: PipelineSettings
  let policy: String
  let counters: PipelineCounters
  private let producer: KafkaProducer

  static let policy = """
    version: test.1
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 3, minInterval: 1m }
        halfLife: 20m
        displays: [ { field: data.delay, round: 5 } ]
        # Alike at every hour: where log time is the broker's, a test runs at any.
        views: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
        objective: { freshWithin: 10m, share: 0.95, wrongAtLeast: 0.5 }
        rules:
          - event: flight.delay.changed
            relevance: { base: 0.9 }
    """

  /// Creates topics with a new prefix.
  ///
  /// - Parameters:
  ///   - bootstrap: The address of a real broker; nil for an embedded one.
  ///   - partitions: The number of partitions of Rouse's topics.
  ///   - timestamps: The source of log time.
  ///   - minInterval: The shortest time between two reloads of a widget.
  ///   - perDay: The tokens of a widget in a day.
  ///   - demand: The demand that planners expect before they know anything; without any, the first tokens are free.
  ///   - traces: The traces of the pipeline; nil for none.
  init(
    bootstrap: String? = nil, partitions: Int = 2, timestamps: ClusterSettings.Timestamps = .event,
    minInterval: String = "1m", perDay: Int = 3, demand: DemandPrior = DemandPrior(need: 1e-9, worth: 1e-9),
    traces: PipelineTraces? = nil
  ) throws {
    counters = PipelineCounters(traces: traces)
    policy = Self.policy.replacing("minInterval: 1m", with: "minInterval: \(minInterval)")
      .replacing("perDay: 3", with: "perDay: \(perDay)")
    if let bootstrap {
      self.bootstrap = bootstrap
      broker = nil
    } else {
      let embedded = try EmbeddedBroker()
      self.bootstrap = embedded.bootstrapServers
      broker = embedded
    }
    let prefix = "t\(UInt32.random(in: 0 ..< .max))."
    var settings = PipelineSettings(
      kafka: KafkaConfiguration([
        ("bootstrap.servers", self.bootstrap), ("session.timeout.ms", "6000"), ("fetch.wait.max.ms", "20"),
      ]), topics: TopicNames(prefix: prefix), eventTopics: [prefix + "events"], group: prefix + "group",
      instance: "test", timestamps: timestamps)
    settings.planner.commitInterval = .milliseconds(20)
    settings.bounds.demandPrior = demand
    self.settings = settings
    if let broker {
      for name in settings.topics.all { try broker.createTopic(name, partitions: partitions) }
      try broker.createTopic(prefix + "events", partitions: 1)
    } else {
      let admin = try KafkaAdmin(settings.kafka)
      var plan = TopicPlan.make(
        settings.topics, partitions: partitions, replicas: 1, replayTimestamps: timestamps == .event)
      plan.topics.append(KafkaNewTopic(name: prefix + "events", partitions: 1, replicas: 1))
      for outcome in try plan.create(admin) { if let error = outcome.error { throw error } }
    }
    producer = try KafkaProducer(settings.client(["enable.idempotence": "true", "message.max.bytes": "6000000"]))
  }

  /// Makes the embedded broker answer requests with errors.
  func inject(_ request: KafkaRequest, _ codes: [KafkaErrorCode]) { broker?.pushRequestErrors(request, codes) }

  // MARK: Publishing

  static let noon: Int64 = 1_782_907_200_000

  func register(
    _ device: Identifier, interest: Identifier, token: String? = nil, after seconds: Int64 = 0
  ) throws {
    let registration = Registration(
      device: device, app: "com.example.flights", environment: .production, platform: "iOS",
      osVersion: OSVersion(major: 26), timeZone: "America/New_York",
      tokens: Registration.Tokens(widgets: token ?? "aa\(device)", background: nil),
      widgets: [Registration.Widget(id: "w1", kind: "FlightStatus", interests: [interest])],
      updatedAt: Timestamp(milliseconds: Self.noon + seconds * 1000))
    try publish(settings.topics.devices, key: device.text, value: registration.json())
  }

  func delay(
    _ minutes: Int, id: Identifier, subject: Identifier = "flight/UA1", after seconds: Int64, traceparent: String? = nil
  ) throws {
    let time = Timestamp(milliseconds: Self.noon + seconds * 1000)
    let json =
      #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"flight.delay.changed","subject":"\#(subject)","#
      + #""time":"\#(time)",\#(traceparent.map { #""traceparent":"\#($0)","# } ?? "")"data":{"delay":\#(minutes)}}"#
    try publish(settings.eventTopics[0], key: subject.text, value: Array(json.utf8))
  }

  func publish(_ topic: String, key: String?, value: [UInt8]?, headers: [KafkaHeader] = []) throws {
    try producer.send(topic: topic, key: key.map { Array($0.utf8) }, value: value, headers: headers)
    _ = try producer.flush(timeout: .seconds(60))
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }

  /// Publishes to a partition.
  ///
  /// - Returns: The offset of the record.
  @discardableResult
  func append(_ topic: String, partition: Int32, key: String, value: [UInt8]?) throws -> Int64 {
    try producer.send(topic: topic, partition: partition, key: Array(key.utf8), value: value)
    _ = try producer.flush(timeout: .seconds(60))
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
    let consumer = try KafkaConsumer(settings.client(["group.id": "looking"]))
    defer { consumer.close() }
    let place = KafkaTopicPartition(topic: topic, partition: partition)
    return try consumer.watermarks(of: place, timeout: .seconds(60)).high - 1
  }

  /// Appends a tick to every log partition, so many seconds after noon.
  func tick(after seconds: Int64, partitions: Int32 = 2) throws {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    for partition in 0..<partitions {
      try producer.send(
        topic: settings.topics.log, partition: partition, key: nil, value: bytes,
        timestampMilliseconds: Self.noon + seconds * 1000)
    }
    _ = try producer.flush(timeout: .seconds(60))
  }

  // MARK: Running

  /// A part of a run: publishes something while the stages run, then waits for a condition. Topics have no order among each
  /// other, so registrations must be planned before events follow.
  struct Phase {
    var publish: () throws -> Void
    var until: () -> Bool
  }

  /// Registers devices `d0`, `d1`, … and waits until their planners know them.
  func registering(_ count: Int, interest: @escaping (Int) -> Identifier = { _ in "flight/UA1" }) -> Phase {
    phase(.registrationsPlanned, plus: count) {
      for i in 0..<count { try self.register("d\(i)", interest: interest(i)) }
    }
  }

  /// Makes a phase that waits until a counter has grown by an amount.
  func phase(_ counter: PipelineCounters.Counter, plus amount: Int, _ publish: @escaping () throws -> Void = {})
    -> Phase
  {
    var start: Int?
    let counters = counters
    return Phase(
      publish: {
        start = counters[counter]; try publish()
      }, until: { counters[counter] >= (start ?? 0) + amount })
  }

  /// Makes a phase that waits until the topic has so many different decisions. The counter of decisions also counts what is decided
  /// again after an abort.
  func deciding(_ count: Int, _ publish: @escaping () throws -> Void) -> Phase {
    Phase(
      publish: publish,
      until: {
        do { return try self.decisions().count >= count } catch {
          Issue.record(error)
          return true
        }
      })
  }

  /// Runs the stages through the phases, then stops them in order.
  ///
  /// - Returns: Whether every condition came true in time and every thread ended.
  func run(
    roles: Set<Role> = [.intake, .planner], workers: Int = 1, sink: (any DecisionSink & Sendable)? = nil,
    timeout: Double = 150, _ phases: Phase...
  ) throws -> Bool {
    let stop = StopSignal()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    let settings = settings
    let counters = counters
    let quiet = logger
    _ = try PolicyAppender(settings: settings.cluster).seed(PolicyDocument(yaml: policy, file: "policy.yaml"))
    if roles.contains(.planner) {
      for number in 0..<workers {
        runner.start("planner-\(number)") { () throws(PipelineError) in
          try PlannerWorker(settings: settings, number: number, stop: stop, counters: counters, logger: quiet).run()
        }
      }
    }
    if roles.contains(.intake) {
      runner.start("intake") { () throws(PipelineError) in
        try Intake(settings: settings, stop: stop, counters: counters, logger: quiet).run()
      }
    }
    if let sink {
      runner.start("audit") { () throws(PipelineError) in
        try AuditFeed(settings: settings, sink: sink, stop: stop, counters: counters, logger: quiet).run()
      }
    }
    defer { stop.ask() }
    var finished = true
    for phase in phases where finished {
      try phase.publish()
      let deadline = Date().addingTimeInterval(timeout)
      while !phase.until(), Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
      finished = phase.until()
    }
    // The counters run ahead of the commits until the worker has ended.
    stop.ask()
    return runner.join(timeout: .seconds(60)) && finished
  }

  // MARK: Reading

  /// Returns all committed records of a topic.
  func read(_ topic: String) throws -> [KafkaMessage] {
    let admin = try KafkaAdmin(settings.client([:]))
    let partitions = try admin.describeTopics([topic], timeout: .seconds(60)).first?.partitions.map(\.id) ?? []
    let consumer = try KafkaConsumer(
      settings.client([
        "group.id": "reader", "isolation.level": "read_committed", "enable.partition.eof": "true",
        "auto.offset.reset": "earliest", "enable.auto.commit": "false",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    var starts: [KafkaTopicPartition: KafkaOffset] = [:]
    for partition in partitions { starts[KafkaTopicPartition(topic: topic, partition: partition)] = .beginning }
    try consumer.assign(starts)
    var messages: [KafkaMessage] = []
    var ended: Set<KafkaTopicPartition> = []
    while ended.count < partitions.count {
      let batch = try consumer.poll(maxMessages: 1000, timeout: .milliseconds(200))
      messages += batch.messages
      for case .partitionEnd(let position) in batch.events { ended.insert(position.partition) }
    }
    return messages
  }

  /// Returns the decisions by id, as a consumer sees them that drops repeated ids.
  func decisions() throws -> [Identifier: Decision] {
    var found: [Identifier: Decision] = [:]
    for message in try read(settings.topics.decisions) {
      for line in DecisionBlock(message).documents {
        let decision = try Decision(json: line)
        found[decision.decision] = decision
      }
    }
    return found
  }

  func commands() throws -> [Identifier: Command] {
    var found: [Identifier: Command] = [:]
    for message in try read(settings.topics.commands) {
      let command = try Command(json: message.value ?? [])
      found[command.command] = command
    }
    return found
  }
}
