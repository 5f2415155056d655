import Domain
import Foundation
import Histogram
import KafkaClient
import Pipeline
import Synchronization

/// Measures how long an event takes from the moment it is due at its topic until its command can be read committed.
///
/// Open loop: events are sent by the clock whatever the pipeline does, and a latency counts from the moment an event was
/// due, so that a stall shows in every event that it held up.
struct BenchLatencyRun {
  var stage: BenchStage
  var load: BenchLoad
  /// Events to find the maximum with.
  var burst: Int
  var workers: Int
  var seconds: Int
  var progress: (String) -> Void

  struct Result {
    /// Events a second through intake and planner at most; nil when a rate was given.
    var maximumPerSecond: Double?
    var ratePerSecond: Double
    var latencies: Histogram<UInt64>
    /// Of the measured time, this part of one processor was spent on this process, the sender and the reader included.
    var processorShare: Double
  }

  /// Not measured at the start of the load.
  static let warmUpSeconds = 3
  /// Part of the burst that warms up.
  private static let warmUpShare = 0.2

  /// - Parameter rate: events a second; nil takes `share` of the maximum found first.
  func run(rate: Double?, share: Double) throws -> Result {
    progress("registering the fleet")
    try stage.feeder(load).feedFleet()
    stage.startPlanners(workers)
    let registered = stage.partitions + load.devices
    try stage.wait("registering") { stage.counters[.logRecordsPlanned] >= registered }
    var maximum: Double?
    if rate == nil {
      maximum = try findMaximum(after: registered)
    } else {
      stage.startIntake()
    }
    let chosen = rate ?? (maximum ?? 0) * share
    progress("\(Digits.grouped(Int(chosen))) events/s")
    return try measure(rate: chosen, maximum: maximum, first: maximum == nil ? 0 : burst)
  }

  /// Events that wait in their topic, taken as fast as it goes.
  private func findMaximum(after registered: Int) throws -> Double {
    progress("finding the maximum")
    let sender = try BenchSender(stage: stage, load: load)
    for number in 0..<burst { try sender.send(number, due: nil) }
    try sender.deliver()
    stage.startIntake()
    let counters = stage.counters
    let warm = Int(Double(burst) * Self.warmUpShare)
    // Intake sends an event to every partition.
    try stage.wait("planning") { counters[.logRecordsPlanned] >= registered + warm * stage.partitions }
    let start = BenchUsage.now()
    let planned = counters[.logRecordsPlanned]
    let all = registered + burst * stage.partitions
    try stage.wait("planning") { counters[.logRecordsPlanned] >= all }
    let usage = try stage.waitForCommit() - start
    return Double(all - planned) / Double(stage.partitions) / usage.wallSeconds
  }

  private func measure(rate: Double, maximum: Double?, first: Int) throws -> Result {
    let start = Machine.seconds() + 0.5
    let measuredFrom = start + Double(Self.warmUpSeconds)
    let count = Int(rate * Double(Self.warmUpSeconds + seconds))
    let reader = BenchCommandReader(
      kafka: stage.broker.kafka, topic: stage.settings.topics.commands, partitions: stage.partitions,
      measuredFrom: measuredFrom)
    try reader.start()
    let sender = try BenchSender(stage: stage, load: load)
    var usage = BenchUsage.now()
    var isWarm = false
    for number in 0..<count {
      let due = start + Double(number) / rate
      if !isWarm, due >= measuredFrom {
        isWarm = true
        usage = .now()
      }
      while Machine.seconds() < due {
        try sender.poll()
        Thread.sleep(forTimeInterval: min(0.001, max(0, due - Machine.seconds())))
      }
      try sender.send(first + number, due: due)
    }
    try sender.deliver()
    usage = .now() - usage
    let latencies = try reader.end()
    return Result(
      maximumPerSecond: maximum, ratePerSecond: rate, latencies: latencies,
      processorShare: usage.processorSeconds / usage.wallSeconds)
  }
}

/// Publishes events as data teams do: CloudEvents in the public topic.
private final class BenchSender {
  private let load: BenchLoad
  private let topic: String
  private let producer: KafkaProducer

  init(stage: BenchStage, load: BenchLoad) throws(KafkaError) {
    self.load = load
    topic = stage.settings.eventTopics[0]
    producer = try KafkaProducer(
      stage.broker.kafka.merging([
        // librdkafka spins through the last millisecond of a linger: with 1 the sender alone would keep a core busy.
        "enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4", "partitioner": "murmur2_random",
      ]))
  }

  /// - Parameter due: when it was to be sent, in seconds of `Machine`; its id then tells.
  func send(_ number: Int, due: Double?) throws(KafkaError) {
    let event = load.event(number, id: due.map { "\(BenchCommandReader.mark)\(Int($0 * 1e6))-\(number)" })
    var json =
      #"{"specversion":"1.0","id":"\#(event.id)","source":"\#(event.source)","type":"\#(event.type)","subject":"\#(event.subject)","#
      + #""time":"\#(event.time)","data":{"#
    for (place, field) in event.fields.enumerated() {
      guard case .number(let number) = field.value else { continue }
      json += #"\#(place > 0 ? "," : "")"\#(field.path.dropFirst("data.".count))":\#(number)"#
    }
    json += "}}"
    try producer.send(topic: topic, key: Array(event.subject.utf8), value: Array(json.utf8))
  }

  func poll() throws(KafkaError) { try producer.poll() }

  func deliver() throws {
    guard try producer.flush(timeout: .seconds(60)) else {
      throw Failure("the broker did not take the benchmark's events within 60 s")
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }
}

/// Reads commands on a thread of its own, as a sender would, and notes when each could be read.
private final class BenchCommandReader: Sendable {
  /// What stands before the moment in an event's id.
  static let mark = "bench-due-"

  private let kafka: KafkaConfiguration
  private let topic: String
  private let partitions: Int
  private let measuredFrom: Double
  private let state = Mutex(State())

  private struct State {
    var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    var isAsked = false
    var isDone = false
    var error: KafkaError?
  }

  /// The last command is here when none came for so long.
  private static let quietSeconds = 1.0

  init(kafka: KafkaConfiguration, topic: String, partitions: Int, measuredFrom: Double) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    self.measuredFrom = measuredFrom
  }

  func start() throws {
    let thread = Thread { [self] in
      do throws(KafkaError) {
        try read()
      } catch {
        state.withLock { $0.error = error }
      }
      state.withLock { $0.isDone = true }
    }
    thread.name = "bench-reader"
    thread.start()
  }

  /// Waits for the last command. µs
  func end() throws -> Histogram<UInt64> {
    state.withLock { $0.isAsked = true }
    while !state.withLock({ $0.isDone }) { Thread.sleep(forTimeInterval: 0.01) }
    let (latencies, error) = state.withLock { ($0.latencies, $0.error) }
    if let error { throw error }
    return latencies
  }

  private func read() throws(KafkaError) {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": "rouse-bench-latency", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "fetch.wait.max.ms": "20",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.assign(
      Dictionary(
        uniqueKeysWithValues: (0..<Int32(partitions)).map {
          (KafkaTopicPartition(topic: topic, partition: $0), KafkaOffset.beginning)
        }))
    let mark = Array(Self.mark.utf8)
    var last = Machine.seconds()
    var found: [UInt64] = []
    while true {
      let count = try consumer.forEachMessage(maxMessages: 500, timeout: .milliseconds(20)) { message in
        let now = Machine.seconds()
        let due = message.withValue { value -> Double? in
          guard let value else { return nil }
          return Self.newestDue(in: value, mark)
        }
        if let due, due >= measuredFrom { found.append(UInt64(max(1, (now - due) * 1e6))) }
      }
      if count > 0 { last = Machine.seconds() }
      let isAsked = state.withLock { state in
        for latency in found { state.latencies.record(latency) }
        return state.isAsked
      }
      found.removeAll(keepingCapacity: true)
      if isAsked, Machine.seconds() - last > Self.quietSeconds { return }
    }
  }

  /// A command that an event caused at once. One that waited for its time, or for a push that something else was worth,
  /// was planned that late and not slow.
  private static let atOnce = Array(#""reason":"EMITTED""#.utf8)

  private static func contains(_ text: [UInt8], in value: Span<UInt8>) -> Bool {
    guard value.count >= text.count else { return false }
    return (0...value.count - text.count).contains { place in
      text.indices.allSatisfy { value[place + $0] == text[$0] }
    }
  }

  /// When the newest of the events that a command serves was due: the one that caused it. Seconds; nil where no id tells,
  /// and for a command that no event caused at once.
  private static func newestDue(in value: Span<UInt8>, _ mark: [UInt8]) -> Double? {
    guard contains(atOnce, in: value) else { return nil }
    var newest: Int?
    var place = 0
    var matched = 0
    while place < value.count {
      matched = value[place] == mark[matched] ? matched + 1 : value[place] == mark[0] ? 1 : 0
      place += 1
      guard matched == mark.count else { continue }
      matched = 0
      var microseconds = 0
      while place < value.count, (0x30...0x39).contains(value[place]) {
        microseconds = microseconds &* 10 &+ Int(value[place] - 0x30)
        place += 1
      }
      newest = max(newest ?? 0, microseconds)
    }
    return newest.map { Double($0) / 1e6 }
  }
}
