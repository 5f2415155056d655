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
  private let measuredFrom: Double
  private let thread = BenchmarkThread(name: "bench-reader")
  private let latencies = Mutex(Histogram<UInt64>(numberOfSignificantValueDigits: .three))

  /// The time without a command, in seconds, after which the reader ends if it was asked to.
  private static let quietSeconds = 1.0

  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of commands.
  ///   - partitions: the number of its partitions.
  ///   - measuredFrom: the moment, in seconds of ``MonotonicClock``; commands of events that were due earlier are ignored.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int, measuredFrom: Double) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    self.measuredFrom = measuredFrom
  }

  /// Starts the thread.
  func start() { thread.start { [self] in try read() } }

  /// Waits for the last command.
  /// - Returns: the latencies, in microseconds.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws -> Histogram<UInt64> {
    try thread.end()
    return latencies.withLock { $0 }
  }

  private func read() throws(KafkaError) {
    let consumer = try KafkaConsumer.committed(
      topic, partitions: partitions, group: "rouse-bench-latency", kafka: kafka)
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
