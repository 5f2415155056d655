import Histogram
import KafkaClient
import Synchronization

/// Reads commands on a separate thread, as a sender would, and records their latencies.
final class CommandReader: Sendable {
  /// The prefix of event ids that carry the moment when the event was due, in microseconds.
  static let mark = "bench-due-"

  private let kafka: KafkaConfiguration
  private let topic: String
  private let partitions: Int
  private let starts: [KafkaPosition]
  private let thread = BenchmarkThread(name: "bench-reader")
  private let latencies = Mutex(Histogram<UInt64>(numberOfSignificantValueDigits: .three))

  private static let group = "rouse-bench-latency"
  /// The time without a command, in seconds, after which the reader ends if it was asked to.
  private static let quietSeconds = 1.0

  /// Makes a reader of what is committed from now on. The commands that are there already, as those of a search for the maximum, would
  /// hold it up: the embedded broker returns one batch of each partition at a time.
  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of commands.
  ///   - partitions: the number of its partitions.
  /// - Throws: `KafkaError` when a broker does not answer within 30 seconds.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int) throws(KafkaError) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    starts = try KafkaConsumer.committedEnds(topic, partitions: partitions, group: Self.group, kafka: kafka)
  }

  /// Starts the thread.
  /// - Parameter measuredFrom: the moment, in seconds of ``MonotonicClock``; commands of events that were due earlier are ignored.
  func start(measuredFrom: Double) { thread.start { [self] in try read(measuredFrom: measuredFrom) } }

  /// Waits for the last command.
  /// - Returns: the latencies, in microseconds.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws -> Histogram<UInt64> {
    try thread.end()
    return latencies.withLock { $0 }
  }

  private func read(measuredFrom: Double) throws(KafkaError) {
    let consumer = try KafkaConsumer.committed(
      topic, partitions: partitions, group: Self.group, kafka: kafka, from: starts)
    defer { consumer.close(timeout: .seconds(2)) }
    var last = MonotonicClock.seconds()
    var found: [UInt64] = []
    while true {
      let count = try consumer.forEachMessage(maxMessages: 500, timeout: .milliseconds(20)) { message in
        let now = MonotonicClock.seconds()
        let due = message.withValue { value -> Double? in
          guard let value else { return nil }
          return CommandBytes.newestDue(in: value)
        }
        if let due, due >= measuredFrom { found.append(UInt64(max(1, (now - due) * 1e6))) }
      }
      if count > 0 { last = MonotonicClock.seconds() }
      latencies.withLock { latencies in for latency in found { latencies.record(latency) } }
      found.removeAll(keepingCapacity: true)
      if thread.isAsked, MonotonicClock.seconds() - last > Self.quietSeconds { return }
    }
  }
}
